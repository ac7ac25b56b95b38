package wallet

import (
	"context"
	"log/slog"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestReasonsAreBounded holds up more withdrawals, one after the other, than reasons are remembered.
func TestReasonsAreBounded(t *testing.T) {
	logged := 0
	w := NewWorker(Options{Log: slog.New(counter{slog.DiscardHandler, &logged})})
	for id := range bourse.WalletID(3 * maxSaid) {
		w.complain(id, "a payment cannot be made", "refused")
		w.complain(id, "a payment cannot be made", "refused")
		if len(w.said) > maxSaid {
			t.Fatalf("it remembers %d", len(w.said))
		}
	}
	if want := 3 * maxSaid; logged != want {
		t.Errorf("it logged %d lines, not %d", logged, want)
	}
}

// counter counts log lines.
type counter struct {
	slog.Handler
	lines *int
}

func (c counter) Enabled(context.Context, slog.Level) bool { return true }

func (c counter) Handle(context.Context, slog.Record) error {
	*c.lines++
	return nil
}
