// Package operator holds what the journal does not know about operators: names, addresses,
// public keys of passkeys, and invitations. It also writes to the owners.
//
// It stands beside package account. An operator's row is found by the token that the journal
// has, and counts only if it has the journal's digest, so that a user with write access to the
// database gains nothing: a row that differs is of nobody. A row comes before its command, and
// goes if the command is refused. An invitation is of one use and for a day, and of its code
// only a hash is kept.
//
// Not here: what operators may do (core/engine), the tables (sqlstore/accounts), the verbs of
// the socket (api/admin), and the ceremony of a passkey, which calls [Service.Accept].
//
// Read operator.go, then service.go.
package operator
