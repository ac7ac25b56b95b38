// Package operator holds what the journal does not know about operators: names, addresses,
// public keys of passkeys, invitations and keys for programs. It also writes to the owners.
//
// It stands beside package account. An operator's row is found by the token that the journal
// has, and counts only if it has the journal's digest, so that a user with write access to the
// database gains nothing: a row that differs is of nobody. A row comes before its command, and
// goes if the command is refused. An invitation is of one use and for a day, and of its code
// only a hash is kept; the code holds a MAC over the invitation, so that a changed or invented one is
// of nobody. The row of a key has a MAC as well, and its secret a second one, so that guesses do not reach the
// store. Sessions and challenges are in memory alone: a start ends them, and the end of an
// operator's powers ends the operator's sessions and keys for good. Strangers
// cause no state: challenges carry a MAC, and only those that an operator's passkey signed are
// remembered, until they are too old to be answered.
//
// Not here: what operators may do (core/engine), the tables (sqlstore/accounts), the verbs
// (api/admin), and their endpoints (api/operatorv1).
//
// Read operator.go, service.go, ceremony.go, session.go, key.go, then access.go.
package operator
