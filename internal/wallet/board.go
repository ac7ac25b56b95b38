package wallet

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Board shows what the journal says is open. It stands behind the engine as an
// observer; Reset, Begin, Observe and End belong to the goroutine that applies,
// everything else may be called by anybody and sees whole frames.
type Board struct {
	mu sync.RWMutex
	// locked is true while the frame at hand has touched the board.
	locked bool

	last        bourse.AccountID
	networks    map[bourse.NetworkID]*network
	withdrawals map[bourse.WalletID]*bourse.Withdrawal
}

// network is what is open on one network.
type network struct {
	state    bourse.NetworkState
	signed   map[bourse.TxHash]bourse.SignedTx
	unspent  map[bourse.Outpoint]bourse.Unspent
	holdings map[place]bourse.Amount
	nonces   map[uint32]uint64
}

// place is an asset at an address of ours.
type place struct {
	address uint32
	asset   bourse.AssetID
}

// NewBoard returns a board on which nothing is open.
func NewBoard() *Board {
	b := new(Board)
	b.clear()
	return b
}

func (b *Board) clear() {
	b.last = 0
	b.networks = map[bourse.NetworkID]*network{}
	b.withdrawals = map[bourse.WalletID]*bourse.Withdrawal{}
}

// Reset empties the board; the Restored events follow.
func (b *Board) Reset(func(string) ([]byte, bool)) error {
	b.lock()
	b.clear()
	return nil
}

// Begin opens a frame.
func (b *Board) Begin() {}

// End closes a frame: readers see all of it.
func (b *Board) End() {
	if b.locked {
		b.locked = false
		b.mu.Unlock()
	}
}

// lock keeps readers out until End. Most frames do not touch the board and pay
// for no lock.
func (b *Board) lock() {
	if !b.locked {
		b.mu.Lock()
		b.locked = true
	}
}

// Observe takes in what a command did.
func (b *Board) Observe(_ *bourse.Command, ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventAccountCreated, bourse.EventAccountRestored:
			b.lock()
			b.last = max(b.last, ev.Facts[e.At].Account)
		case bourse.EventNetworkState:
			b.lock()
			s := ev.Wallet.Networks[e.At]
			b.network(s.Network).state = s
		case bourse.EventWithdrawal, bourse.EventWithdrawalRestored:
			b.lock()
			b.foldWithdrawal(&ev.Wallet.Withdrawals[e.At])
		case bourse.EventSigned:
			b.lock()
			b.foldSigned(&ev.Wallet.Signed[e.At])
		case bourse.EventUnspent:
			b.lock()
			b.foldUnspent(&ev.Wallet.Unspent[e.At])
		case bourse.EventHolding:
			b.lock()
			b.foldHolding(&ev.Wallet.Holdings[e.At])
		case bourse.EventNonce:
			b.lock()
			n := &ev.Wallet.Nonces[e.At]
			b.network(n.Network).nonces[n.Address] = n.Next
		default: // nothing that a network has to do with
		}
	}
}

func (b *Board) network(id bourse.NetworkID) *network {
	n := b.networks[id]
	if n == nil {
		n = &network{
			state:  bourse.NetworkState{Network: id},
			signed: map[bourse.TxHash]bourse.SignedTx{}, unspent: map[bourse.Outpoint]bourse.Unspent{},
			holdings: map[place]bourse.Amount{}, nonces: map[uint32]uint64{},
		}
		b.networks[id] = n
	}
	return n
}

func (b *Board) foldWithdrawal(w *bourse.Withdrawal) {
	if !w.Unsigned() {
		delete(b.withdrawals, w.ID)
		return
	}
	open := *w
	b.withdrawals[w.ID] = &open
}

func (b *Board) foldSigned(s *bourse.SignedTx) {
	n := b.network(s.Network)
	if s.State == bourse.SignedFinal || s.State == bourse.SignedDropped {
		delete(n.signed, s.Tx)
		return
	}
	n.signed[s.Tx] = *s
}

func (b *Board) foldUnspent(u *bourse.Unspent) {
	n := b.network(u.Network)
	if u.Gone {
		delete(n.unspent, u.Outpoint)
		return
	}
	n.unspent[u.Outpoint] = *u
}

func (b *Board) foldHolding(h *bourse.Holding) {
	n := b.network(h.Network)
	at := place{h.Address, h.Asset}
	if h.Amount.IsZero() {
		delete(n.holdings, at)
		return
	}
	n.holdings[at] = h.Amount
}

// State returns where the exchange is on a network.
func (b *Board) State(id bourse.NetworkID) bourse.NetworkState {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n := b.networks[id]; n != nil {
		return n.state
	}
	return bourse.NetworkState{Network: id}
}

// Accounts returns the highest account id there is.
func (b *Board) Accounts() uint32 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return uint32(b.last)
}

// Unsigned returns a network's withdrawals that wait for a signature, the oldest
// first.
func (b *Board) Unsigned(id bourse.NetworkID) []bourse.Withdrawal {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.Withdrawal
	for _, w := range b.withdrawals {
		if w.Network == id {
			list = append(list, *w)
		}
	}
	slices.SortFunc(list, func(p, q bourse.Withdrawal) int { return cmp.Compare(p.ID, q.ID) })
	return list
}

// Signed returns a network's transactions of ours that are not final, in the
// order of senders and nonces.
func (b *Board) Signed(id bourse.NetworkID) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	list := make([]bourse.SignedTx, 0, len(n.signed))
	for _, s := range n.signed {
		list = append(list, s)
	}
	slices.SortFunc(list, func(p, q bourse.SignedTx) int {
		return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.Nonce, q.Nonce), cmp.Compare(p.Time, q.Time), bytes.Compare(p.Tx[:], q.Tx[:]))
	})
	return list
}

// Unspent returns a network's outputs of ours that nothing reserves.
func (b *Board) Unspent(id bourse.NetworkID) []bourse.Unspent {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.Unspent
	if n := b.networks[id]; n != nil {
		for _, u := range n.unspent {
			if u.By == (bourse.TxHash{}) {
				list = append(list, u)
			}
		}
	}
	return list
}

// Holdings returns what a network's addresses of ours have, by address.
func (b *Board) Holdings(id bourse.NetworkID) []bourse.Holding {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.Holding
	if n := b.networks[id]; n != nil {
		for at, amount := range n.holdings {
			list = append(list, bourse.Holding{Network: id, Address: at.address, Asset: at.asset, Amount: amount})
		}
	}
	slices.SortFunc(list, func(p, q bourse.Holding) int {
		return cmp.Or(cmp.Compare(p.Address, q.Address), cmp.Compare(p.Asset, q.Asset))
	})
	return list
}

// Nonce returns the number of an address's next transaction.
func (b *Board) Nonce(id bourse.NetworkID, address uint32) uint64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n := b.networks[id]; n != nil {
		return n.nonces[address]
	}
	return 0
}
