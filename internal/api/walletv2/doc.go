// Package walletv2 is the wallet REST interface V2: one file per endpoint, named
// after its path.
//
// It stands at the edge, on v2 and teller: what it says of money is what walletv1
// says, with transfers between accounts and the ledger besides. Requests leave as
// commands to the sequencer; answers are read from view, history and account.
// docs/spec/wallet.md says what it has in common with V1; ADRs 73 to 75 are about
// what it adds.
//
// Invariants: a request is found good in everything else before a second factor is
// asked for; what depends on balances and terms is decided by the engine, whatever
// was found before; of what belongs to another account nothing is told but that it
// does.
//
// Read wallet.go, then io_transactions_new.go and transaction.go.
package walletv2
