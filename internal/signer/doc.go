// Package signer holds the keys of the exchange's money. It signs only transactions that
// it has decoded and checked.
//
// Its interface is as narrow as a connection, so that it can be a process of its own: it
// gets bytes and their expected effects. The wallet is not trusted: the signer decodes
// the bytes itself, compares every output, the payer and the cost with the expectation
// from the journal, keeps its own record of signatures, and has limits that the wallet
// does not know.
//
// Invariants:
//
//   - A withdrawal's attempt has at most one signed transaction, also after a crash: its
//     bytes are durable in the record before the signature leaves. A repeated request,
//     also with other bytes, gets that transaction if it makes the expected payment. A
//     crash between the record and the journal blocks nothing and signs nothing twice.
//   - A further attempt is for a withdrawal whose transaction an operator gave up in the
//     journal. It makes the same payment and excludes every earlier one on the chain, by
//     an output or the nonce: whatever the asker says, a withdrawal is paid once.
//   - The record of each network is numbered and chained by hashes, so that the exchange
//     knows after a loss of either side what was signed. A withdrawal that was ended is
//     never signed for again.
//   - On networks of accounts a nonce belongs to the withdrawal that was signed with it, until the
//     withdrawal is ended: no other payment takes its place on the chain.
//   - Sweeps and top-ups stay with the exchange. They may be signed again in another form:
//     a chain mines only one of those with the same nonce. The record counts what they
//     cost, and what top-ups move.
//   - No limit means zero: without one, no withdrawal and no cost is signed. Above the free
//     amount a withdrawal goes to a destination that has been allow-listed for a day, or that
//     enough approvers have approved with this amount for this attempt.
//   - A signer serves one exchange, and the highest epoch of it that ever asked. What it is
//     pinned to is durable before it answers, and no setting changes it.
//   - A sandbox's signer has test chains alone, by a compiled list.
//   - Money goes only to the withdrawal's destination, to the exchange's own change or
//     hot wallet, to one of its deposit addresses as a top-up, or to the network as a
//     cost below its limit.
//   - A record that is damaged anywhere but at its very end stops the signer from opening:
//     a forgotten signature can lead to a second payment.
//
// Reading order: signer.go, check.go, attempt.go, nonce.go, limit.go, approval.go, record.go, then epoch.go,
// session.go and pins.go. Package remote carries requests from another process. Out of scope: when to sign, and the fate
// of signed transactions.
package signer
