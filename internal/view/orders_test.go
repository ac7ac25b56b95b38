package view

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// TestOpenOrdersAgreeWithAList opens, fills and closes orders of a few accounts and
// compares all queries with a list of each account's orders.
func TestOpenOrdersAgreeWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, id := New(), bourse.OrderID(0)
		want := map[bourse.AccountID][]bourse.Order{}
		ordinals := map[bourse.AccountID]uint64{}
		for range rapid.IntRange(0, 80).Draw(t, "commands") {
			account := bourse.AccountID(rapid.IntRange(1, 70).Draw(t, "account"))
			ev := new(bourse.Events)
			if list := want[account]; len(list) > 0 && rapid.Bool().Draw(t, "old") {
				at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
				if rapid.Bool().Draw(t, "close") {
					*ev.AddOrder(bourse.EventOrderClosed) = list[at]
					want[account] = slices.Delete(list, at, at+1)
				} else {
					list[at].Filled++
					fill := bourse.Fill{Order: list[at].ID, Account: account, Filled: list[at].Filled}
					v.foldTrade(&bourse.Trade{Maker: fill, Taker: bourse.Fill{Account: 71}})
				}
			} else {
				id += bourse.OrderID(rapid.IntRange(1, 3).Draw(t, "step"))
				ordinals[account]++
				o := bourse.Order{ID: id, Account: account, Ordinal: ordinals[account]}
				o.Market, o.ClientID[0] = bourse.MarketID(1+id%2), byte(id%5)
				*ev.AddOrder(bourse.EventOrderAccepted) = o
				want[account] = append(want[account], o)
			}
			for _, e := range ev.List {
				v.foldEvent(e, ev)
			}
		}
		for account, list := range want {
			checkOpen(t, v, account, list)
		}
		if used := int(v.orders.used) - len(v.orders.free); used != total(want) {
			t.Fatalf("%d slots are in use by %d orders", used, total(want))
		}
	})
}

func total(lists map[bourse.AccountID][]bourse.Order) (n int) {
	for _, list := range lists {
		n += len(list)
	}
	return n
}

// checkOpen compares an account's open orders with a list.
func checkOpen(t *rapid.T, v *View, account bourse.AccountID, list []bourse.Order) {
	t.Helper()
	newest := slices.Clone(list)
	slices.Reverse(newest)
	if got := v.OpenOrders(account, 0, 0, 0, len(list)+1); !slices.Equal(got, newest) {
		t.Fatalf("the orders of %d are %v, want %v", account, got, newest)
	}
	first := slices.Clone(newest)
	slices.SortStableFunc(first, func(a, b bourse.Order) int { return int(a.Market) - int(b.Market) })
	if got := v.OpenOrders(account, 0, 1, 1, len(list)); len(list) > 1 && !slices.Equal(got, first[1:]) {
		t.Fatalf("behind the first the orders of %d are %v, want %v", account, got, first[1:])
	}
	for i, o := range list {
		if got, open := v.OpenOrder(account, o.ID); !open || got != o {
			t.Fatalf("order %d is %v, want %v", o.ID, got, o)
		}
		last := list[len(list)-1].Ordinal
		if got := v.OpenOrdersSpan(account, 0, o.Ordinal, last, len(list)); !slices.Equal(got, newest[:len(list)-i]) {
			t.Fatalf("from ordinal %d on the orders are %v", o.Ordinal, got)
		}
		checkSpan(t, v, account, newest, o.Market, o.Ordinal)
		named := newest[slices.IndexFunc(newest, func(n bourse.Order) bool { return n.ClientID == o.ClientID })]
		if got, open := v.OpenOrderNamed(account, o.ClientID); !open || got != named {
			t.Fatalf("the newest order named like %d is %v, want %v", o.ID, got, named)
		}
	}
	if _, open := v.OpenOrder(account, 1<<40); open {
		t.Fatal("an order is open that there never was")
	}
}

// checkSpan compares the open orders of one market up to an ordinal with a list.
func checkSpan(
	t *rapid.T, v *View, account bourse.AccountID, newest []bourse.Order, only bourse.MarketID, last uint64,
) {
	t.Helper()
	var want []bourse.Order
	for _, o := range newest {
		if o.Market == only && o.Ordinal <= last {
			want = append(want, o)
		}
	}
	for _, limit := range []int{1, 2, len(newest)} {
		got := v.OpenOrdersSpan(account, only, 1, last, limit)
		if !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Fatalf("%d orders of market %d up to %d are %v, want %v", limit, only, last, got, want)
		}
	}
	if got := v.OpenOrdersSpan(account, only, last+1, last, 9); len(got) > 0 {
		t.Fatalf("an empty span has %v", got)
	}
}
