package chain

import "github.com/bourse-exchange/bourse"

// Aliases of types that package bourse defines.
type (
	// Hash names a block or a transaction. [Codec].FormatHash writes it in the network's
	// usual form.
	Hash = bourse.TxHash
	// BlockRef names a block.
	BlockRef = bourse.BlockRef
	// Outpoint names an output of a transaction.
	Outpoint = bourse.Outpoint
)

// CoinID names a coin of a network: the contract of its [bourse.NetworkAsset] if it has
// one, else the asset's symbol.
type CoinID string

// CoinOf returns the coin of an asset on a network.
func CoinOf(symbol bourse.Symbol, contract string) CoinID {
	if contract != "" {
		return CoinID(contract)
	}
	return CoinID(symbol)
}

// Coin is an asset on a network.
type Coin struct {
	ID CoinID
	// Decimals is the number of decimals of the network's smallest unit.
	Decimals uint8
}

// Shape describes how a network works.
type Shape struct {
	// Coins lists the known coins of the network.
	Coins []Coin
	// Native is the coin of transaction costs; empty if there are none.
	Native CoinID
	// Outputs is true if payments spend named outputs, and false if they have a sender
	// and a nonce.
	Outputs bool
	// MemoName is the network's term for the text that distinguishes accounts behind one
	// address; empty if each account has its own address.
	MemoName string
	// Sweeps is true if deposits must be moved to the hot wallet before they can be paid
	// out.
	Sweeps bool
	// Replaces is true if nodes take a payment in the place of a waiting one that excludes
	// it on the chain, if it pays them enough more.
	Replaces bool
	// Cold is the index of the first address of cold storage, and the next ones follow; zero without cold storage.
	Cold uint32
}

// KeepsCold reports whether an index is that of an address of the network's cold storage.
func (s *Shape) KeepsCold(index uint32) bool {
	return s.Cold != 0 && index >= s.Cold && index-s.Cold < ColdAddresses
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

// Indices of the exchange's own addresses; a customer's index is the account id.
const (
	// IndexHot is the hot wallet, which pays withdrawals.
	IndexHot uint32 = 0
	// IndexChange receives the change of payments of outputs.
	IndexChange uint32 = 1<<32 - 1
	// IndexCold begins the indices of cold storage: a tag of its descriptor, and the number of the address below
	// [ColdAddresses]. With the tag, the journal's outputs tell descriptors apart.
	IndexCold uint32 = 1 << 31
)

// The bits of an index of cold storage.
const (
	ColdTagBits    = 21
	ColdNumberBits = 10
	// ColdAddresses is the number of a descriptor's addresses that are watched.
	ColdAddresses = 1000
)

// IsCold reports whether an index is that of an address of cold storage, under whatever descriptor.
func IsCold(index uint32) bool {
	return index >= IndexCold && index&(1<<ColdNumberBits-1) < ColdAddresses
}

// FirstCold returns the index of the first address of the cold storage that has an address.
func FirstCold(index uint32) uint32 { return index &^ (1<<ColdNumberBits - 1) }

// Destination is the recipient of a payment.
type Destination struct {
	Address string
	// Memo is empty on networks without memos.
	Memo string
}

// OwnerKind classifies the owner of an address.
type OwnerKind uint8

// The closed set of owners.
const (
	// OwnerCustomer is the account with the owner's index.
	OwnerCustomer OwnerKind = iota + 1
	// OwnerTreasury is the exchange itself: the hot wallet and change.
	OwnerTreasury
	// OwnerNobody is a shared address with a memo that is missing, malformed or
	// unassigned. An operator decides about the money.
	OwnerNobody
)

// Owner is the owner of an address and memo.
type Owner struct {
	Kind OwnerKind
	// Index is the account's id for a customer, IndexHot or IndexChange for the exchange,
	// and meaningless for OwnerNobody.
	Index uint32
	// At is the index of the address that holds the money: Index if each account has its
	// own address, IndexHot if all share one.
	At uint32
}

// Block is a block with all transfers of its transactions.
type Block struct {
	BlockRef
	// Parent is the hash of the block below; zero for the first.
	Parent Hash
	// Time is the network's timestamp, which may precede the parent's.
	Time bourse.Time
	Txs  []Tx
	// Uncalled is true if the node could not tell what calls inside of the transactions paid; they have none then.
	Uncalled bool
}

// Tx is a mined transaction with its debits and credits, as the network's state really
// changed. A transfer that was reverted, or that a token refused inside a successful
// transaction, is left out.
type Tx struct {
	Hash Hash
	// Failed is true for a mined transaction that was not executed: it has its cost as a
	// debit and no credits.
	Failed  bool
	Debits  []Debit
	Credits []Credit
}

// Debit is an amount taken from an address, costs included.
type Debit struct {
	Address string
	Coin    CoinID
	Amount  bourse.Amount
	// Spent names the spent output; zero on networks of accounts.
	Spent Outpoint
}

// MaxIndex is above the indices of credits on networks of accounts. The wallet uses those above it for payments that
// are other ones when their transaction is mined again.
const MaxIndex = 1 << 25

// Credit is an amount given to an address.
type Credit struct {
	// Index identifies the credit within its transaction, and stays the same if the
	// transaction is mined again: an output's number, or a log's position in its
	// transaction. On networks of accounts it is below MaxIndex.
	Index   uint32
	Address string
	Memo    string
	Coin    CoinID
	Amount  bourse.Amount
}

// Health reports whether a network is usable.
type Health struct {
	// Operating is false when the node does not answer, is syncing, or its
	// head is older than the network's limit.
	Operating bool
	// Reason explains in words why it is not operating.
	Reason   string
	Head     BlockRef
	HeadTime bourse.Time
}

// Fees is the current cost of payments, in the native coin.
type Fees struct {
	// Cost is the maximum cost of a typical payment of the coin; on networks of outputs,
	// of one with a single input.
	Cost bourse.Amount
	// PerInput is the cost of each further input; zero on networks of accounts.
	PerInput bourse.Amount
	// Nodes of a network of outputs relay a replacement with a single input only if it costs Least at least, and
	// LeastPerInput more for each further input: the cost of what it replaces, and the relay fee of its own size
	// (BIP 125, rules 3 and 4). Both are zero for payments that replace nothing, and on networks of accounts.
	Least, LeastPerInput bourse.Amount
	// Each further output of change adds PerChange to Cost and LeastPerChange to Least. Both are zero on networks of
	// accounts.
	PerChange, LeastPerChange bourse.Amount
	// Each further destination adds PerPay to Cost and LeastPerPay to Least. Both are zero on networks of accounts.
	PerPay, LeastPerPay bourse.Amount
	// Over is true if the cost is above the settings' cap on fees, by at most the multiple [OverCap]. Only
	// payments with the nonce of a dropped one may cost that much: all payments wait for that nonce.
	Over bool
}

// Of returns the cost of a payment with a number of inputs, at least one.
func (f *Fees) Of(inputs int) bourse.Amount {
	cost, least := f.Cost, f.Least
	for range inputs - 1 {
		cost, least = cost.Plus(f.PerInput), least.Plus(f.LeastPerInput)
	}
	if cost.Less(least) {
		return least
	}
	return cost
}

// Split returns the cost of payments with a number of outputs of change, at least one.
func (f Fees) Split(change int) Fees {
	for range change - 1 {
		f.Cost, f.Least = f.Cost.Plus(f.PerChange), f.Least.Plus(f.LeastPerChange)
	}
	return f
}

// Join returns the cost of payments with a number of destinations, at least one.
func (f Fees) Join(destinations int) Fees {
	for range destinations - 1 {
		f.Cost, f.Least = f.Cost.Plus(f.PerPay), f.Least.Plus(f.LeastPerPay)
	}
	return f
}

// OverCap bounds the price of payments that take the nonce of dropped ones, in multiples of the cap on fees.
const OverCap = 2

// Input is an output of the exchange that a payment may spend.
type Input struct {
	Outpoint
	// Owner is the index of the address that holds it.
	Owner  uint32
	Coin   CoinID
	Amount bourse.Amount
}

// Payment is a payment to make, with the source that custody chose.
type Payment struct {
	Kind bourse.SignedKind
	Coin CoinID
	// Amount is the amount that arrives; never zero. A sweep's is taken from the journal
	// and not from the node: what is on an address beyond the journal's knowledge stays.
	Amount bourse.Amount
	To     Destination
	// With are further payments of the same transaction, of the same coin, on networks of outputs: at most
	// [bourse.MaxJoined] with the first.
	With []Pay
	// Inputs are the source on networks of outputs; change goes to IndexChange.
	Inputs []Input
	// Change is the number of outputs that the change is split into, at most MaxChange: as many of at least LeastChange
	// each as the change and CostCap allow. Zero is one. The first has half, and the others the same each.
	Change      int
	LeastChange bourse.Amount
	// From and Nonce are the source on networks of accounts.
	From  uint32
	Nonce uint64
	// Replaces are signed transactions that the payment excludes, by an input or the nonce.
	// The payment outbids them, so that a node with one of them takes it all the same.
	Replaces [][]byte
	// CostCap bounds the cost, in the native coin.
	CostCap bourse.Amount
}

// Total returns the sum of what arrives. It is at most the sum that the caller has bounded.
func (p *Payment) Total() bourse.Amount {
	sum := p.Amount
	for i := range p.With {
		sum = sum.PlusOrMax(p.With[i].Amount)
	}
	return sum
}

// Unsigned is a payment that lacks only a signature.
type Unsigned struct {
	// Raw is the transaction in the adapter's own encoding.
	Raw []byte
	// Cost is the transaction's maximum cost.
	Cost bourse.Amount
}

// Draft is a transaction that people have to sign.
type Draft struct {
	// PSBT is the partially signed transaction, of version 0 of BIP 174.
	PSBT []byte
	// Cost is the fee to the network.
	Cost bourse.Amount
}

// Decoded holds all effects of a transaction.
type Decoded struct {
	// Hash is final: a signature does not change it. It is zero for an unsigned
	// transaction if the network hashes signatures too.
	Hash Hash
	// Signed is true if every required signature is present and valid.
	Signed bool
	// Inputs are the spent outputs, on networks of outputs; the exchange owns them.
	Inputs []Input
	// From and Nonce are the sender, one of the exchange's indices, on networks of
	// accounts.
	From  uint32
	Nonce uint64
	// Pays lists every output, or message; change is among them.
	Pays []Pay
	// Cost is the transaction's maximum cost, in the native coin.
	Cost bourse.Amount
}

// Pay is one payment of a transaction.
type Pay struct {
	To     Destination
	Coin   CoinID
	Amount bourse.Amount
}

// VerdictKind is a node's response to a broadcast.
type VerdictKind uint8

// The closed set of verdicts.
const (
	// Accepted: the node accepted the transaction.
	Accepted VerdictKind = iota + 1
	// Known: the node has the transaction already, waiting or mined.
	Known
	// Rejected: the node refuses the transaction, with a reason. The bytes may still be
	// mined later or through another node: query their state.
	Rejected
	// Unknown: the outcome is unknown; query the transaction's state.
	Unknown
)

// Verdict is a node's response to a broadcast, with its reason.
type Verdict struct {
	Kind   VerdictKind
	Reason string
}

// TxStatus is the status of a transaction.
type TxStatus uint8

// The closed set of states of a transaction.
const (
	// TxAbsent: the node does not know the transaction, which proves nothing.
	TxAbsent TxStatus = iota + 1
	// TxWaiting: the node has the transaction, but no block contains it.
	TxWaiting
	// TxMined: a block of the node's chain contains the transaction.
	TxMined
	// TxConflicted: another mined transaction has spent the inputs or used the nonce, so
	// these bytes cannot be mined unless that one is undone.
	TxConflicted
)

// TxState is the state of a transaction on a node's chain.
type TxState struct {
	Status TxStatus
	// Block contains the transaction if it is mined.
	Block BlockRef
	// Confirms counts the blocks from that one to the head, both included.
	Confirms uint64
	// Failed is true if the transaction is mined and was not executed.
	Failed bool
}
