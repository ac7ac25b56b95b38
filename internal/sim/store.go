package sim

import (
	"context"
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
)

// errHistory is the error of a failing history store.
var errHistory = errors.New("the history store does not answer")

// store is the history store: batches are atomic, and the last ones may be lost.
type store struct {
	*historytest.Memory
	world   *world
	batches []history.Batch
}

var _ history.Store = (*store)(nil)

func newStore(w *world) *store { return &store{Memory: historytest.NewMemory(), world: w} }

// Write adds a batch, unless the store fails.
func (s *store) Write(ctx context.Context, b *history.Batch) error {
	if s.world.faults.historyDown(s.world.steps) {
		s.world.count(HistoryFailed)
		return errHistory
	}
	if err := s.Memory.Write(ctx, b); err != nil {
		return err
	}
	kept := *b
	kept.Orders, kept.Trades, kept.Fills = slices.Clone(b.Orders), slices.Clone(b.Trades), slices.Clone(b.Fills)
	kept.Transfers, kept.Notes = slices.Clone(b.Transfers), slices.Clone(b.Notes)
	kept.Movements, kept.Bulletins = slices.Clone(b.Movements), slices.Clone(b.Bulletins)
	s.batches = append(s.batches, kept)
	return nil
}

// without returns the store before its last n batches.
func (s *store) without(n int) *store {
	before := newStore(s.world)
	before.batches = slices.Clone(s.batches[:len(s.batches)-n])
	for i := range before.batches {
		want(before.Memory.Write(s.world.ctx, &before.batches[i]), "history going back")
	}
	return before
}
