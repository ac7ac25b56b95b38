package bourse

import (
	"cmp"
	"slices"
)

// SignedKind is the purpose of a transaction of the exchange.
type SignedKind uint8

// The kinds of transactions of the exchange.
const (
	// SignedWithdrawal pays a withdrawal, or several.
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
	// Joined has the withdrawals of a joined transaction, two at least, by ascending id: Wallet is the first. It is nil
	// for a transaction that pays one.
	Joined []Share
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

// Share is the amount of a joined transaction that a withdrawal gets.
type Share struct {
	Wallet WalletID
	Amount Amount
}

// Pays reports whether the transaction has the id of a withdrawal, or of an order.
func (s *SignedTx) Pays(id WalletID) bool {
	return s.Wallet == id || !s.Share(id).IsZero()
}

// Share returns the amount of a joined transaction that a withdrawal gets; zero if it is none of them.
func (s *SignedTx) Share(id WalletID) Amount {
	at, found := slices.BinarySearchFunc(s.Joined, id, func(p Share, id WalletID) int { return cmp.Compare(p.Wallet, id) })
	if !found {
		return Amount{}
	}
	return s.Joined[at].Amount
}

// Payees yields the ids of the withdrawals that the transaction pays, in ascending order, or that of its order.
func (s *SignedTx) Payees(yield func(WalletID) bool) {
	if len(s.Joined) == 0 && s.Wallet != 0 {
		yield(s.Wallet)
	}
	for _, p := range s.Joined {
		if !yield(p.Wallet) {
			return
		}
	}
}

// Shares reports whether two transactions are for the same id.
func (s *SignedTx) Shares(other *SignedTx) bool {
	for id := range s.Payees {
		if other.Pays(id) {
			return true
		}
	}
	return false
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
