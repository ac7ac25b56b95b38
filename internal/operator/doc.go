// Package operator holds the operators' data outside the journal: names, addresses, public keys
// of passkeys, invitations and keys for programs. It also writes to the owners.
//
// It stands beside package account. An operator's row is found by the token that the journal
// has, and counts only if it has the journal's digest, so that a user with write access to the
// database gains nothing: a row that differs is ignored. A row comes before its command, and
// goes if the command is refused. An invitation has one use and lasts a day, and the store has
// only a hash of its code; the code holds a MAC over the invitation, so that a changed or forged
// one is ignored. The row of a key has a MAC as well, and its secret a second one, so that guesses
// do not reach the store. Sessions and challenges are in memory alone: a start ends them, and the
// end of an operator's powers ends the operator's sessions and keys for good. Strangers cause no
// state: challenges carry a MAC, and only a challenge that an operator's passkey signed is
// remembered, until it is too old to be answered.
//
// Not here: what operators may do (core/engine), the tables (sqlstore/accounts), the verbs
// (api/admin), and their endpoints (api/operatorv1).
//
// Read operator.go, service.go, ceremony.go, session.go, key.go, then access.go.
package operator
