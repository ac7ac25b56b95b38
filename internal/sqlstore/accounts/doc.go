// Package accounts keeps accounts, API keys, names of saved addresses, webhooks and operators'
// notices in SQLite or PostgreSQL.
//
// It is the account.Store, notice.Store and webhook.Store of an exchange, in a file or on a server. The
// journal cannot rebuild it: every write is durable when it returns, and a backup includes a
// copy of it.
//
// Invariants: an e-mail address has one row; an id is null until the journal allots it,
// and never changes after; a secret is stored only as its hash.
//
// A backup copies accounts first and the journal after, so that every confirmed id in the
// copy is in the journal beside it.
package accounts
