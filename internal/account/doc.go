// Package account knows who is asking: people's accounts, the API keys that act
// for them, and their address books.
//
// It stands beside the line. Interfaces ask it whose secret they were shown; to
// create, freeze or revoke it sends commands like everybody else; and as an
// observer behind the engine it learns what the journal decided.
//
// The journal owns the ids, and whether an account is frozen or a key revoked.
// What says who a person is (e-mail addresses, names and hashes of keys,
// names of saved addresses) is in a
// [Store] that the journal never sees, keyed by its ids. The two meet by a token:
// a pending row is written under a random one, the command carries it, the event
// allots the id, and the row is confirmed. [Service.Open] brings them together
// after a crash.
//
// Invariants: a secret is shown once and kept only as its hash; authentication
// reads memory alone, and does not say why it refused; a revoked key is refused
// from the moment its event is observed; a confirmed row without its id in the
// journal stops the start; a row of a key, a session or a person whose digest is not the
// journal's is refused alone.
//
// Codes that are out and counts of attempts stand behind [Shared], because all nodes of
// an exchange must agree on them. Codes that people read and write back live for
// minutes, in memory alone. Attempts, codes and letters are counted by source, so that no
// client uses up what another one needs. A second factor confirms one request, told by a
// digest of all that it says; every interface asks for it by [Service.SecondFactor].
//
// What is not here: what an account may do and has (core/engine), and the tables
// (sqlstore/accounts).
//
// Read service.go, create.go and decide.go, then journal.go, open.go, person.go and
// addressbook.go; then shared.go, codes.go, counts.go and guess.go; then signup.go,
// login.go, session.go, change.go, email.go, undo.go and factor.go.
package account
