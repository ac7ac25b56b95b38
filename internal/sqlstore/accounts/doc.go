// Package accounts keeps accounts, API keys and names of saved addresses in SQLite
// or PostgreSQL.
//
// It is the account.Store of an exchange, in a file or on a server. It stands
// beside the journal and cannot be rebuilt from it: every write is durable when it
// returns,
// and a backup takes a copy of it.
//
// Invariants: an e-mail address has one row; an id is null until the journal
// allotted it, and never changes after; a secret is here only as its hash.
//
// A backup copies accounts first and the journal after, so that no confirmed id
// in the copy is missing from the journal beside it.
package accounts
