package history_test

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// BenchmarkTail measures what a trade that fills two orders costs on the engine's
// goroutine: five rows.
func BenchmarkTail(b *testing.B) {
	var ev bourse.Events
	for id := range bourse.OrderID(2) {
		o := ev.AddOrder(bourse.EventOrderClosed)
		*o = bourse.Order{ID: id + 1, Account: bourse.AccountID(id + 1), Status: bourse.Filled, Filled: 1}
	}
	tr := ev.AddTrade()
	*tr = bourse.Trade{Market: 1, Price: 1, Lots: 1, Maker: bourse.Fill{Account: 1}, Taker: bourse.Fill{Account: 2}}
	tail := history.NewTail(200_000)
	cmd := bourse.Command{Kind: bourse.CommandPlace}
	b.ReportAllocs()
	for b.Loop() {
		cmd.Seq++
		tr.Number++
		tail.Begin()
		tail.Observe(&cmd, &ev)
		tail.End()
	}
}

// BenchmarkPage measures pages from a tail of 200,000 rows that four busy accounts
// share, none of which is stored.
func BenchmarkPage(b *testing.B) {
	r := newRig(1, 1<<30)
	for n := 0; n < 200_000; {
		before := r.behind
		r.frame(r.some(100)...)
		n += r.behind[len(before)].Rows()
	}
	ctx := context.Background()
	minutes := &history.CandleQuery{Market: 1, Resolution: bourse.Resolution1, To: 1 << 62, Limit: 500}
	half := &history.CandleQuery{Market: 1, Resolution: bourse.Resolution30, To: 1 << 62, Limit: 500, Newest: true}
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"orders", func() error { _, err := r.reader.Orders(ctx, 1, &history.ListQuery{Limit: 50}); return err }},
		{"orders, deep", func() error { _, err := r.reader.Orders(ctx, 1, &history.ListQuery{Skip: 9000, Limit: 50}); return err }},
		{"orders of a market", func() error { _, err := r.reader.Orders(ctx, 1, &history.ListQuery{Market: 1, Limit: 50}); return err }},
		{"fills", func() error { _, err := r.reader.Fills(ctx, 1, &history.ListQuery{Limit: 50}); return err }},
		{"trades", func() error { _, err := r.reader.Trades(ctx, 1, 0, 50); return err }},
		{"one order", func() error { _, _, err := r.reader.Order(ctx, 1, 5); return err }},
		{"candles", func() error { _, _, err := r.reader.Candles(ctx, minutes); return err }},
		{"candles of minutes", func() error { _, _, err := r.reader.Candles(ctx, half); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
