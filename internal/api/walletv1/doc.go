// Package walletv1 is the wallet REST interface V1: one file per endpoint, named
// after it.
//
// It stands at the edge, on api: withdrawals become commands for the sequencer, and
// answers come from view, history and account. Package teller has the parts shared with
// walletv2. docs/spec/wallet.md is its contract.
//
// Invariants: an address enters the journal in its network's canonical form, and one of
// the exchange's own with the account that it names; a name is saved with its withdrawal
// or not at all; the engine decides everything that depends on balances, fees or
// switches, so that a repeated request gets the same answer.
//
// Read wallet.go, then withdraw.go and transactions.go.
package walletv1
