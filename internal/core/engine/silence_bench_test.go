package engine_test

import (
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// BenchmarkSilence fires the switch of an account with an order in one market, asks whether
// the account has orders, and fires the switch of an account without any. The costs must not
// grow with the number of markets.
func BenchmarkSilence(b *testing.B) {
	for _, markets := range []int{1, 1000} {
		e := engine.New()
		var ev bourse.Events
		apply := func(cmd bourse.Command) {
			ev.Reset()
			cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+1
			e.Apply(&cmd, &ev)
		}
		for _, cmd := range enginetest.Opening() {
			apply(cmd)
		}
		m := *e.Market(1)
		for i := 1; i < markets; i++ {
			apply(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
				Symbol: bourse.Symbol(fmt.Sprint("A", i)), Name: "Asset", Scale: 8, Enabled: true,
			}})
			m.Base = bourse.AssetID(ev.Outcome.ID)
			apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
			if ev.Outcome.Reason != 0 {
				b.Fatal(ev.Outcome.Reason)
			}
		}

		order := bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
			Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 1,
		}}
		fire := func() {
			apply(bourse.Command{Kind: bourse.CommandCancelAfter, Account: 1, Hold: 1})
			apply(bourse.Command{Kind: bourse.CommandTick})
		}
		b.Run(fmt.Sprintf("order/markets=%d", markets), func(b *testing.B) {
			for b.Loop() {
				apply(order)
				fire()
			}
			if e.OpenOrders() != 0 {
				b.Fatal("an order is open")
			}
		})
		b.Run(fmt.Sprintf("none/markets=%d", markets), func(b *testing.B) {
			for b.Loop() {
				fire()
			}
		})
		b.Run(fmt.Sprintf("asked/markets=%d", markets), func(b *testing.B) {
			for b.Loop() {
				if e.HasOrders(1) {
					b.Fatal("an order is open")
				}
			}
		})
	}
}
