package bourse

// Funds are the exchange's money after a command, as its ledger and its networks have it.
type Funds struct {
	// Seq is the command, Time its time.
	Seq  Seq
	Time Time
	// Assets and Networks are by ascending id.
	Assets   []AssetFunds
	Networks []NetworkFunds
}

// AssetFunds are the sums of an asset's balances. A sum beyond the highest amount is that amount.
type AssetFunds struct {
	Asset AssetID
	// Customers is the sum of the customers' balances, and Held the part of it that is held for
	// open orders and withdrawals.
	Customers, Held Amount
	// Own are the exchange's own accounts that have money or owe it, by ascending id.
	Own []OwnBalance
}

// OwnBalance is the balance of an account of the exchange's own. At most one of Owes and Has is not
// zero.
type OwnBalance struct {
	Account   AccountID
	Owes, Has Amount
}

// NetworkFunds are the exchange's balances on a network, by what its blocks up to Height moved.
type NetworkFunds struct {
	Network NetworkID
	Height  uint64
	// Owned has the assets that are not zero, by ascending id.
	Owned []AssetAmount
}
