package chain

import "github.com/bourse-exchange/bourse"

// What the vocabulary already names.
type (
	// Hash names a block or a transaction. [Codec].FormatHash writes it the way
	// people of the network do.
	Hash = bourse.TxHash
	// BlockRef names a block.
	BlockRef = bourse.BlockRef
	// Outpoint names an output of a transaction.
	Outpoint = bourse.Outpoint
)

// CoinID names what a network moves, the way the catalogue does: the contract
// of the [bourse.NetworkAsset] if it has one, else the asset's symbol.
type CoinID string

// CoinOf returns the coin of an asset on a network.
func CoinOf(symbol bourse.Symbol, contract string) CoinID {
	if contract != "" {
		return CoinID(contract)
	}
	return CoinID(symbol)
}

// Coin is something that a network moves.
type Coin struct {
	ID CoinID
	// Decimals is how many decimals of the asset the smallest unit is.
	Decimals uint8
}

// Shape says how a network works.
type Shape struct {
	// Coins lists what the network moves of what we know.
	Coins []Coin
	// Native is the coin that payments cost; empty where they cost nothing.
	Native CoinID
	// Outputs is true where payments spend outputs that they name, and false
	// where they are numbered by sender.
	Outputs bool
	// MemoName is what the network calls the text that tells accounts behind
	// one address apart; empty where each account has its own address.
	MemoName string
	// Sweeps is true where deposits must be moved to the hot wallet before
	// they can be paid out.
	Sweeps bool
}

// Coin returns the coin with this id.
func (s *Shape) Coin(id CoinID) (Coin, bool) {
	for _, c := range s.Coins {
		if c.ID == id {
			return c, true
		}
	}
	return Coin{}, false
}

// Indices of our addresses that belong to no customer; a customer's index is
// his account id.
const (
	// IndexHot is the hot wallet, from which withdrawals are paid.
	IndexHot uint32 = 0
	// IndexChange receives what a payment of outputs does not need.
	IndexChange uint32 = 1<<32 - 1
)

// Destination is where money can be sent to.
type Destination struct {
	Address string
	// Memo is empty on networks without memos.
	Memo string
}

// OwnerKind says whose an address is.
type OwnerKind uint8

// The closed set of owners.
const (
	// OwnerCustomer is the account whose id is the index.
	OwnerCustomer OwnerKind = iota + 1
	// OwnerTreasury is the exchange itself: the hot wallet and change.
	OwnerTreasury
	// OwnerNobody is an address of ours with a memo that is missing, malformed
	// or names nobody: the money is parked for a person.
	OwnerNobody
)

// Owner is whose an address with its memo is.
type Owner struct {
	Kind OwnerKind
	// Index is the account's id for a customer, IndexHot or IndexChange for the
	// exchange, and meaningless for nobody.
	Index uint32
	// At is the index of the address where the money lies: Index where each
	// account has its own, IndexHot where all share one.
	At uint32
}

// Block is one block with all that its transactions moved.
type Block struct {
	BlockRef
	// Parent is the hash of the block below; zero for the first.
	Parent Hash
	// Time is what the network says, and may lie before the parent's.
	Time bourse.Time
	Txs  []Tx
}

// Tx is a transaction in a block: what it took from addresses and what it gave
// to them, as the network's state really changed. A transfer that was reverted,
// or that a token refused while the transaction itself was fine, is not in it.
type Tx struct {
	Hash Hash
	// Failed is true for a transaction that the network took into a block and
	// did not execute: it took its cost and gave nothing.
	Failed bool
	Taken  []Taken
	Given  []Given
}

// Taken is what a transaction took from an address, its cost included.
type Taken struct {
	Address string
	Coin    CoinID
	Amount  bourse.Amount
	// Spent names the output that is gone; zero on networks of accounts.
	Spent Outpoint
}

// Given is what a transaction gave to an address.
type Given struct {
	// Index tells the outputs of one transaction apart, and stays the same when
	// the transaction is mined again elsewhere: an output's number, or a log's
	// position inside its transaction.
	Index   uint32
	Address string
	Memo    string
	Coin    CoinID
	Amount  bourse.Amount
}

// Health says whether a network can be worked with.
type Health struct {
	// Operating is false when the node does not answer, is syncing, or its
	// head is older than the network's limit.
	Operating bool
	// Reason says in words why it is not.
	Reason   string
	Head     BlockRef
	HeadTime bourse.Time
}

// Fees is what payments cost now, in the native coin.
type Fees struct {
	// Cost is the most that a typical payment of the coin will cost; on
	// networks of outputs, one with a single input.
	Cost bourse.Amount
	// PerInput is what each further input adds; zero on networks of accounts.
	PerInput bourse.Amount
}

// Kind says what a payment of ours is for.
type Kind uint8

// The closed set of kinds.
const (
	// KindWithdrawal pays a customer's money out of the hot wallet.
	KindWithdrawal Kind = iota + 1
	// KindSweep moves a deposit to the hot wallet.
	KindSweep
	// KindTopUp gives a deposit address what the sweep of a token costs.
	KindTopUp
)

// String returns withdrawal, sweep or top-up.
func (k Kind) String() string {
	switch k {
	case KindWithdrawal:
		return "withdrawal"
	case KindSweep:
		return "sweep"
	case KindTopUp:
		return "top-up"
	}
	return "unknown"
}

// Input is an output of ours that a payment may spend.
type Input struct {
	Outpoint
	// Owner is the index of the address that it lies at.
	Owner  uint32
	Coin   CoinID
	Amount bourse.Amount
}

// Payment is what is to be paid, with what custody has chosen to pay it from.
type Payment struct {
	Kind Kind
	Coin CoinID
	// Amount is what arrives. Zero in a sweep of the native coin by accounts:
	// everything that the cost leaves of the sender's balance.
	Amount bourse.Amount
	To     Destination
	// Inputs pay, where the network has outputs; change goes to IndexChange.
	Inputs []Input
	// From and Nonce pay, where the network has accounts.
	From  uint32
	Nonce uint64
	// CostCap is the most that the network may be given in its native coin.
	CostCap bourse.Amount
}

// Unsigned is a payment that needs a signature alone.
type Unsigned struct {
	// Raw is the transaction in the adapter's own form.
	Raw []byte
	// Cost is the most that the network can take for it.
	Cost bourse.Amount
}

// Decoded is everything that a transaction does.
type Decoded struct {
	// Hash is final: a signature does not change it any more. It is zero for
	// an unsigned transaction where the network hashes signatures too.
	Hash Hash
	// Signed is true when every signature that is needed is there and right.
	Signed bool
	// Inputs are spent, on networks of outputs; their owners are ours.
	Inputs []Input
	// From and Nonce are the sender, an index of ours, on networks of accounts.
	From  uint32
	Nonce uint64
	// Pays lists every output, or message; change is among them.
	Pays []Pay
	// Cost is the most that the network can take, in its native coin.
	Cost bourse.Amount
}

// Pay is one thing that a transaction pays.
type Pay struct {
	To     Destination
	Coin   CoinID
	Amount bourse.Amount
}

// VerdictKind says what a node made of a transaction.
type VerdictKind uint8

// The closed set of verdicts.
const (
	// Accepted: the node took it.
	Accepted VerdictKind = iota + 1
	// Known: the node has it already, waiting or mined.
	Known
	// Rejected: the node will not take it, and says why. The bytes may still
	// be mined later or through another node: ask for their state.
	Rejected
	// Unknown: nobody can say; ask for the state of the transaction.
	Unknown
)

// Verdict is what a node made of a transaction.
type Verdict struct {
	Kind   VerdictKind
	Reason string
}

// TxStatus says where a transaction is.
type TxStatus uint8

// The closed set of states of a transaction.
const (
	// TxAbsent: the node has never heard of it, which proves nothing.
	TxAbsent TxStatus = iota + 1
	// TxWaiting: the node has it, no block does.
	TxWaiting
	// TxMined: it is in a block of the node's chain.
	TxMined
	// TxConflicted: another mined transaction has spent its inputs or used its
	// nonce, so that these bytes cannot be mined unless that one is undone.
	TxConflicted
)

// TxState is where a transaction is.
type TxState struct {
	Status TxStatus
	// Block holds it when it is mined.
	Block BlockRef
	// Confirms counts the blocks from that one to the head, both included.
	Confirms uint64
	// Failed is true when it is mined and was not executed.
	Failed bool
}
