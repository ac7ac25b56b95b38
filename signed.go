package bourse

import "slices"

// SignedKind is the purpose of a transaction of the exchange.
type SignedKind uint8

// The kinds of transactions of the exchange.
const (
	// SignedWithdrawal pays a withdrawal.
	SignedWithdrawal SignedKind = iota + 1
	// SignedSweep moves money from a customer's address to the hot wallet.
	SignedSweep
	// SignedTopUp sends a customer's address the coin for a sweep's fee.
	SignedTopUp
	// SignedCool moves money from the hot wallet to cold storage, by an operator's order.
	SignedCool
	// SignedWarm moves money from cold storage to the hot wallet. People signed it, and the signer knows nothing of it.
	SignedWarm
)

// HasID reports whether a transaction of the kind has an id of its own: that of its withdrawal, or of its order.
func (k SignedKind) HasID() bool { return k == SignedWithdrawal || k == SignedCool }

var signedWords = [...]string{"", "withdrawal", "sweep", "top_up", "cool", "warm"}

// String returns withdrawal, sweep, top_up, cool or warm.
func (k SignedKind) String() string { return word(signedWords[:], k) }

// SignedState is the state of a transaction of the exchange.
type SignedState uint8

// The states of a transaction of the exchange.
const (
	// SignedWaiting: signed, not known to be accepted by the network.
	SignedWaiting SignedState = iota + 1
	// SignedAccepted: accepted by the network, in no block.
	SignedAccepted
	// SignedMined: in a block of the chain.
	SignedMined
	// SignedFinal: its block is too deep to leave the chain; the engine forgets it.
	SignedFinal
	// SignedDropped: given up, so that another one can take its place. It may be mined still.
	SignedDropped
)

var signedStates = [...]string{"", "waiting", "accepted", "mined", "final", "dropped"}

// String returns waiting, accepted, mined, final or dropped.
func (s SignedState) String() string { return word(signedStates[:], s) }

// SignedTx is a transaction of the exchange. The exchange sends no other bytes.
type SignedTx struct {
	Network NetworkID
	Kind    SignedKind
	// Wallet is the withdrawal that the transaction pays, or the order to cold storage; zero for other kinds.
	Wallet WalletID
	Tx     TxHash
	Raw    []byte
	// Inputs are the outputs that the transaction spends, on a network of outputs.
	Inputs []Outpoint
	// From is the number of the sending address and Nonce the number of its transaction,
	// on a network of accounts.
	From  uint32
	Nonce uint64
	// Cost is the highest network fee of the transaction.
	Cost AssetAmount

	// The engine sets the fields below.

	State SignedState
	// Reverted is true if the transaction was mined without its effect.
	Reverted bool
	Block    BlockRef
	Time     Time
}

// Rivals reports whether a chain can hold only one of two transactions: they spend the
// same output, or have the same nonce at the same address.
func (s *SignedTx) Rivals(other *SignedTx) bool {
	if len(s.Inputs) == 0 && len(other.Inputs) == 0 {
		return s.From == other.From && s.Nonce == other.Nonce
	}
	return slices.ContainsFunc(s.Inputs, func(at Outpoint) bool { return slices.Contains(other.Inputs, at) })
}

// Unspent is an output of the exchange.
type Unspent struct {
	Network NetworkID
	Outpoint
	Asset   AssetID
	Amount  Amount
	Address uint32
	// Height is the height of its block.
	Height uint64
	// By is the transaction of the exchange that reserves the output, or zero.
	By TxHash
	// Gone is true once the output is spent or its block left the chain.
	Gone bool
}

// Holding is the balance of an address of the exchange, on a network of accounts.
type Holding struct {
	Network NetworkID
	Address uint32
	Asset   AssetID
	Amount  Amount
}

// Nonce is the number of the next transaction of a sending address.
type Nonce struct {
	Network NetworkID
	Address uint32
	Next    uint64
}
