package conformance

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

var consistencyChecks = []check{addsUp}

func TestConsistency(t *testing.T) { examine(t, consistencyChecks) }

// addsUp lets three accounts trade at random and checks that all answers of the exchange
// agree.
func addsUp(x *exam) {
	m := x.market()
	seed := rand.Uint64()
	x.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	everybody := []*account{x.trader(m), x.trader(m), x.trader(m)}
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	kept := local{}
	for range 4 {
		for range 12 {
			x.disturb(m, random, everybody[random.IntN(len(everybody))])
		}
		for _, message := range s.fence() {
			kept.update(message)
		}
		book := x.book(m)
		x.covers("SPOT-STR-9")
		x.equal("book kept from the stream", kept.String(), written(book).String())
		x.covers("SPOT-BOOK-4")
		x.equal("book added up from open orders", x.added(everybody).String(), written(book).String())
		x.uncrossed(book)
		x.covers("SPOT-HIS-9")
		for _, a := range everybody {
			x.fillsAddUp(a)
		}
	}
}

// disturb places or cancels a random order.
func (x *exam) disturb(m *market, random *rand.Rand, a *account) {
	x.Helper()
	side := []string{"BUY", "SELL"}[random.IntN(2)]
	price := fmt.Sprintf("%d.%d", 9+random.IntN(3), random.IntN(3))
	amount := fmt.Sprintf("%d.%04d", 1+random.IntN(3), random.IntN(10000))
	var order fields
	switch random.IntN(8) {
	case 0:
		order = m.byAmount(side, amount)
	case 1:
		order = m.byTotal(side, amount)
	case 2:
		order = m.limit(side, price, amount).with("time_in_force", []string{"IOC", "FOK"}[random.IntN(2)])
	case 3:
		order = m.stop(side, price, price, amount)
	case 4:
		if open := a.open(); len(open) > 0 {
			x.succeeds(a.cancel(open[random.IntN(len(open))]))
			return
		}
		fallthrough
	default:
		modes := []string{"none", "cancel_newest", "cancel_oldest", "cancel_both", "decrement"}
		order = m.limit(side, price, amount).with("stp", modes[random.IntN(len(modes))])
	}
	if res := a.try(order); !res.value.has("obid") {
		x.broken("order %v: %s", order, res.value)
	}
}

// written returns the levels of a book as written.
func written(book *value) local {
	l := local{}
	l.load(book)
	return l
}

// String returns the levels sorted by name.
func (l local) String() string { return fmt.Sprint(map[string]string(l)) }

// added sums the unfilled amounts of open orders into levels.
func (x *exam) added(everybody []*account) local {
	x.Helper()
	sums := map[string]*big.Rat{}
	for _, a := range everybody {
		for _, row := range a.list("/open_orders").items {
			if !row.has("filled") {
				continue // a waiting stop
			}
			key := row.get("side").text + decimal(row.get("price").text).FloatString(4)
			if sums[key] == nil {
				sums[key] = new(big.Rat)
			}
			sums[key].Add(sums[key], decimal(row.get("amount").text))
			sums[key].Sub(sums[key], decimal(row.get("filled").text))
			if row.has("prevented") {
				sums[key].Sub(sums[key], decimal(row.get("prevented").text))
			}
		}
	}
	l := local{}
	for key, sum := range sums {
		l[key] = sum.FloatString(4)
	}
	return l
}

// uncrossed checks that no bid is at or above an ask.
func (x *exam) uncrossed(book *value) {
	x.Helper()
	bids, asks := book.get("bids").column("price"), book.get("asks").column("price")
	if len(bids) > 0 && len(asks) > 0 && decimal(bids[0]).Cmp(decimal(asks[0])) >= 0 {
		x.Errorf("bid %s and ask %s", bids[0], asks[0])
	}
}

// fillsAddUp checks that each order's trades sum up to its filled amount and are those of
// the trades history.
func (x *exam) fillsAddUp(a *account) {
	x.Helper()
	var ofOrders []string
	for _, row := range a.list("/orders_history").items {
		sum := new(big.Rat)
		for _, trade := range row.get("trades").items {
			sum.Add(sum, decimal(trade.get("amount").text))
			ofOrders = append(ofOrders, trade.get("amount").text)
		}
		if sum.Cmp(decimal(row.get("filled").text)) != 0 {
			x.Errorf("the trades of %s do not add up", row)
		}
		if !row.has("amount") {
			continue
		}
		if row.has("prevented") {
			sum.Add(sum, decimal(row.get("prevented").text))
		}
		filled := row.get("status").text == "FILLED"
		if whole := sum.Cmp(decimal(row.get("amount").text)) == 0; filled && !whole || whole && !filled && !row.has("prevented") {
			x.Errorf("order is %s: %s", row.get("status").text, row)
		}
	}
	x.equal("number of own trades", fmt.Sprint(len(a.list("/trades_history").items)), fmt.Sprint(min(50, len(ofOrders))))
	if len(ofOrders) <= 50 {
		x.equal("own trades", sortedWords(a.list("/trades_history").column("amount")), sortedWords(ofOrders))
	}
}

func sortedWords(list []string) string {
	counts := map[string]int{}
	for _, word := range list {
		counts[word]++
	}
	return strings.TrimPrefix(fmt.Sprint(counts), "map")
}
