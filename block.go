package bourse

import "bytes"

// TxHash is the hash of a transaction or a block of a network. The network's adapter
// defines its text form.
type TxHash [32]byte

// Compare orders hashes by their bytes.
func (h TxHash) Compare(other TxHash) int { return bytes.Compare(h[:], other[:]) }

// BlockRef names a block.
type BlockRef struct {
	Height uint64
	Hash   TxHash
}

// Outpoint names an output of a transaction.
type Outpoint struct {
	Tx    TxHash
	Index uint32
}

// BlockEffect is the effect of a block, or a part of one, on the exchange's addresses.
type BlockEffect struct {
	Network NetworkID
	BlockRef
	Parent TxHash
	// Time is the time of the block according to the network.
	Time Time
	// ByOutput is true for a network of outputs, each of which is spent as a whole.
	ByOutput bool
	// Part numbers the commands of one block from zero. More is true if another part
	// follows; the block is complete after its last part.
	Part uint32
	More bool
	// Txs lists the transactions that touch addresses of the exchange, in block order.
	Txs []TxEffect
}

// TxEffect is the effect of a transaction on the exchange's addresses.
type TxEffect struct {
	Hash TxHash
	// Outflows lists the amounts that left addresses of the exchange, network fees
	// included.
	Outflows []Outflow
	// Spent lists the outputs of the exchange that the transaction used up, on a network
	// of outputs. Outflows has their amounts.
	Spent []Outpoint
	// Inflows lists the amounts that reached addresses of the exchange.
	Inflows []Inflow
}

// Entries returns the transaction's share of MaxBlockEntries. An inflow with a memo longer than MaxEarlyMemo counts twice:
// a command must fit a frame of the journal, and strangers choose memos.
func (t *TxEffect) Entries() int {
	n := 1 + len(t.Outflows) + len(t.Spent) + len(t.Inflows)
	for i := range t.Inflows {
		if len(t.Inflows[i].Memo) > MaxEarlyMemo {
			n++
		}
	}
	return n
}

// Outflow is an amount that left one address of the exchange.
type Outflow struct {
	Address uint32
	Asset   AssetID
	Amount  Amount
}

// Inflow is an amount that reached one address of the exchange.
type Inflow struct {
	// Index tells the outputs of a transaction apart. It does not depend on the block
	// that includes the transaction.
	Index  uint32
	Asset  AssetID
	Amount Amount
	// Owner is the customer of the address or memo, AccountTreasury for the
	// exchange's own addresses, or zero if the memo is missing or unknown.
	Owner AccountID
	// Address is the number of the receiving address.
	Address uint32
	Memo    string
	// OverAlone marks an inflow to a customer beyond what one node alone credits of its asset in a day.
	OverAlone bool
}
