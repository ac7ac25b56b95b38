package bourse

// Network moves assets between the exchange and the outside.
type Network struct {
	ID     NetworkID
	Symbol Symbol
	// Name describes the network to people.
	Name string
	// MemoName is the network's name for the memo that tells accounts behind one address
	// apart; empty if every account has its own address.
	MemoName string
	Enabled  bool
	// Experimental marks a network for tests.
	Experimental bool
}

// NetworkAsset holds the terms of moving an asset on a network.
type NetworkAsset struct {
	Asset   AssetID
	Network NetworkID
	// Precision is the number of decimals that the network can move, at most the asset's
	// scale.
	Precision uint8
	// Confirms is the depth at which a deposit's block is credited.
	Confirms uint32
	// Contract names the token on networks that carry several; empty for coins.
	Contract      string
	MinDeposit    Amount
	MinWithdrawal Amount
	FeeMin        Amount
	FeeMax        Amount
	Enabled       bool
}

// NetworkState is the exchange's state on a network.
type NetworkState struct {
	Network NetworkID
	// Tip is the last block applied; zero before the first.
	Tip BlockRef
	// Part is the number of the tip's next part, zero if the tip is complete.
	Part uint32
	// Time is the time of the tip.
	Time Time
	// Paused is an operator's stop of withdrawals, Halted the exchange's own.
	Paused bool
	Halted Halt
	// Record is the number of the last entry of the signer's record that the journal has,
	// and Chain the hash of the record up to it; zero before the first.
	Record uint64
	Chain  TxHash
	// Cool is the order to cold storage that is not signed; its ID is zero if there is none.
	Cool CoolOrder
	// Recount is the block up to which operators last had the chain counted anew; zero if they never did.
	Recount BlockRef
}

// CoolOrder is an operator's order to move an amount from the hot wallet to cold storage.
type CoolOrder struct {
	// ID is of the ids of deposits and withdrawals.
	ID WalletID
	AssetAmount
}

// Stopped reports whether withdrawals are paused or halted.
func (n *NetworkState) Stopped() bool { return n.Paused || n.Halted != 0 }

// Halt is the reason for which the exchange stopped a network's withdrawals by itself.
type Halt uint8

// The reasons to halt. Only an operator resumes.
const (
	// HaltReorg: the block of a credited deposit left the chain.
	HaltReorg Halt = iota + 1
	// HaltDeepReorg: the chain changed deeper than the exchange remembers.
	HaltDeepReorg
	// HaltStrangeSpend: money left by a transaction that the exchange did not sign, or
	// had dropped.
	HaltStrangeSpend
	// HaltUnknownSigned: the signer signed for a withdrawal that the journal does not know, or
	// that was not given to it.
	HaltUnknownSigned
)

var haltWords = [...]string{"", "reorganisation", "deep_reorganisation", "strange_spend", "unknown_signed"}

// String returns reorganisation, deep_reorganisation, strange_spend or unknown_signed, or
// the empty string.
func (h Halt) String() string { return word(haltWords[:], h) }
