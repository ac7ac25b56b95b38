package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// WalletTransactions returns an account's deposits and withdrawals that pass a filter,
// open ones included, newest first, after skipping skip of them.
func (r *Reader) WalletTransactions(
	ctx context.Context, account bourse.AccountID, filter MovementFilter, skip, limit int,
) ([]Movement, error) {
	count := r.live.Movements(account)
	span := page(count, skip, limit)
	switch {
	case span.empty():
		return nil, nil
	case filter == (MovementFilter{}):
		return r.movementsSpan(ctx, account, span)
	default:
		all := Span{First: 1, Last: count}
		return r.movementsIn(ctx, account, filter, Window{Span: all, Skip: skip, Limit: limit})
	}
}

// OpenTransactions returns an account's open deposits and withdrawals with lower ordinals
// than a bound, newest first. Canceled deposits are among them: they may be mined again.
func (r *Reader) OpenTransactions(account bourse.AccountID, below uint64) []Movement {
	deposits, withdrawals := r.live.OpenMovements(account, 1, below-1)
	list := make([]Movement, 0, len(deposits)+len(withdrawals))
	for i := range deposits {
		list = append(list, OfDeposit(0, &deposits[i]))
	}
	for i := range withdrawals {
		list = append(list, OfWithdrawal(0, &withdrawals[i]))
	}
	slices.SortFunc(list, newestMovement)
	return list
}

// WalletTransaction returns a deposit or withdrawal of an account, open or over;
// false if there is none.
func (r *Reader) WalletTransaction(
	ctx context.Context, account bourse.AccountID, id bourse.WalletID,
) (Movement, bool, error) {
	deposit, withdrawal := r.live.OpenMovement(account, id)
	g := r.tail.glimpse()
	m, found := g.movement(account, id)
	switch {
	case found:
		return m, true, nil
	case deposit != nil:
		return OfDeposit(0, deposit), true, nil
	case withdrawal != nil:
		return OfWithdrawal(0, withdrawal), true, nil
	}
	if err := r.reach(ctx, g.begin); err != nil {
		return Movement{}, false, err
	}
	m, found, err := r.store.Movement(ctx, account, id)
	return m, found, r.told(err)
}

// Issued reports whether any account has, or had, a deposit or withdrawal with an id.
func (r *Reader) Issued(ctx context.Context, id bourse.WalletID) (bool, error) {
	if id <= r.live.LastMovement() {
		return id > 0, nil
	}
	if err := r.reach(ctx, r.tail.glimpse().begin); err != nil {
		return false, err
	}
	return r.store.HasMovement(ctx, id)
}

// movement returns the latest row of a movement.
func (g *glimpse) movement(account bourse.AccountID, id bourse.WalletID) (Movement, bool) {
	for _, c := range slices.Backward(g.chunks) {
		for _, e := range slices.Backward(c.find(movementsByAccount, uint64(account), Span{0, ^uint64(0)})) {
			if m := &c.Movements[e.at]; m.ID == id {
				return *m, true
			}
		}
	}
	return Movement{}, false
}

// movementsSpan returns the movements of a span.
func (r *Reader) movementsSpan(ctx context.Context, account bourse.AccountID, span Span) ([]Movement, error) {
	if span.empty() {
		return nil, nil
	}

	// Each ordinal has its slot; a later row replaces an earlier one.
	slots := make([]Movement, span.Last-span.First+1)
	g := r.young(account, span, func(m Movement) { slots[m.Ordinal-span.First] = m })
	missing := span

	for missing.First <= missing.Last && slots[missing.First-span.First].ID != 0 {
		missing.First++
	}
	for missing.First <= missing.Last && slots[missing.Last-span.First].ID != 0 {
		missing.Last--
	}

	if !missing.empty() {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
		stored, err := r.store.Movements(ctx, account, missing)
		if err != nil {
			return nil, r.told(err)
		}
		for i := range stored {
			if slot := &slots[stored[i].Ordinal-span.First]; stored[i].Seq > slot.Seq {
				*slot = stored[i]
			}
		}
	}

	slots = slices.DeleteFunc(slots, func(m Movement) bool { return m.ID == 0 })
	slices.Reverse(slots)
	return slots, nil
}

// young hands the movements of a span in the view and in the tail to put, a later row of
// an ordinal after an earlier one. It returns the glimpse that it used.
func (r *Reader) young(account bourse.AccountID, span Span, put func(Movement)) *glimpse {
	deposits, withdrawals := r.live.OpenMovements(account, span.First, span.Last)
	for i := range deposits {
		put(OfDeposit(0, &deposits[i]))
	}
	for i := range withdrawals {
		put(OfWithdrawal(0, &withdrawals[i]))
	}
	g := r.tail.glimpse()
	for _, c := range g.chunks {
		for _, e := range c.find(movementsByAccount, uint64(account), Span{0, ^uint64(0)}) {
			if m := &c.Movements[e.at]; m.Ordinal >= span.First && m.Ordinal <= span.Last {
				put(*m)
			}
		}
	}
	return g
}

// readTogether is the number of movements that are read together while rows are skipped:
// memory is bounded, whatever the offset.
const readTogether = 1000

// movementsIn returns movements that pass a filter. It walks down the ordinals, because
// the store may have a young movement as well, in an earlier state that passes the
// filter: rows are merged before any is skipped.
func (r *Reader) movementsIn(
	ctx context.Context, account bourse.AccountID, filter MovementFilter, w Window,
) ([]Movement, error) {
	latest := map[uint64]Movement{}
	g := r.young(account, w.Span, func(m Movement) { latest[m.Ordinal] = m })
	inStore := filter.Of == 0 || filter.Of.stored()
	if inStore {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
	}

	var list []Movement
	for !w.empty() && len(list) < w.Limit {
		var stored []Movement
		if inStore {
			var err error
			ask := Window{Span: w.Span, Limit: readTogether}
			if stored, err = r.store.MovementsIn(ctx, account, filter, ask); err != nil {
				return nil, r.told(err)
			}
		}

		low := w.First // the lowest ordinal whose row is here, if there is one
		if len(stored) == readTogether {
			low = stored[readTogether-1].Ordinal
		}
		rows := passing(filter, Span{First: low, Last: w.Last}, latest, stored)
		list = append(list, cut(rows, w.Skip, w.Limit-len(list))...)
		w.Skip, w.Last = max(0, w.Skip-len(rows)), low-1
	}
	return list, nil
}

// passing returns the latest rows of a span's movements, of young and stored ones, that
// pass a filter, newest first.
func passing(filter MovementFilter, span Span, young map[uint64]Movement, stored []Movement) []Movement {
	latest := map[uint64]Movement{}
	for ordinal, m := range young {
		if span.has(ordinal) {
			latest[ordinal] = m
		}
	}
	for i := range stored {
		if m := &stored[i]; m.Seq > latest[m.Ordinal].Seq {
			latest[m.Ordinal] = *m
		}
	}

	var list []Movement
	for _, m := range latest {
		if filter.Passes(&m) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, newestMovement)
	return list
}

// newestMovement compares by descending ordinal.
func newestMovement(a, b Movement) int { return cmp.Compare(b.Ordinal, a.Ordinal) }

// Credited returns those of some transactions on a network that brought an account a deposit of an asset that was credited.
// It reads each of the account's movements once.
func (r *Reader) Credited(
	ctx context.Context, account bourse.AccountID, network bourse.NetworkID, asset bourse.AssetID, txs map[bourse.TxHash]bool,
) (map[bourse.TxHash]bool, error) {
	filter := MovementFilter{Network: network, Asset: asset, Of: MovementSet(0).With(MovementDeposit, bourse.WalletDone)}
	credited := map[bourse.TxHash]bool{}
	rest := Span{First: 1, Last: r.live.Movements(account)}
	for !rest.empty() {
		list, err := r.movementsIn(ctx, account, filter, Window{Span: rest, Limit: readTogether})
		if err != nil || len(list) == 0 {
			return credited, err
		}
		for i := range list {
			if txs[list[i].Tx] {
				credited[list[i].Tx] = true
			}
		}
		rest.Last = list[len(list)-1].Ordinal - 1
	}
	return credited, nil
}
