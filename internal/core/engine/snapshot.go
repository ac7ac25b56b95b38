package engine

import (
	"crypto/sha256"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// stateVersion is that of the canonical form.
const stateVersion = 7

// Snapshot writes the whole state in its canonical form: emit receives the
// bytes in order and must not keep them. The form depends on what the state
// means, never on how memory came to hold it.
func (e *Engine) Snapshot(emit func([]byte)) {
	w := state.NewWriter(emit)
	w.Uint32(stateVersion)
	w.Uint64(uint64(e.seq))
	w.Uint64(uint64(e.now))
	w.Bool(e.genesis != nil)
	if e.genesis != nil {
		w.Bytes(e.genesis.Exchange[:])
		w.Bool(e.genesis.Sandbox)
		w.Uint32(e.genesis.Rules)
		w.Uint32(e.rules)
	}
	e.writeCatalogue(w)
	e.writeAccounts(w)
	e.writeLedger(w)
	e.writeOrders(w)
	e.writeNames(w)
	e.custody.Write(w)
	w.Flush()
}

// StateHash returns the SHA-256 of the canonical form.
func (e *Engine) StateHash() [32]byte {
	h := sha256.New()
	e.Snapshot(func(b []byte) { h.Write(b) })
	return [32]byte(h.Sum(nil))
}

func (e *Engine) writeCatalogue(w *state.Writer) {
	w.Uint64(uint64(len(e.assets) - 1))
	for _, a := range e.assets[1:] {
		w.Text(string(a.Symbol))
		w.Text(a.Name)
		w.Uint8(a.Scale)
		w.Bool(a.Enabled)
		w.Bool(a.Experimental)
	}
	w.Uint64(uint64(len(e.networks) - 1))
	for _, n := range e.networks[1:] {
		w.Text(string(n.Symbol))
		w.Text(n.Name)
		w.Text(n.MemoName)
		w.Bool(n.Enabled)
		w.Bool(n.Experimental)
	}
	w.Uint64(uint64(len(e.networkAssets)))
	for _, n := range e.networkAssets {
		w.Uint16(uint16(n.Asset))
		w.Uint16(uint16(n.Network))
		w.Uint8(n.Precision)
		w.Uint32(n.Confirms)
		w.Text(n.Contract)
		w.Amount(n.MinDeposit)
		w.Amount(n.MinWithdrawal)
		w.Amount(n.FeeMin)
		w.Amount(n.FeeMax)
		w.Bool(n.Enabled)
	}
	w.Uint64(uint64(len(e.markets) - 1))
	for _, m := range e.markets[1:] {
		writeMarket(w, m)
	}
}

func writeMarket(w *state.Writer, m *market) {
	w.Uint16(uint16(m.Base))
	w.Uint16(uint16(m.Quote))
	w.Uint8(m.BasePrecision)
	w.Uint8(m.QuotePrecision)
	w.Uint8(uint8(m.State))
	w.Bool(m.Enabled)
	w.Uint8(uint8(m.SelfTrade))
	w.Amount(m.MinOrder)
	w.Uint64(uint64(m.InitialPrice))
	w.Uint64(uint64(m.MaxPrice))
	w.Uint32(uint32(m.Maker))
	w.Uint32(uint32(m.Taker))
	w.Uint32(uint32(m.Collar))
	w.Uint32(uint32(m.Band))
	w.Uint64(uint64(m.last))
	w.Uint64(m.trades)
	w.Uint64(m.levelSeq)
}

func (e *Engine) writeAccounts(w *state.Writer) {
	w.Uint64(uint64(e.lastAccount))
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		a := e.accounts.At(uint32(id))
		w.Bytes(a.token[:])
		w.Bytes(a.person[:])
		w.Bool(a.frozen)
		w.Uint64(uint64(a.held))
		w.Bool(a.ownFees)
		w.Uint8(a.feeLevel)
		w.Uint32(uint32(a.maker))
		w.Uint32(uint32(a.taker))
		w.Uint64(a.orders)
		w.Uint64(a.fills)
		w.Uint64(a.movements)
	}
	writeKeys(w, &e.keys)
	writeKeys(w, &e.sessions)
}

func writeKeys(w *state.Writer, set *keys) {
	w.Uint64(uint64(set.last))
	w.Uint64(uint64(len(set.byID)))
	for _, k := range set.sorted() {
		w.Uint64(uint64(k.id))
		w.Uint32(uint32(k.account))
		w.Bytes(k.token[:])
		w.Bytes(k.Digest[:])
		w.Uint64(uint64(k.Expires))
	}
}

func (e *Engine) writeLedger(w *state.Writer) {
	for _, a := range e.assets[1:] {
		own := e.ledger.Own(a.ID)
		w.Uint64(uint64(len(own)))
		for _, o := range own {
			w.Uint32(uint32(o.Account))
			w.Amount(o.Owes)
			w.Amount(o.Has)
		}
		for b := range e.ledger.Customers(a.ID) {
			w.Uint32(uint32(b.Account))
			w.Amount(b.Available)
			w.Amount(b.Held)
		}
		w.Uint32(0) // no account: the end
	}
}

// writeOrders writes all open orders by id, then, because a queue's order is
// not that of the ids, the ids of each queue that trades depend on.
func (e *Engine) writeOrders(w *state.Writer) {
	w.Uint64(uint64(e.lastOrder))
	w.Uint64(uint64(e.arena.Len()))
	for s := range e.arena.All {
		e.writeOrder(w, s)
	}
	for _, m := range e.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			for _, level := range m.book.Side(side).Levels {
				e.writeQueue(w, level.Head)
			}
			w.Uint64(0)
		}
		e.writeQueue(w, m.book.Queued())
		w.Uint64(0)
	}
	w.Uint64(uint64(len(e.sweeps)))
	for _, s := range e.sweeps {
		w.Uint32(uint32(s.account))
		w.Uint16(uint16(s.market))
		w.Uint64(uint64(s.upTo))
	}
}

func (e *Engine) writeQueue(w *state.Writer, s book.Slot) {
	for ; s != 0; s = e.arena.Next(s) {
		w.Uint64(uint64(e.arena.At(s).ID))
	}
}

func (e *Engine) writeOrder(w *state.Writer, s book.Slot) {
	o := e.arena.At(s)
	w.Uint64(uint64(o.ID))
	w.Uint32(uint32(o.Account))
	w.Uint16(uint16(o.Market))
	w.Uint8(uint8(o.Side))
	w.Uint8(uint8(o.State))
	w.Uint8(uint8(o.Type))
	w.Uint8(uint8(o.TIF))
	w.Uint8(uint8(o.SelfTrade))
	w.Bool(o.PostOnly)
	w.Bool(o.Triggered)
	w.Bool(o.Named)
	w.Uint64(uint64(o.Price))
	w.Uint64(uint64(e.stop(s, o)))
	w.Uint64(uint64(o.Lots))
	w.Uint64(uint64(o.Filled))
	w.Uint64(uint64(o.Time))
	w.Uint64(o.Ordinal)
}

// writeNames writes the client ids of open orders, by order, then those that
// ended, oldest first.
func (e *Engine) writeNames(w *state.Writer) {
	w.Uint64(uint64(len(e.names.byOrder)))
	for s := range e.arena.All {
		if o := e.arena.At(s); o.Named {
			writeName(w, &e.names.entries[e.names.byOrder[o.ID]])
		}
	}
	w.Uint64(uint64(len(e.names.byID) - len(e.names.byOrder)))
	for at := e.names.oldest; at != 0; at = e.names.entries[at].newer {
		writeName(w, &e.names.entries[at])
		w.Uint64(uint64(e.names.entries[at].ended))
	}
}

func writeName(w *state.Writer, n *name) {
	p := &n.place
	w.Uint32(uint32(n.account))
	w.Uint16(uint16(p.Market))
	w.Uint8(uint8(p.Side))
	w.Uint8(uint8(p.Type))
	w.Uint8(uint8(p.TIF))
	w.Uint8(uint8(p.SelfTrade))
	w.Bool(p.PostOnly)
	w.Uint64(uint64(p.Price))
	w.Uint64(uint64(p.Stop))
	w.Uint64(uint64(p.Lots))
	w.Amount(p.Total)
	w.Bytes(p.ClientID[:])
	w.Uint8(uint8(n.outcome.Reason))
	w.Uint8(uint8(n.outcome.Status))
	w.Uint64(n.outcome.ID)
	w.Uint64(uint64(n.outcome.Filled))
}
