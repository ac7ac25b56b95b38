package history_test

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/view"
)

// busyLive is a view with an account that has many movements.
type busyLive struct {
	*view.View
	count uint64
}

func (l busyLive) Movements(bourse.AccountID) uint64 { return l.count }

// spans is a store that remembers the ordinals that it was asked for.
type spans struct {
	*historytest.Memory
	asked []history.Span
}

func (s *spans) MovementsIn(
	ctx context.Context, account bourse.AccountID, filter history.MovementFilter, w history.Window,
) ([]history.Movement, error) {
	s.asked = append(s.asked, w.Span)
	return s.Memory.MovementsIn(ctx, account, filter, w)
}

// TestCreditedReadsOnce looks for deposits of an account that has many: each query begins below the rows of the last one, so
// that the time is proportional to the account's deposits.
func TestCreditedReadsOnce(t *testing.T) {
	const count = 3500
	batch := history.Batch{From: 1, To: 1}
	for ordinal := uint64(1); ordinal <= count; ordinal++ {
		batch.Movements = append(batch.Movements, history.Movement{
			Seq: 1, Account: 1, Ordinal: ordinal, ID: bourse.WalletID(ordinal), Kind: history.MovementDeposit, Network: 1, Asset: 1,
			Status: bourse.WalletDone, Tx: bourse.TxHash{byte(ordinal), byte(ordinal >> 8)},
		})
	}
	store := &spans{Memory: historytest.NewMemory()}
	if err := store.Write(context.Background(), &batch); err != nil {
		t.Fatal(err)
	}
	reader := history.NewReader(store, history.NewTail(1), busyLive{view.New(), count})
	oldest, unknown := bourse.TxHash{1, 0}, bourse.TxHash{0xff, 0xff}
	got, err := reader.Credited(context.Background(), 1, 1, 1, map[bourse.TxHash]bool{oldest: true, unknown: true})
	if err != nil || !got[oldest] || got[unknown] {
		t.Errorf("%v, %v", got, err)
	}
	last := uint64(count)
	for _, span := range store.asked {
		if span.Last > last {
			t.Errorf("ordinals up to %d are read again, and %d are left", span.Last, last)
		}
		last = span.Last - min(span.Last, 1000)
	}
}
