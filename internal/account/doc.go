// Package account authenticates requests. It holds people's accounts, their API keys and
// sessions, and their address books.
//
// Interfaces ask it for the identity behind a secret or a signature. It creates,
// freezes and revokes by commands, like any other client of the sequencer, and learns
// the outcome as an observer behind the engine.
//
// The journal owns the ids and the frozen and revoked states. Personal data (e-mail
// addresses, names and hashes of keys, names of saved addresses) is in a [Store], keyed
// by those ids; the journal holds digests of rows at most. A random token links the two:
// a pending row is written under the token, the command carries it, the event allots the
// id, and the row is confirmed. [Service.Open] reconciles the two after a crash.
//
// Invariants: a secret is shown once and kept only as its hash, apart from those that
// make codes and signatures, which are sealed; a key that signs is never taken
// unsigned, and a signed request that changes something is taken once; authentication
// reads memory alone, and does not say why it refused; a revoked key is refused from
// the moment its event is observed; a confirmed row without its id in the journal stops
// the start; a row of a key, a session or a person whose digest differs from the
// journal's is refused, and only that row.
//
// Pending codes, counts of attempts and signed texts are behind [Shared], because all
// nodes of an exchange must agree on them. Such codes live for minutes, in memory
// alone. Attempts, codes and letters are counted by source, so that no client uses up
// another client's quota. A second factor confirms one request, identified by a digest
// of its contents; every interface asks for it by [Service.SecondFactor].
//
// Out of scope: permissions and balances (core/engine), and the tables
// (sqlstore/accounts).
//
// Read service.go, create.go and decide.go, then journal.go, open.go, person.go and
// addressbook.go; then authenticate.go, kinds.go, signed.go and texts.go; then
// shared.go, codes.go, counts.go and guess.go; then signup.go, login.go, session.go,
// change.go, email.go, undo.go and factor.go.
package account
