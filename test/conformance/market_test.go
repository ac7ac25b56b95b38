package conformance

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
)

// market is a test market of the sandbox: base_precision 4, quote_precision 4, min_order
// 1, fees of 0.1 %.
type market struct {
	pair, base, quote string
}

// pool hands out the test markets, each to one check at a time.
type pool struct {
	free chan *market
	// run distinguishes this run's accounts from those of other runs.
	run string
}

// untouched is a market without trades.
var untouched = testMarket(60)

func testMarket(n int) *market {
	base := fmt.Sprintf("TEST%02d", n)
	return &market{pair: base + "/USDT", base: base, quote: "USDT"}
}

// number returns n of TESTn, which is also the market's initial price.
func (m *market) number() int {
	var n int
	_, _ = fmt.Sscanf(m.base, "TEST%d", &n)
	return n
}

func newPool() *pool {
	p := &pool{free: make(chan *market, 60)}
	for n := range 58 {
		p.free <- testMarket(n + 1)
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	p.run = hex.EncodeToString(b[:])
	return p
}

// market returns a market that no other check uses until this one ends. Its book is
// empty. Its last price is at least 100, because an order's worth is limited by the last
// price.
func (x *exam) market() *market {
	x.Helper()
	m := <-x.exchange.pool.free
	x.Cleanup(func() { x.exchange.pool.free <- m })
	if last, ok := new(big.Rat).SetString(x.ticker(m).get("price").text); !ok || last.Cmp(big.NewRat(100, 1)) < 0 {
		a := x.trader(m)
		x.trade(m, a, a, "100", "10000") // worth the minimum at any last price
	}
	return m
}

// book returns a market's book.
func (x *exam) book(m *market) *value {
	x.Helper()
	a := x.post("/orderbook", fields{"pair": m.pair})
	if a.value.get("success").kind != 't' {
		x.broken("orderbook: %s", a.value)
	}
	return a.value
}

// levels formats a side of a book as "price:amount" in order.
func levels(side *value) []string {
	list := []string{}
	for _, row := range side.items {
		list = append(list, row.get("price").text+":"+row.get("amount").text)
	}
	return list
}

// ticker returns a market's row of markets_ex.
func (x *exam) ticker(m *market) *value {
	x.Helper()
	rows := x.post("/markets_ex", fields{"pair": m.pair}).value.get("markets").items
	if len(rows) != 1 {
		x.broken("markets_ex has %d rows for %s", len(rows), m.pair)
	}
	return rows[0]
}

// trades returns a market's newest trades.
func (x *exam) trades(m *market) *value {
	x.Helper()
	return x.post("/trades", fields{"pair": m.pair, "offset": 0}).value.get("trades")
}
