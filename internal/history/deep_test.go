package history_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestDeepPages reads pages of filtered lists from far back, while the newest rows are in
// the view, the tail and the store.
func TestDeepPages(t *testing.T) {
	r := newRig(2, 3000)
	place := func(n int, tif bourse.TimeInForce, price bourse.Price) {
		var commands []bourse.Command
		for i := range n {
			p := bourse.NewOrder{Market: bourse.MarketID(1 + i%2), Side: bourse.Sell, Type: bourse.Limit, TIF: tif, Price: price, Lots: 1}
			commands = append(commands, bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(1 + i/2%2), NewOrder: p})
		}
		r.frame(commands...)
		r.now++
	}
	for range 45 {
		place(20, bourse.GTC, 900) // they stay open
		place(1000, bourse.IOC, 100)
		r.follow(len(r.behind))
	}
	place(1000, bourse.IOC, 100)

	orders, _ := r.view.Counts(1)
	if orders < 22_000 {
		t.Fatalf("%d orders", orders)
	}
	for _, skip := range []int{0, 400, 9_990, 10_001, 10_900, 11_400, 11_500, 1 << 30} {
		for range 6 { // with bounds drawn at random
			if !r.checkPast(t, 1, 1, skip, 50) {
				t.Fatal("the store is behind")
			}
		}
	}
}
