package conformance

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var walletAssetsChecks = []check{
	assetFields, assetsBySymbol, unknownAssets, assetSearch, assetPages, assetIcons, disabledAsset, networksOfAsset, networkIcons,
	balanceFields, balancesExtended, allBalances, balancesAsked, balanceSearch, balanceSums, lockedBalances, pendingIsInNoBalance,
	greatestPrecisions,
}

func TestWalletAssets(t *testing.T) { examine(t, walletAssetsChecks) }

// symbolsOf returns the member names of a keyed answer.
func symbolsOf(a *answer, name string) []string { return members(a.value.get(name)) }

func assetFields(x *exam) {
	x.covers("WAL-AST-1")
	x.reserve("catalogue")
	x.golden(x.wallet("/assets", fields{"symbols": []string{"USDT", "BTC"}}).value, "wallet_assets")
	x.ascending("assets", x.wallet("/assets", fields{}).value.get("assets"))
}

func assetsBySymbol(x *exam) {
	x.covers("WAL-AST-2")
	x.same("assets", symbolsOf(x.wallet("/assets", fields{"symbols": []string{"TEST07"}}), "assets"), "TEST07")
	x.reserve("catalogue")
	x.equal("assets", x.wallet("/assets", fields{"symbols": []string{}}).value.String(), x.wallet("/assets", fields{}).value.String())
	list := make([]string, 51)
	for i := range list {
		list[i] = fmt.Sprintf("TEST%02d", i+1)
	}
	x.failsNaming(x.wallet("/assets", fields{"symbols": list}), "symbols")
	x.same("assets", symbolsOf(x.wallet("/assets", fields{"symbols": list[:50]}), "assets"), list[:50]...)
}

func unknownAssets(x *exam) {
	x.covers("WAL-AST-3")
	x.failsNaming(x.wallet("/assets", fields{"symbols": []string{"BTC", "NOSUCH"}}), "NOSUCH")
	x.failsNaming(x.wallet("/assets", fields{"symbols": []string{"btc"}}), "btc")
}

// assetSearches maps search texts to results.
var assetSearches = map[string]string{
	"bit": "BTC", "BiTcOiN": "BTC", "ltc": "LTC", "coin": "BTC LTC", "test asset 07": "TEST07", "TEST4": "TEST40 TEST41 TEST42 " +
		"TEST43 TEST44 TEST45 TEST46 TEST47 TEST48 TEST49", "nothing like it": "",
}

func assetSearch(x *exam) {
	x.covers("WAL-AST-4")
	for text, want := range assetSearches {
		x.same(text, symbolsOf(x.wallet("/assets", fields{"search": text}), "assets"), strings.Fields(want)...)
	}
}

func assetPages(x *exam) {
	x.covers("WAL-AST-5")
	x.reserve("catalogue")
	described := map[string]string{}
	page := func(offset int) *value {
		rows := x.wallet("/assets", fields{"offset": offset}).value.get("assets")
		for _, symbol := range members(rows) {
			text := rows.get(symbol).String()
			if before, told := described[symbol]; told {
				x.equal(symbol, text, before)
			}
			described[symbol] = text
		}
		return rows
	}
	list := x.collectMembers(page)
	for _, want := range []string{"ATOM", "BTC", "ETH", "LTC", "TEST01", "TEST60", "USDT"} {
		if !slices.Contains(list, want) {
			x.Errorf("%s is missing", want)
		}
	}
	x.answers(x.wallet("/assets", fields{"offset": 1000}), `{"success":true,"assets":{}}`)
	x.same("a page", members(page(7)), list[7:57]...)
}

// collectMembers reads all pages of a keyed list and checks their order.
func (x *exam) collectMembers(page func(offset int) *value) []string {
	x.Helper()
	var list []string
	for {
		got := members(page(len(list)))
		list = append(list, got...)
		switch {
		case len(got) > 50:
			x.Fatalf("a page of %d", len(got))
		case len(got) < 50:
			if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
				x.Errorf("the pages do not join: %v", list)
			}
			return list
		}
	}
}

// pictured expects an SVG image at a URL.
func (x *exam) pictured(url string) {
	x.Helper()
	a, err := x.exchange.send(http.MethodGet, url, "", nil)
	if err != nil || a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "image/svg") {
		x.Errorf("%s: %v, %+v", url, err, a)
	}
}

func assetIcons(x *exam) {
	x.covers("WAL-AST-6")
	for _, m := range x.wallet("/assets", fields{"symbols": []string{"BTC", "TEST60", "USDT"}}).value.get("assets").members {
		x.pictured(m.value.get("icon_url").text)
	}
}

// list applies a catalogue.
func (x *exam) list(catalogue string) {
	x.Helper()
	if err := x.listed(catalogue); err != nil {
		x.broken("%v", err)
	}
}

func (x *exam) listed(catalogue string) error {
	dir, err := os.MkdirTemp("", "catalogue")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "catalogue.yaml")
	if err := os.WriteFile(file, []byte(catalogue), 0o600); err != nil {
		return err
	}
	return x.exchange.operator.sure([]string{"catalogue", "apply", file})
}

func disabledAsset(x *exam) {
	x.covers("WAL-AST-7")
	x.reserve("catalogue")
	a := x.account()
	entry := "assets: [{symbol: ZOFF, name: An asset that ends, scale: 8, enabled: %t}]\n"
	x.list(fmt.Sprintf(entry, true))
	x.Cleanup(func() { _ = x.listed(fmt.Sprintf(entry, false)) })
	search := fields{"search": "zoff"}
	x.same("assets", symbolsOf(x.wallet("/assets", search), "assets"), "ZOFF")
	x.operate("credit", a.id, "ZOFF", "3")
	x.list(fmt.Sprintf(entry, false))
	x.same("assets", symbolsOf(x.wallet("/assets", search), "assets"))
	x.same("balances", symbolsOf(a.wallet("/balances", search), "balances"))
	a.owns("ZOFF", "3", "0", "3")
}

func networksOfAsset(x *exam) {
	x.covers("WAL-NET-1")
	x.golden(x.wallet("/networks", fields{"asset": "USDT"}).value, "wallet_networks")
	x.same("networks", symbolsOf(x.wallet("/networks", fields{"asset": "ATOM"}), "networks"), "ATOM")
	x.same("networks", symbolsOf(x.wallet("/networks", fields{"asset": "TEST01"}), "networks"), "TEST")
}

func networkIcons(x *exam) {
	x.covers("WAL-NET-2")
	for _, asset := range []string{"BTC", "LTC", "USDT", "ATOM"} {
		for _, m := range x.wallet("/networks", fields{"asset": asset, "offset": 1}).value.get("networks").members {
			x.pictured(m.value.get("icon_url").text)
		}
	}
}

func balanceFields(x *exam) {
	x.covers("WAL-BAL-1")
	a := x.account("12.5 BTC", "3 USDT")
	x.golden(a.wallet("/balances", fields{"symbols": []string{"BTC", "USDT"}}).value, "wallet_balances")
}

func balancesExtended(x *exam) {
	x.covers("WAL-BAL-2")
	a := x.account("12.5 BTC", "3 USDT")
	x.golden(a.wallet("/balances_ex", fields{"symbols": []string{"BTC", "USDT"}}).value, "wallet_balances_ex")
	row := a.wallet("/balances_ex", fields{"symbols": []string{"LTC"}}).value.get("balances").get("LTC")
	asset := x.wallet("/assets", fields{"symbols": []string{"LTC"}}).value.get("assets").get("LTC")
	for _, name := range []string{"name", "icon_url"} {
		x.equal(name, row.get(name).text, asset.get(name).text)
	}
}

func greatestPrecisions(x *exam) {
	x.covers("WAL-BAL-9")
	a := x.account()
	rows := a.wallet("/balances_ex", fields{"symbols": []string{"BTC", "ETH", "ATOM", "USDT"}}).value.get("balances")
	for _, c := range []*chain{x.off("BTC"), x.off("ETH"), x.off("ATOM"), x.off("ETH").usdt()} {
		x.equal("max_prec of "+c.coin, rows.get(c.coin).get("max_prec").text, a.behind("/withdraw/info", c.route()).get("prec").text)
	}
}

func allBalances(x *exam) {
	x.covers("WAL-BAL-3")
	a := x.account("12.5 USDT")
	x.reserve("catalogue")
	assets := x.collectMembers(func(offset int) *value { return x.wallet("/assets", fields{"offset": offset}).value.get("assets") })
	for _, path := range []string{"/balances", "/balances_ex"} {
		list := x.collectMembers(func(offset int) *value { return a.wallet(path, fields{"offset": offset}).value.get("balances") })
		x.same(path, list, assets...)
		x.answers(a.wallet(path, fields{"offset": 1000}), `{"success":true,"balances":{}}`)
	}
	for _, m := range a.wallet("/balances", fields{}).value.get("balances").members {
		x.match(m.value, `{"total":"0","locked":"0","avbl":"0"}`)
	}
}

func balancesAsked(x *exam) {
	x.covers("WAL-BAL-4")
	a := x.account("12.5 USDT")
	x.answers(a.wallet("/balances", fields{"symbols": []string{"USDT", "TEST33"}}), `{"success":true,"balances":{`+
		`"TEST33":{"total":"0","locked":"0","avbl":"0"},"USDT":{"total":"12.5","locked":"0","avbl":"12.5"}}}`)
	for _, path := range []string{"/balances", "/balances_ex"} {
		x.failsNaming(a.wallet(path, fields{"symbols": []string{"USDT", "NOSUCH"}}), "NOSUCH")
	}
}

func balanceSearch(x *exam) {
	x.covers("WAL-BAL-5")
	a := x.account()
	for text, want := range assetSearches {
		for _, path := range []string{"/balances", "/balances_ex"} {
			x.same(text, symbolsOf(a.wallet(path, fields{"search": text}), "balances"), strings.Fields(want)...)
		}
	}
}

func balanceSums(x *exam) {
	x.covers("WAL-BAL-6")
	m := x.market()
	a, b := x.account("100.000000000007 USDT"), x.trader(m)
	a.buy(m, "10", "3.3333")
	a.owns("USDT", "100.000000000007", "33.333", "66.667000000007")
	b.sell(m, "10", "1.1111")
	a.owns("USDT", "88.889000000007", "22.222", "66.667000000007")
	a.owns(m.base, "1.1099889", "0", "1.1099889")
}

func lockedBalances(x *exam) {
	x.covers("WAL-BAL-7")
	c := x.chain("BTC", "LTC")
	c.pause()
	a := x.account("1 " + c.coin)
	m := &market{pair: c.coin + "/USDT", base: c.coin, quote: "USDT"}
	order := a.sell(m, "1000000", "0.25")
	a.owns(c.coin, "1", "0.25", "0.75")
	first := a.take(c.to(c.outside(), "0.5"))
	a.owns(c.coin, "1", "0.7505", "0.2495")
	second := a.take(c.to(c.outside(), "0.1"))
	a.owns(c.coin, "1", "0.851", "0.149")
	x.succeeds(a.cancel(order))
	a.owns(c.coin, "1", "0.601", "0.399")
	x.succeeds(a.drop(first))
	a.turns(first, "CANCELED")
	a.owns(c.coin, "1", "0.1005", "0.8995")
	c.resume()
	a.turns(second, "DONE")
	a.owns(c.coin, "0.8995", "0", "0.8995")
}

func pendingIsInNoBalance(x *exam) {
	x.covers("WAL-BAL-8")
	c := x.chain(byOutput...)
	a := x.account()
	txid := c.gives(a, "0.25")
	a.owns(c.coin, "0", "0", "0")
	c.mine(1)
	a.shows("txid", txid, "confirms", "1")
	a.owns(c.coin, "0", "0", "0")
}
