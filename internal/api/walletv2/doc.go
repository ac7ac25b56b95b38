// Package walletv2 is the wallet REST interface V2: one file per endpoint, named
// after its path.
//
// It stands at the edge, on v2 and teller. It describes money as walletv1 does, and adds
// transfers between accounts and the ledger. Requests become commands for the sequencer;
// answers come from view, history and account. docs/spec/wallet.md has the parts shared
// with V1, ADRs 73 to 75 the additions.
//
// Invariants: a second factor is demanded only for a request without other errors; the
// engine decides everything that depends on balances and terms, even after a check here;
// another account's entry is Forbidden, and nothing else is told of it.
//
// Read wallet.go, then io_transactions_new.go and transaction.go.
package walletv2
