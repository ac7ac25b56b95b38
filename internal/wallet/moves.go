package wallet

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// GivenUpMoves returns the dropped sweeps and top-ups whose nonce no other transaction has, ordered by sender and
// nonce: of each nonce the newest. They can be mined still, and the network's nodes may have them.
func (b *Board) GivenUpMoves(id bourse.NetworkID) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	list := n.droppedThat(func(s *bourse.SignedTx) bool {
		return s.Kind != bourse.SignedWithdrawal && s.Nonce < n.nonces[s.From] && !n.uses(s.From, s.Nonce)
	})
	slices.SortFunc(list, func(p, q bourse.SignedTx) int {
		return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.Nonce, q.Nonce),
			cmp.Compare(q.Time, p.Time), p.Tx.Compare(q.Tx))
	})
	return slices.CompactFunc(list, func(p, q bourse.SignedTx) bool { return p.From == q.From && p.Nonce == q.Nonce })
}

// Moves reports whether a transaction of the exchange moves money between its own addresses.
func (b *Board) Moves(id bourse.NetworkID, tx bourse.TxHash) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return false
	}
	s, known := n.signed[tx]
	if !known {
		s, known = n.dropped[tx]
	}
	return known && s.Kind != bourse.SignedWithdrawal
}

// ExcludedMoves returns the waiting sweeps, top-ups and moves to and from cold storage whose nonce or output a mined
// transaction has, ordered by hash.
func (b *Board) ExcludedMoves(id bourse.NetworkID) []bourse.TxHash {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}

	type slot struct {
		from  uint32
		nonce uint64
	}
	var list []bourse.TxHash
	moves := map[slot]bourse.TxHash{}
	for tx, s := range n.signed {
		switch {
		case s.Kind == bourse.SignedWithdrawal || s.State == bourse.SignedMined:
		case s.Kind == bourse.SignedSweep || s.Kind == bourse.SignedTopUp:
			moves[slot{s.From, s.Nonce}] = tx
		case n.decided(&s, 1):
			list = append(list, tx)
		}
	}
	if len(moves) == 0 {
		slices.SortFunc(list, bourse.TxHash.Compare)
		return list
	}

	for _, s := range n.signed {
		if tx, waits := moves[slot{s.From, s.Nonce}]; waits && s.State == bourse.SignedMined {
			list = append(list, tx)
		}
	}
	slices.SortFunc(list, bourse.TxHash.Compare)
	return list
}

// dropExcluded gives up sweeps, top-ups and moves to and from cold storage that can never be mined, because a block has
// the transaction of a released withdrawal with their nonce or output. While a top-up waits, nothing is swept.
func (w *Worker) dropExcluded(ctx context.Context) error {
	tip := w.Board.State(w.ID).Tip
	for _, tx := range w.Board.ExcludedMoves(w.ID) {
		if w.undropped == tip {
			continue
		}
		reason, err := w.submit(ctx, bourse.CommandReleaseWithdrawal, &bourse.WalletCommand{Network: w.ID, Tx: tx})
		if err != nil {
			return err
		}
		if reason != 0 {
			w.undropped = tip
			w.complain(overdueTx(tx), "a transaction is not given up", reason.String(), slog.String("tx", w.Network.FormatHash(tx)))
		}
	}
	return nil
}

// isTopUp reports whether a transaction is a top-up.
func isTopUp(s bourse.SignedTx) bool { return s.Kind == bourse.SignedTopUp }

// promised reports whether a nonce of the hot wallet is that of a top-up that was given up. Only another top-up may
// take it: if the first one is mined after all, a withdrawal in its place would be signed, and never paid.
func (w *Worker) promised(from uint32, nonce uint64) bool {
	for _, s := range w.Board.Dropped(w.ID, from, nonce) {
		if isTopUp(s) {
			w.complain(s.Tx, "payments wait for a top-up whose nonce comes first", "it was given up",
				slog.String("tx", w.Network.FormatHash(s.Tx)))
			return true
		}
	}
	return false
}

// topUpAgain signs a top-up in the place of the first given up one, with the same payment. It reports whether it did.
func (w *Worker) topUpAgain(ctx context.Context, moves []bourse.SignedTx) (bool, error) {
	for _, s := range moves {
		if !isTopUp(s) {
			continue
		}
		mined, err := w.nonceOnChain(ctx, s.From)
		if err != nil || mined > s.Nonce {
			return false, err // a block that is not read yet has one of them
		}
		d, err := w.Network.Decode(s.Raw)
		if err == nil && len(d.Pays) != 1 {
			err = errEntry
		}
		if err != nil {
			w.complain(s.Tx, "a given up transaction cannot be outbid", err.Error())
			continue
		}
		to, _ := w.Network.Owner(d.Pays[0].To.Address, "")
		p := chain.Payment{
			Kind: bourse.SignedTopUp, Coin: d.Pays[0].Coin, Amount: d.Pays[0].Amount, To: d.Pays[0].To,
			From: s.From, Nonce: s.Nonce,
		}
		fees, ready, err := w.outbid(ctx, &p, w.Board.Dropped(w.ID, s.From, s.Nonce), nil)
		if !ready || err != nil {
			return false, err
		}
		return w.carryOut(ctx, &p, fees, nil, to.At)
	}
	return false, nil
}

// offerMoves offers the given up moves, as long as nothing is signed in their place: the signer may
// refuse that for an hour, and all that has a later nonce waits for them.
func (w *Worker) offerMoves(ctx context.Context, moves []bourse.SignedTx) error {
	for _, s := range moves {
		if _, err := w.Network.Broadcast(ctx, s.Raw); err != nil {
			return err
		}
	}
	return nil
}

// dearestSweep bounds the cost of a token's sweep that is outbid, in multiples of what the first one with its nonce
// could cost. Adapters give the cost of a usual transfer, which is up to twice that of the cheapest tokens, so the
// price may rise to twice the first one at least.
const dearestSweep = 4

var errPatient = fmt.Errorf("it could cost more than %d times what the first sweep could", dearestSweep)

// bears fails if another sweep of a token would cost more than dearestSweep times the cheapest of those before it.
// Nobody waits for a sweep, and a token's price is not known here: fees that rise further are waited out. [worthwhile]
// bounds what a sweep of the native coin costs.
func (w *Worker) bears(coin chain.CoinID, cost bourse.Amount, before []bourse.SignedTx) error {
	if coin == w.Network.Shape().Native {
		return nil
	}
	for i := range before {
		d, err := w.Network.Decode(before[i].Raw)
		if err != nil {
			return err
		}
		if most, fits := d.Cost.Mul(dearestSweep); !fits || most.Less(cost) {
			return errPatient
		}
	}
	return nil
}

// spares fails unless the address of a sweep can pay the cost of another one, or the hot wallet can top it up.
func (w *Worker) spares(from uint32, coin chain.CoinID, cost bourse.Amount) error {
	native := w.coins.native
	least, fits := native.ledger(cost)
	if coin == native.ID && fits {
		least, fits = least.Mul(worthwhile)
	}
	if !fits {
		return chain.ErrOdd
	}

	for _, h := range w.Board.Holdings(w.ID, w.depth()) {
		if h.Address == from && h.Asset == native.asset.ID && !h.Settled.Less(least) {
			return nil
		}
	}
	if coin == native.ID {
		return chain.ErrFunds
	}
	// The hot wallet sends the address the cost of the sweep, and pays as much for sending it.
	twice, fits := cost.Mul(2)
	if !fits {
		return chain.ErrOdd
	}
	return w.affords(twice, bourse.Amount{})
}
