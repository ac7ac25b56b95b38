package history_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
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

// copying is a view that counts the open orders that it copies.
type copying struct {
	*view.View
	orders *int
}

func (v copying) OpenOrdersSpan(id bourse.AccountID, only bourse.MarketID, first, last uint64, limit int) []bourse.Order {
	list := v.View.OpenOrdersSpan(id, only, first, last, limit)
	*v.orders += len(list)
	return list
}

// TestPageCopiesAPage reads pages of a market's orders while many are open, and wants no more
// orders copied than the page has and skips.
func TestPageCopiesAPage(t *testing.T) {
	r := newRig(4, 1<<20)
	var commands []bourse.Command
	for range 600 {
		p := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 900, Lots: 1}
		commands = append(commands, bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: p})
	}
	r.frame(commands...)

	var copied int
	r.reader = history.NewReader(r.store, r.tail, copying{r.view, &copied})
	for _, q := range []history.ListQuery{
		{Market: 1, Limit: 50}, {Market: 1, Limit: 50, Before: 500}, {Market: 1, Limit: 50, Before: 100},
		{Market: 1, Limit: 50, Before: 400, Skip: 20}, {Market: 1, Limit: 50, To: r.now, Before: 300},
	} {
		copied = 0
		list, err := r.reader.Orders(t.Context(), 1, &q)
		if err != nil || len(list) != 50 || copied > q.Skip+q.Limit {
			t.Errorf("%+v: %d rows copied %d orders (%v)", q, len(list), copied, err)
		}
	}
}
