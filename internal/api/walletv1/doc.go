// Package walletv1 is the wallet REST interface V1: one file per endpoint, named
// after it.
//
// It stands at the edge, on api: requests for the public and for accounts come
// in as calls, withdrawals leave as commands to the sequencer, and answers are
// read from view, history and account. What it has in common with walletv2 is in
// teller.
// docs/spec/wallet.md is its contract.
//
// Invariants: an address reaches the journal in its network's canonical form, and
// one that is ours as the account that it names; a name is saved with its
// withdrawal or not at all; what depends on balances, fees or switches is for the
// engine to decide, so that a request that comes again is answered alike.
//
// Read wallet.go, then withdraw.go and transactions.go.
package walletv1
