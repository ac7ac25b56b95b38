package wallet

import (
	"log/slog"

	"github.com/bourse-exchange/bourse"
)

// dayTotals are the deposits of a UTC day that count for their customers, by asset, without those that wait beyond the bound
// or that an operator assigned or admitted.
type dayTotals struct {
	day    bourse.Time
	totals map[bourse.AssetID]bourse.Amount
	// seen is the highest number of a deposit so far: each is counted once.
	seen bourse.DepositID
}

// fold counts a deposit when it is first seen. Those of a snapshot come once each, ordered by number.
func (t *dayTotals) fold(d *bourse.Deposit) {
	known := d.Number <= t.seen
	t.seen = max(t.seen, d.Number)
	if known || d.Account == 0 || d.OverAlone || d.Admitted || d.From != 0 {
		return
	}
	day := d.Created / bourse.Day
	if t.totals == nil || day > t.day {
		t.day, t.totals = day, map[bourse.AssetID]bourse.Amount{}
	}
	if day == t.day {
		t.totals[d.Asset] = t.totals[d.Asset].PlusOrMax(d.Amount)
	}
}

// Rules returns the version of the rules.
func (b *Board) Rules() uint32 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.rules
}

// DayTotal returns the deposits of an asset on a network that counted for their customers on the journal's UTC day. After
// a start it has those that the journal's state keeps: of the last 1,000 blocks, and all that are not credited.
func (b *Board) DayTotal(id bourse.NetworkID, asset bourse.AssetID) bourse.Amount {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil || n.counted.day < b.now/bourse.Day {
		return bourse.Amount{}
	}
	return n.counted.totals[asset]
}

// believe marks the inflows of a block's parts beyond what one node alone may credit: they wait for an operator. Under rules
// before bourse.RulesOverAlone it takes their owners from them, and they are parked. A smaller one that still fits passes. A
// deposit that is known stays as it is, and what the exchange moves between its own addresses is none.
func (w *Worker) believe(parts [][]bourse.TxEffect) {
	if w.Alone == nil {
		return
	}
	used := map[bourse.AssetID]bourse.Amount{}
	for _, txs := range parts {
		for i := range txs {
			if w.Board.Moves(w.ID, txs[i].Hash) {
				continue
			}
			for j := range txs[i].Inflows {
				w.believeIn(txs[i].Hash, &txs[i].Inflows[j], used)
			}
		}
	}
}

// believeIn marks an inflow that does not fit on top of the day's used amounts, or adds it to them.
func (w *Worker) believeIn(tx bourse.TxHash, in *bourse.Inflow, used map[bourse.AssetID]bourse.Amount) {
	if in.Owner == 0 || in.Owner == bourse.AccountTreasury || w.Board.Gone(w.ID, bourse.Outpoint{Tx: tx, Index: in.Index}) {
		return
	}
	sum, known := used[in.Asset]
	if !known {
		sum = w.Board.DayTotal(w.ID, in.Asset)
	}
	sum, fits := sum.Add(in.Amount)
	if fits && !w.Alone[in.Asset].Less(sum) {
		used[in.Asset] = sum
		return
	}
	w.Log.Warn("a deposit waits for an operator: one node alone credits no more of its coin today",
		slog.Int("network", int(w.ID)), slog.String("tx", w.Network.FormatHash(tx)),
		slog.Uint64("account", uint64(in.Owner)), slog.String("amount", in.Amount.Format(0)))
	if w.Board.Rules() < bourse.RulesOverAlone {
		in.Owner = 0
	} else {
		in.OverAlone = true
	}
}
