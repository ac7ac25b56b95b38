package wallet

import (
	"cmp"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Board mirrors the open items of the journal. It is an observer behind the engine.
// Reset, Begin, Observe and End belong to the goroutine that applies; all other methods
// are safe for concurrent use and see whole frames.
type Board struct {
	mu sync.RWMutex
	// locked is true while the current frame holds mu.
	locked bool

	// rules is the version of the rules; zero before genesis.
	rules uint32
	// now is the time of the first command of the journal's UTC day; zero after a snapshot.
	now         bourse.Time
	last        bourse.AccountID
	frozen      map[bourse.AccountID]bool
	networks    map[bourse.NetworkID]*network
	withdrawals map[bourse.WalletID]*bourse.Withdrawal
	// promised are the amounts of open withdrawals that are not processed yet.
	promised map[bourse.WalletID]promise
	// payers are the accounts and transactions of withdrawals with one that is not final.
	payers map[bourse.WalletID]payer
}

// network holds the open items of one network.
type network struct {
	state  bourse.NetworkState
	signed map[bourse.TxHash]bourse.SignedTx
	// dropped are transactions that an operator or the worker gave up.
	dropped map[bourse.TxHash]bourse.SignedTx
	// unspent are the outputs that payments may spend, and cold those of cold storage, by the index of its first
	// address.
	unspent  map[bourse.Outpoint]bourse.Unspent
	cold     map[uint32]map[bourse.Outpoint]bourse.Unspent
	holdings map[place]holding
	// pending are mined deposits that are not credited.
	pending map[bourse.DepositID]bourse.Deposit
	// gone are the deposits whose blocks left the chain, by what named them there.
	gone map[bourse.Outpoint]bourse.Deposit
	// counted are the deposits of the day.
	counted dayTotals
	nonces  map[uint32]uint64
}

// holding is a balance and its arrivals of the last deepest blocks, oldest first. A restart dates
// the whole balance to the next block, which is too late and therefore safe.
type holding struct {
	amount   bourse.Amount
	arrivals []arrival
}

// arrival is what a block added to a balance.
type arrival struct {
	amount bourse.Amount
	height uint64
}

// deepest bounds the arrivals that are kept, in blocks. A chain that changes deeper than that
// halts its network.
const deepest = 1000

// place is an asset at one of the exchange's addresses.
type place struct {
	address uint32
	asset   bourse.AssetID
}

// NewBoard returns an empty board.
func NewBoard() *Board {
	b := new(Board)
	b.clear()
	return b
}

func (b *Board) clear() {
	b.rules, b.last = 0, 0
	b.frozen = map[bourse.AccountID]bool{}
	b.networks = map[bourse.NetworkID]*network{}
	b.withdrawals = map[bourse.WalletID]*bourse.Withdrawal{}
	b.promised = map[bourse.WalletID]promise{}
	b.payers = map[bourse.WalletID]payer{}
}

// Reset empties the board; Restored events follow.
func (b *Board) Reset(func(string) ([]byte, bool)) error {
	b.lock()
	b.clear()
	return nil
}

// Begin opens a frame.
func (b *Board) Begin() {}

// End closes a frame and lets readers see it.
func (b *Board) End() {
	if b.locked {
		b.locked = false
		b.mu.Unlock()
	}
}

// lock takes mu until End. Most frames do not touch the board, and skip the lock.
func (b *Board) lock() {
	if !b.locked {
		b.mu.Lock()
		b.locked = true
	}
}

// Observe applies the events of a command.
func (b *Board) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Time/bourse.Day > b.now/bourse.Day {
		b.lock()
		b.now = cmd.Time
	}
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventGenesis:
			b.lock()
			b.rules = ev.Facts[e.At].Genesis.Rules
		case bourse.EventRules:
			b.lock()
			b.rules = ev.Facts[e.At].Rules
		case bourse.EventAccountCreated, bourse.EventAccountRestored:
			b.lock()
			b.last = max(b.last, ev.Facts[e.At].Account)
			b.foldFrozen(&ev.Facts[e.At])
		case bourse.EventAccountFrozen:
			b.lock()
			b.foldFrozen(&ev.Facts[e.At])
		case bourse.EventNetworkState:
			b.lock()
			b.foldState(&ev.Wallet.Networks[e.At])
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
		case bourse.EventDeposit, bourse.EventDepositRestored:
			b.lock()
			d := &ev.Wallet.Deposits[e.At]
			b.foldDeposit(d)
			b.network(d.Network).counted.fold(d)
		case bourse.EventNonce:
			b.lock()
			n := &ev.Wallet.Nonces[e.At]
			b.network(n.Network).nonces[n.Address] = n.Next
		default: // not about networks
		}
	}
}

func (b *Board) network(id bourse.NetworkID) *network {
	n := b.networks[id]
	if n == nil {
		n = &network{
			state:  bourse.NetworkState{Network: id},
			signed: map[bourse.TxHash]bourse.SignedTx{}, dropped: map[bourse.TxHash]bourse.SignedTx{},
			unspent: map[bourse.Outpoint]bourse.Unspent{}, cold: map[uint32]map[bourse.Outpoint]bourse.Unspent{}, holdings: map[place]holding{},
			pending: map[bourse.DepositID]bourse.Deposit{}, gone: map[bourse.Outpoint]bourse.Deposit{}, nonces: map[uint32]uint64{},
		}
		b.networks[id] = n
	}
	return n
}

func (b *Board) foldFrozen(f *bourse.Fact) {
	if f.On {
		b.frozen[f.Account] = true
	} else {
		delete(b.frozen, f.Account)
	}
}

func (b *Board) foldWithdrawal(w *bourse.Withdrawal) {
	if w.Tx == (bourse.TxHash{}) {
		delete(b.payers, w.ID)
	} else {
		b.payers[w.ID] = payer{w.Account, w.Tx}
	}
	b.foldPromise(w)
	if !w.Unsigned() && !w.Ending {
		delete(b.withdrawals, w.ID)
		return
	}
	open := *w
	b.withdrawals[w.ID] = &open
}

func (b *Board) foldSigned(s *bourse.SignedTx) {
	n := b.network(s.Network)
	delete(n.signed, s.Tx)
	delete(n.dropped, s.Tx)
	switch s.State {
	case bourse.SignedWaiting, bourse.SignedAccepted, bourse.SignedMined:
		n.signed[s.Tx] = *s
	case bourse.SignedDropped:
		n.dropped[s.Tx] = *s
	case bourse.SignedFinal:
		for id := range s.Payees {
			if b.payers[id].tx == s.Tx {
				delete(b.payers, id)
			}
		}
	}
}

func (b *Board) foldUnspent(u *bourse.Unspent) {
	n := b.network(u.Network)
	list := n.unspent
	if chain.IsCold(u.Address) {
		first := chain.FirstCold(u.Address)
		if list = n.cold[first]; list == nil {
			list = map[bourse.Outpoint]bourse.Unspent{}
			n.cold[first] = list
		}
	}
	if u.Gone {
		delete(list, u.Outpoint)
		return
	}
	list[u.Outpoint] = *u
}

func (b *Board) foldHolding(h *bourse.Holding) {
	n := b.network(h.Network)
	at := place{h.Address, h.Asset}
	if h.Amount.IsZero() {
		delete(n.holdings, at)
		return
	}
	n.holdings[at] = n.holdings[at].become(h.Amount, n.state.Tip.Height+1)
}

// become returns the holding after a change of its amount in a block.
func (h holding) become(amount bourse.Amount, height uint64) holding {
	added, rises := amount.Sub(h.amount)
	h.amount = amount
	if !rises || added.IsZero() {
		return h
	}

	h.arrivals = slices.DeleteFunc(h.arrivals, func(a arrival) bool { return a.height+deepest <= height })
	if last := len(h.arrivals) - 1; last >= 0 && h.arrivals[last].height == height {
		h.arrivals[last].amount = h.arrivals[last].amount.PlusOrMax(added)
	} else {
		h.arrivals = append(h.arrivals, arrival{added, height})
	}
	return h
}

// settled returns the part of the balance that no change of the chain of less than depth blocks
// takes back. What left lately was settled, so arrivals alone count.
func (h holding) settled(depth, tip uint64) bourse.Amount {
	var young bourse.Amount
	for _, a := range h.arrivals {
		if a.height+depth > tip+1 {
			young = young.PlusOrMax(a.amount)
		}
	}
	settled, _ := h.amount.Sub(young)
	return settled
}

// foldState sets a network's state. When blocks leave the chain, their arrivals count as those of
// the next block: some may come again, and a restart has dated others there.
func (b *Board) foldState(s *bourse.NetworkState) {
	n := b.network(s.Network)
	if next := s.Tip.Height + 1; next <= n.state.Tip.Height {
		for _, h := range n.holdings {
			for i := range h.arrivals {
				h.arrivals[i].height = min(h.arrivals[i].height, next)
			}
		}
	}
	n.state = *s
}

func (b *Board) foldDeposit(d *bourse.Deposit) {
	n := b.network(d.Network)
	if d.Mined && d.Status == bourse.WalletPending {
		n.pending[d.Number] = *d
	} else {
		delete(n.pending, d.Number)
	}
	if at := (bourse.Outpoint{Tx: d.Tx, Index: d.Index}); d.Mined {
		delete(n.gone, at)
	} else if d.From == 0 { // one inside of the exchange has no transaction
		n.gone[at] = *d
	}
}

// State returns the exchange's position in a network's chain.
func (b *Board) State(id bourse.NetworkID) bourse.NetworkState {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n := b.networks[id]; n != nil {
		return n.state
	}
	return bourse.NetworkState{Network: id}
}

// Accounts returns the highest account id.
func (b *Board) Accounts() uint32 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return uint32(b.last)
}

// Unsigned returns a network's withdrawals without a signature, oldest first. Withdrawals
// of frozen accounts are left out.
func (b *Board) Unsigned(id bourse.NetworkID) []bourse.Withdrawal {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.Withdrawal
	for _, w := range b.withdrawals {
		if w.Network == id && !w.Ending && !b.frozen[w.Account] {
			list = append(list, *w)
		}
	}
	slices.SortFunc(list, func(p, q bourse.Withdrawal) int { return cmp.Compare(p.ID, q.ID) })
	return list
}

// Asked reports whether the journal knows that the signer is asked for a withdrawal.
func (b *Board) Asked(id bourse.WalletID) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	w := b.withdrawals[id]
	return w != nil && w.AtSigner
}

// Ending returns a network's withdrawals that are to end and wait for the signer.
func (b *Board) Ending(id bourse.NetworkID) []bourse.WalletID {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.WalletID
	for _, w := range b.withdrawals {
		if w.Network == id && w.Ending {
			list = append(list, w.ID)
		}
	}
	slices.Sort(list)
	return list
}

// Signed returns a network's own transactions that are not final, ordered by sender and
// nonce.
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
		return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.Nonce, q.Nonce),
			cmp.Compare(p.Time, q.Time), p.Tx.Compare(q.Tx))
	})
	return list
}

// Unspent returns a network's own outputs that no transaction reserves, without those of cold storage.
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

// Reserved returns the outputs that one of the exchange's transactions reserves.
func (b *Board) Reserved(id bourse.NetworkID, tx bourse.TxHash) []bourse.Unspent {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []bourse.Unspent
	if n := b.networks[id]; n != nil && tx != (bourse.TxHash{}) {
		for _, u := range n.unspent {
			if u.By == tx {
				list = append(list, u)
			}
		}
	}
	return list
}

// Outputs returns the sums of the outputs that a network's payments may spend, by asset.
func (b *Board) Outputs(id bourse.NetworkID) map[bourse.AssetID]bourse.Amount {
	b.mu.RLock()
	defer b.mu.RUnlock()
	sums := map[bourse.AssetID]bourse.Amount{}
	if n := b.networks[id]; n != nil {
		addTo(sums, n.unspent)
	}
	return sums
}

func addTo(sums map[bourse.AssetID]bourse.Amount, outputs map[bourse.Outpoint]bourse.Unspent) {
	for _, u := range outputs {
		sums[u.Asset] = sums[u.Asset].PlusOrMax(u.Amount)
	}
}

// Holding is an address's balance, and the part of it that is settled.
type Holding struct {
	Address         uint32
	Asset           bourse.AssetID
	Amount, Settled bourse.Amount
}

// Holdings returns the balances of a network's own addresses, ordered by address. Money is settled
// when it has depth confirmations; deepest are enough.
func (b *Board) Holdings(id bourse.NetworkID, depth uint64) []Holding {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []Holding
	if n := b.networks[id]; n != nil {
		for at, h := range n.holdings {
			list = append(list, Holding{
				Address: at.address, Asset: at.asset, Amount: h.amount, Settled: h.settled(depth, n.state.Tip.Height),
			})
		}
	}
	slices.SortFunc(list, func(p, q Holding) int {
		return cmp.Or(cmp.Compare(p.Address, q.Address), cmp.Compare(p.Asset, q.Asset))
	})
	return list
}

// Young returns the sum of an asset's deposits to an address that have fewer
// confirmations than their target.
func (b *Board) Young(id bourse.NetworkID, address uint32, asset bourse.AssetID) (sum bourse.Amount) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return sum
	}
	for _, d := range n.pending {
		if d.Address == address && d.Asset == asset && d.Confirms(n.state.Tip.Height) < uint64(d.Target) {
			sum = sum.Plus(d.Amount)
		}
	}
	return sum
}

// Nonce returns an address's next nonce, and in ascending order the lower nonces of
// dropped transactions without a successor.
func (b *Board) Nonce(id bourse.NetworkID, address uint32) (next uint64, gaps []uint64) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return 0, nil
	}
	for _, s := range n.dropped {
		below := s.From == address && s.Nonce < n.nonces[address] // a stolen exchange may have signed far ahead
		if below && !n.uses(address, s.Nonce) && !slices.Contains(gaps, s.Nonce) {
			gaps = append(gaps, s.Nonce)
		}
	}
	slices.Sort(gaps)
	return n.nonces[address], gaps
}

// Released returns the withdrawals whose dropped transactions have a nonce of an address, in ascending order.
func (b *Board) Released(id bourse.NetworkID, address uint32, nonce uint64) []bourse.WalletID {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	var list []bourse.WalletID
	for _, s := range n.dropped {
		if s.From == address && s.Nonce == nonce && s.Wallet != 0 && !slices.Contains(list, s.Wallet) {
			list = append(list, s.Wallet)
		}
	}
	slices.Sort(list)
	return list
}

// Dropped returns the dropped transactions that have a nonce of an address, ordered by hash.
func (b *Board) Dropped(id bourse.NetworkID, address uint32, nonce uint64) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	return n.droppedThat(func(s *bourse.SignedTx) bool { return s.From == address && s.Nonce == nonce })
}

// DroppedOf returns the dropped transactions of withdrawals, ordered by hash.
func (b *Board) DroppedOf(id bourse.NetworkID, to ...bourse.WalletID) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	return n.droppedThat(func(s *bourse.SignedTx) bool { return payees(to).of(s) })
}

// DroppedFrom returns the dropped transactions that spend one of the outputs, ordered by hash. Those that a mined
// transaction excludes are left out.
func (b *Board) DroppedFrom(id bourse.NetworkID, inputs []chain.Input) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	return n.droppedThat(func(s *bourse.SignedTx) bool {
		spends := slices.ContainsFunc(inputs, func(in chain.Input) bool { return slices.Contains(s.Inputs, in.Outpoint) })
		return spends && !n.decided(s, 0)
	})
}

func (n *network) droppedThat(pass func(*bourse.SignedTx) bool) (list []bourse.SignedTx) {
	for _, s := range n.dropped {
		if pass(&s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(p, q bourse.SignedTx) int { return p.Tx.Compare(q.Tx) })
	return list
}

func (n *network) uses(address uint32, nonce uint64) bool {
	for _, s := range n.signed {
		if s.From == address && s.Nonce == nonce {
			return true
		}
	}
	return false
}

// GivenUp returns the dropped or failed transactions of unsigned withdrawals that could
// still be mined. deep is the number of confirmations after which a block of an asset's
// network stays.
func (b *Board) GivenUp(id bourse.NetworkID, deep func(bourse.AssetID) uint64) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	var list []bourse.SignedTx
	// Transactions that failed in a block are in signed.
	for _, txs := range [...]map[bourse.TxHash]bourse.SignedTx{n.dropped, n.signed} {
		for _, s := range txs {
			for id := range s.Payees {
				if w := b.withdrawals[id]; w != nil && !n.decided(&s, deep(w.Asset)) {
					list = append(list, s)
					break
				}
			}
		}
	}
	return list
}

// decided reports whether a block with deep confirmations holds the transaction or one
// that excludes it.
func (n *network) decided(s *bourse.SignedTx, deep uint64) bool {
	for _, other := range n.signed {
		if other.State == bourse.SignedMined && other.Block.Height+deep <= n.state.Tip.Height+1 && other.Rivals(s) {
			return true
		}
	}
	return false
}
