// Package remote carries requests to a signer in a process of its own, and answers them there.
//
// It stands between package signer, which has the rules, and the exchange's wallet, which takes
// any [signer.Signer]. The connection is a Unix socket, where the kernel names the peer's user,
// or TLS 1.3, where each side knows the other's key beforehand. A frame is a length of four bytes,
// big-endian, and JSON of at most [MaxFrame] bytes; requests are answered in their order.
//
// Invariants:
//
//   - Neither side is believed: the server takes a stolen exchange's bytes, and the client checks
//     the form of every answer. What does not fit to the last byte ends the connection.
//   - The first request of a connection is hello, and every later one has its epoch. A connection that
//     begins with look is told what the signer is pinned to and its public keys, and ends.
//   - Each read and write has a bound in time. Connections have a bound in number at each stage: peers
//     that are not known yet, known ones, and those whose hello was taken. A new one ends the oldest of
//     its stage, so that a peer which holds connections open keeps no other one out.
//   - A lost answer leaves open what happened; the record tells, by signed.
//   - Operators have a socket of their own, with neither hello nor payments: a stolen exchange can
//     neither reach it nor keep approvals from the signer.
//
// Read wire.go, server.go, room.go, operate.go, then client.go. Out of scope: rules and record (package
// signer), seeds and settings (package vault).
package remote
