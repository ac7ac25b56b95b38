package conformance

import (
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
)

var marketsChecks = []check{
	marketRows, extendedRows, marketsByPair, oneMarket, marketsOfAQuote, searchedMarkets, oneSelection, marketsNeedOffset,
	sortOrPair, sortedMarkets, sortedDown, unknownSorts, dirWithoutSort, emptyQuote, lastPrice, previousPrice,
	changeInPercent, rollingDay, quietMarket, icons, delistedMarket,
}

func TestMarkets(t *testing.T) { examine(t, marketsChecks) }

func marketRows(x *exam) {
	x.covers("SPOT-MKT-1")
	m := x.market()
	x.golden(x.post("/markets", fields{"pair": m.pair}).value, "markets", "pair", m.pair, "base", m.base)
}

func extendedRows(x *exam) {
	x.covers("SPOT-MKT-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	x.golden(x.post("/markets_ex", fields{"pair": m.pair}).value, "markets_ex", "pair", m.pair, "base", m.base)
	ex := x.post("/markets_ex", fields{"pair": "BTC/USDT"}).value.get("markets").items[0]
	for name, want := range map[string]string{
		"base_name": "Bitcoin", "quote_name": "Tether USD", "base_precision": "6", "quote_precision": "2", "min_order": "5",
	} {
		x.equal(name, ex.get(name).text, want)
	}
	plain, extended := x.post("/markets", fields{"search": "BTC", "offset": 0}), x.post("/markets_ex", fields{"search": "BTC", "offset": 0})
	x.same("pairs", extended.value.get("markets").column("pair"), plain.value.get("markets").column("pair")...)
}

// everyMarket returns the pairs of all markets, page by page. It must be called once per
// check; no market is delisted between the pages.
func (x *exam) everyMarket(body fields) []*value {
	x.reserve("list of markets")
	x.Helper()
	return x.collect(func(offset int) *value {
		return x.post("/markets_ex", body.with("offset", offset)).value.get("markets")
	})
}

func marketsByPair(x *exam) {
	x.covers("SPOT-MKT-3")
	pairs := (&value{items: x.everyMarket(fields{})}).column("pair")
	if len(pairs) < 60 || !slices.IsSorted(pairs) || len(slices.Compact(slices.Clone(pairs))) != len(pairs) {
		x.Errorf("pairs: %v", pairs)
	}
	x.same("first pairs", pairs[:5], "ATOM/USDT", "BTC/USDT", "ETH/BTC", "ETH/USDT", "LTC/USDT")
}

func oneMarket(x *exam) {
	x.covers("SPOT-MKT-4")
	x.same("pairs", x.post("/markets", fields{"pair": "ETH/BTC"}).value.get("markets").column("pair"), "ETH/BTC")
	x.same("pairs", x.post("/markets_ex", fields{"pair": "LTC/USDT"}).value.get("markets").column("pair"), "LTC/USDT")
}

func marketsOfAQuote(x *exam) {
	x.covers("SPOT-MKT-5")
	x.same("pairs", x.post("/markets", fields{"quote": "BTC", "offset": 0}).value.get("markets").column("pair"), "ETH/BTC")
	x.answers(x.post("/markets", fields{"quote": "ETH", "offset": 0}), `{"success":true,"markets":[]}`)
	x.answers(x.post("/markets", fields{"quote": "NONE", "offset": 0}), `{"success":true,"markets":[]}`)
	for _, row := range x.post("/markets", fields{"quote": "USDT", "offset": 0}).value.get("markets").items {
		x.equal("quote", row.get("quote").text, "USDT")
	}
}

func searchedMarkets(x *exam) {
	x.covers("SPOT-MKT-6")
	for text, want := range map[string]string{
		"bitCOIN": "BTC/USDT ETH/BTC", "lTC": "LTC/USDT", "c/us": "BTC/USDT LTC/USDT", "cosMOS": "ATOM/USDT",
		"Test Asset 60": untouched.pair, "nothing like it": "",
	} {
		got := x.post("/markets", fields{"search": text, "offset": 0}).value.get("markets").column("pair")
		x.equal("pairs for "+text, strings.Join(got, " "), want)
	}
	for _, row := range x.everyMarket(fields{"search": "tETHer us"}) {
		x.equal("quote", row.get("quote").text, "USDT")
	}
}

func oneSelection(x *exam) {
	x.covers("SPOT-MKT-7")
	all := fields{"pair": "BTC/USDT", "quote": "USDT", "search": "B", "offset": 0}
	x.failed(x.post("/markets", all))
	for name := range all {
		if name != "offset" {
			x.failed(x.post("/markets", all.with(name, nil)))
			x.failed(x.post("/markets_ex", all.with(name, nil)))
		}
	}
}

func marketsNeedOffset(x *exam) {
	x.covers("SPOT-MKT-8")
	for _, body := range []fields{{}, {"quote": "BTC"}, {"search": "B"}, {"sort": "price"}} {
		x.fails(x.post("/markets", body), "Missing data: offset")
		x.fails(x.post("/markets_ex", body), "Missing data: offset")
	}
}

func sortOrPair(x *exam) {
	x.covers("SPOT-MKT-9")
	x.failsNaming(x.post("/markets", fields{"pair": "BTC/USDT", "sort": "name"}), "sort", "pair")
	x.failsNaming(x.post("/markets_ex", fields{"pair": "BTC/USDT", "sort": "price", "sort_dir": "asc"}), "sort", "pair")
}

func decimal(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// ordered checks that the rows of a search are sorted by a field.
func (x *exam) ordered(sort, name, dir string) {
	x.Helper()
	rows := x.post("/markets_ex", fields{"sort": sort, "sort_dir": dir, "quote": "USDT", "offset": 0}).value.get("markets").items
	if len(rows) != 50 {
		x.Errorf("%d rows, want 50", len(rows))
	}
	for i := range len(rows) - 1 {
		order := decimal(rows[i].get(name).text).Cmp(decimal(rows[i+1].get(name).text))
		if dir == "desc" {
			order = -order
		}
		if order > 0 || order == 0 && rows[i].get("pair").text >= rows[i+1].get("pair").text {
			x.Errorf("by %s %s: %s comes before %s", sort, dir, rows[i], rows[i+1])
		}
	}
}

func sortedMarkets(x *exam) {
	x.covers("SPOT-MKT-10")
	x.ordered("price", "price", "asc")
	x.ordered("change", "change", "asc")
	x.ordered("volume", "vol_quote", "asc")
	names := x.post("/markets", fields{"sort": "name", "quote": "USDT", "offset": 0}).value.get("markets").column("pair")
	if len(names) != 50 || !slices.IsSorted(names) {
		x.Errorf("by name: %v", names)
	}
}

func sortedDown(x *exam) {
	x.covers("SPOT-MKT-11")
	x.ordered("price", "price", "desc")
	x.ordered("change", "change", "desc")
	x.ordered("volume", "vol_quote", "desc")
	body := fields{"sort": "price", "search": "BTC", "offset": 0}
	x.same("pairs", x.post("/markets", body).value.get("markets").column("pair"), "ETH/BTC", "BTC/USDT")
	x.same("pairs", x.post("/markets", body.with("sort_dir", "asc")).value.get("markets").column("pair"), "ETH/BTC", "BTC/USDT")
	x.same("pairs", x.post("/markets", body.with("sort_dir", "desc")).value.get("markets").column("pair"), "BTC/USDT", "ETH/BTC")
}

func unknownSorts(x *exam) {
	x.covers("SPOT-MKT-12")
	for _, bad := range []string{"", "pair", "Price", "vol_quote"} {
		x.failsNaming(x.post("/markets", fields{"offset": 0, "sort": bad}), "sort")
		x.failsNaming(x.post("/markets", fields{"offset": 0, "sort": "price", "sort_dir": bad}), "sort_dir")
	}
}

func dirWithoutSort(x *exam) {
	x.covers("SPOT-MKT-20")
	body := fields{"search": "BTC", "offset": 0}
	x.same("pairs", x.post("/markets", body.with("sort_dir", "desc")).value.get("markets").column("pair"), "BTC/USDT", "ETH/BTC")
	x.undescribed = true
	x.same("pairs", x.post("/markets", body.with("sort_dir", "down")).value.get("markets").column("pair"), "BTC/USDT", "ETH/BTC")
}

func emptyQuote(x *exam) {
	x.reserve("list of markets")
	x.covers("SPOT-MKT-21")
	for _, path := range []string{"/markets", "/markets_ex"} {
		x.same("pairs", x.post(path, fields{"quote": "", "offset": 0}).value.get("markets").column("pair"),
			x.post(path, fields{"offset": 0}).value.get("markets").column("pair")...)
	}
}

func lastPrice(x *exam) {
	x.covers("SPOT-MKT-13")
	x.same("initial price", x.post("/markets", fields{"pair": untouched.pair}).value.get("markets").column("price"), "60")
	x.same("initial previous", x.post("/markets", fields{"pair": untouched.pair}).value.get("markets").column("previous"), "60")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	a.sell(m, "11.5", "1")
	b.buy(m, "12", "1.5")
	x.equal("price", x.ticker(m).get("price").text, "11.5")
}

func previousPrice(x *exam) {
	x.covers("SPOT-MKT-14")
	m := x.market()
	a, b := x.traders(m)
	for _, price := range []string{"10", "11", "11", "11"} {
		x.trade(m, a, b, price, "1")
	}
	x.equal("previous", x.ticker(m).get("previous").text, "10")
	x.trade(m, a, b, "12", "1")
	x.equal("previous", x.ticker(m).get("previous").text, "11")
}

func changeInPercent(x *exam) {
	x.covers("SPOT-MKT-15")
	m := x.market()
	a, b := x.traders(m)
	initial := new(big.Rat).SetInt64(int64(m.number()))
	for rate, want := range map[string]string{
		"1": "0", "2": "100", "1.01": "1", "1.015": "2", "1.0149": "1", "0.985": "-2", "0.9851": "-1", "0.5": "-50", "1.005": "1", "0.995": "-1",
	} {
		price := new(big.Rat).Mul(initial, decimal(rate)).FloatString(4)
		x.trade(m, a, b, price, "100")
		x.equal("change at "+rate+" of the initial price", x.ticker(m).get("change").text, want)
	}
}

func rollingDay(x *exam) {
	x.covers("SPOT-MKT-16")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	before := x.ticker(m)
	low := minimum(before.get("low").text, "0.9")
	high := "777.5"
	x.trade(m, a, b, high, "0.5")
	x.trade(m, a, b, "20", "1")
	x.trade(m, a, b, "0.9", "2.5")
	after := x.ticker(m)
	x.equal("low", after.get("low").text, low)
	if decimal(after.get("high").text).Cmp(decimal(high)) < 0 {
		x.Errorf("high is %s after a trade at %s", after.get("high"), high)
	}
	x.equal("vol_base grew by", minus(after.get("vol_base").text, before.get("vol_base").text), "4")
	x.equal("vol_quote grew by", minus(after.get("vol_quote").text, before.get("vol_quote").text), "411")
}

func minimum(a, b string) string {
	if decimal(a).Cmp(decimal(b)) < 0 {
		return a
	}
	return b
}

// minus subtracts decimals exactly.
func minus(a, b string) string {
	s := new(big.Rat).Sub(decimal(a), decimal(b)).FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func quietMarket(x *exam) {
	x.covers("SPOT-MKT-17")
	row := x.ticker(untouched)
	for name, want := range map[string]string{"price": "60", "high": "60", "low": "60", "vol_base": "0", "vol_quote": "0", "change": "0"} {
		x.equal(name, row.get(name).text, want)
	}
}

func icons(x *exam) {
	x.covers("SPOT-MKT-18")
	url := x.ticker(untouched).get("icon_url").text
	a, err := x.exchange.send(http.MethodGet, url, "", nil)
	if err != nil || a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "image/") {
		x.Errorf("%s: %v, %+v", url, err, a)
	}
}

func delistedMarket(x *exam) {
	x.reserve("list of markets")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "1")
	x.covers("SPOT-CAN-6")
	s := a.private()
	x.operate("market", "delist", m.pair)
	x.undo("market", "resume", m.pair)
	x.same("open orders", a.open())
	x.same("status", a.list("/orders_history").column("status"), "KILLED")
	x.same("update", (&value{items: s.fence()}).column("status"), "KILLED")
	x.covers("SPOT-MKT-19")
	x.answers(x.post("/markets", fields{"search": m.pair, "offset": 0}), `{"success":true,"markets":[]}`)
	x.same("asks", levels(x.book(m).get("asks")))
	x.same("orders", a.post("/orders_history", fields{"offset": 0, "filter_pair": m.pair}).value.get("orders").column("pair"), m.pair)
	x.covers("SPOT-REJ-3")
	x.rejects(a.try(m.limit("SELL", "10", "1")), "MARKET_CLOSED")
}
