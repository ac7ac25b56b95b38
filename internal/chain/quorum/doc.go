// Package quorum makes one network of several nodes of one chain, so that no node is believed alone.
//
// It stands between the wallet, which sees a [chain.Network], and the adapters' clients, one for each node. Every
// answer is checked by the node's own client first; the quorum counts only what passed.
//
// Invariants:
//
//   - What is read of the chain counts where Agree nodes give the same answer. Agree is more than half of
//     the nodes, so two answers that contradict each other never both count.
//   - A node counts once. An answer that its client refuses, and a node that is silent, count for nothing.
//   - The head is the highest block that Agree operating nodes share.
//   - Nodes with different first blocks, or with different blocks at the depth where money is settled, stop
//     the network: one of them is of another chain, and a person has to say which.
//   - A transaction is offered to every node. One acceptance is enough; a refusal takes Agree of them, and so does
//     the answer that nobody knows it.
//   - A node that is silent, frozen, behind or wrong does not hold up the others: all are asked at once, and
//     a node that did not answer before is not waited for while the others are enough.
//
// Reading order: quorum.go, ask.go, head.go, read.go, send.go. Out of scope: what a node's answer must be
// (the adapters) and which nodes there are (package connect).
package quorum
