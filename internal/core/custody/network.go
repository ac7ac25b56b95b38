package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Network is the state of one network.
type Network struct {
	bourse.NetworkState
	// byOutput is true if money lies in outputs, as the first block reported.
	byOutput bool
	// top is the height of the highest block ever taken in.
	top uint64
	// former is the tip that the chain had when it last began anew. The worker may have read the block above it before.
	former bourse.TxHash
	// blocks are the remembered blocks, oldest first; the newest is the tip.
	blocks []block
	// txs has the height of each transaction in blocks.
	txs map[bourse.TxHash]uint64
	// deposits finds the remembered deposits that have a transaction here.
	deposits map[bourse.Outpoint]*bourse.Deposit
	// waiting are the deposits that a new block can change, by number.
	waiting []*bourse.Deposit
	signed  map[bourse.TxHash]*bourse.SignedTx
	// claims finds the transaction that spends an output, also while the output is in no
	// block.
	claims  map[bourse.Outpoint]bourse.TxHash
	unspent map[bourse.Outpoint]*bourse.Unspent
	// holdings holds no zero amounts.
	holdings map[place]bourse.Amount
	// nonces are the next nonces of the addresses that have sent.
	nonces map[uint32]uint64
	// ready are the approved withdrawals that wait because withdrawals are stopped, or
	// because a command had no steps left; by id.
	ready []bourse.WalletID
}

// place is an asset at an address of a network.
type place struct {
	address uint32
	asset   bourse.AssetID
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.asset, b.asset))
}

// block is a remembered block, with the state to take it back.
type block struct {
	bourse.BlockRef
	parent bourse.TxHash
	time   bourse.Time
	txs    []*Mined
}

// Mined is a transaction of a remembered block.
type Mined struct {
	*bourse.TxEffect
	// Signed is the exchange's own transaction of that hash, or nil, and Was its state
	// before, or zero.
	Signed *bourse.SignedTx
	Was    bourse.SignedState
	// Postings are the engine's postings for it, besides deposits.
	Postings []bourse.Transfer
	// spent are the outputs that it spent; claims has their reservations.
	spent []bourse.Unspent
}

func newNetwork(id bourse.NetworkID) *Network {
	return &Network{
		NetworkState: bourse.NetworkState{Network: id},
		txs:          map[bourse.TxHash]uint64{},
		deposits:     map[bourse.Outpoint]*bourse.Deposit{},
		signed:       map[bourse.TxHash]*bourse.SignedTx{},
		claims:       map[bourse.Outpoint]bourse.TxHash{},
		unspent:      map[bourse.Outpoint]*bourse.Unspent{},
		holdings:     map[place]bourse.Amount{},
		nonces:       map[uint32]uint64{},
	}
}

// Announce announces the network's state.
func (n *Network) Announce(ev *bourse.Events) { ev.AddNetworkState(&n.NetworkState) }

// Halt stops the network's withdrawals; the first reason stays.
func (n *Network) Halt(why bourse.Halt) {
	if n.Halted == 0 {
		n.Halted = why
	}
}

// Reaches reports whether the chain can be taken back to a height at or below the tip: the
// block at that height is remembered.
func (n *Network) Reaches(height uint64) bool {
	return len(n.blocks) > 0 && height >= n.blocks[0].Height
}

// Top returns the height of the highest block ever taken in.
func (n *Network) Top() uint64 { return n.top }

// Begin opens an admitted block, or its next part.
func (n *Network) Begin(b *bourse.BlockEffect) {
	if b.Part == 0 {
		n.byOutput = b.ByOutput
		n.blocks = append(n.blocks, block{BlockRef: b.BlockRef, parent: b.Parent, time: b.Time})
	}
	n.Tip, n.Time, n.Part = b.BlockRef, b.Time, 0
	n.top = max(n.top, b.Height)
	if b.More {
		n.Part = b.Part + 1
	}
}

// Deposit returns the deposit of an output, or nil.
func (n *Network) Deposit(tx bourse.TxHash, index uint32) *bourse.Deposit {
	return n.deposits[bourse.Outpoint{Tx: tx, Index: index}]
}

// Waiting returns the deposits that a new block may change, by number. The caller owns
// the list.
func (n *Network) Waiting() []*bourse.Deposit { return slices.Clone(n.waiting) }

// waits reports whether a new block can change a deposit: it may become deep enough, or
// be gone for long enough.
func waits(d *bourse.Deposit) bool {
	return d.Status == bourse.WalletPending && (!d.Mined || d.Account != 0 && !d.BelowMin && !d.OverAlone)
}

// sort adds a changed deposit to waiting, or removes it.
func (n *Network) sort(d *bourse.Deposit) {
	at, found := slices.BinarySearchFunc(n.waiting, d, func(a, b *bourse.Deposit) int {
		return cmp.Compare(a.Number, b.Number)
	})
	switch want := waits(d); {
	case want && !found:
		n.waiting = slices.Insert(n.waiting, at, d)
	case !want && found:
		n.waiting = slices.Delete(n.waiting, at, at+1)
	}
}

// AddDeposit adds a deposit that has a transaction.
func (c *Custody) AddDeposit(d *bourse.Deposit) {
	n := c.Network(d.Network)
	c.deposits[d.Number] = d
	n.deposits[bourse.Outpoint{Tx: d.Tx, Index: d.Index}] = d
	n.sort(d)
}

// Deposit returns a remembered deposit, or nil.
func (c *Custody) Deposit(number bourse.DepositID) *bourse.Deposit { return c.deposits[number] }

// ChangedDeposit announces a changed deposit, and forgets it if it is final.
func (c *Custody) ChangedDeposit(ev *bourse.Events, d *bourse.Deposit) {
	n := c.Network(d.Network)
	n.sort(d)
	ev.AddDeposit(bourse.EventDeposit, d)
	if d.Status == bourse.WalletDone && d.Mined && !n.remembers(d.Block) {
		c.forgetDeposit(n, d)
	}
}

// remembers reports whether a block of the chain can be taken back.
func (n *Network) remembers(b bourse.BlockRef) bool {
	return len(n.blocks) > 0 && b.Height >= n.blocks[0].Height
}

func (c *Custody) forgetDeposit(n *Network, d *bourse.Deposit) {
	delete(c.deposits, d.Number)
	delete(n.deposits, bourse.Outpoint{Tx: d.Tx, Index: d.Index})
}
