package conformance

import (
	"encoding/csv"
	"strings"
	"testing"
)

var exportChecks = []check{exportedRows, exportedCells, exportedSelections}

func TestExports(t *testing.T) { examine(t, exportChecks) }

// export returns the rows of an export by the names of its columns, newest first.
func (a *account) export(path string) (rows []map[string]string) {
	a.x.Helper()
	res := a.x.rest("GET", "/exports/"+path, a.key, nil)
	lines, err := csv.NewReader(strings.NewReader(string(res.body))).ReadAll()
	if err != nil || res.status != 200 {
		a.x.Fatalf("%s: %d %s %v", path, res.status, res.body, err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// cells returns a column, newest first.
func cells(rows []map[string]string, name string) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = row[name]
	}
	return list
}

func exportedRows(x *exam) {
	x.covers("ACC-EXP-1")
	m := x.market()
	a, b := x.traders(m)
	sold := a.sell(m, "10", "1")
	b.buy(m, "10", "1")
	open := a.sell(m, "11", "2")
	orders := a.export("orders")
	x.same("orders", cells(orders, "order"), open, sold)
	x.same("filled", cells(orders, "filled"), "0", "1")
	trades := a.export("trades")
	x.same("trades", cells(trades, "trade"), a.list("/trades_history").column("trade_id")...)
	x.same("fees", cells(trades, "fee"), "0.01")

	balances := map[string]bool{}
	for _, row := range a.export("ledger") {
		balances[row["asset"]+row["balance"]] = true
	}
	for _, row := range a.v2("GET", "/wallet/v2/ledger", nil).value.get("entries").items {
		if name := row.get("asset").text + row.get("balance").text; !balances[name] {
			x.Errorf("the exported ledger %v lacks %s", balances, name)
		}
	}
	x.same("transfers", cells(a.export("transfers"), "xid"))
	x.same("orders of the past", cells(a.export("orders?to=1"), "order"))
	x.same("orders of the future", cells(a.export("orders?from=9999999999"), "order"))
	x.refuses(x.rest("GET", "/exports/orders", "", nil), 401, "UNAUTHORIZED")
	x.refuses(x.rest("GET", "/exports/orders?from=x", a.key, nil), 400, "VALIDATION_ERROR")
}

func exportedCells(x *exam) {
	x.covers("ACC-EXP-2")
	m := x.market()
	a := x.trader(m)
	for _, name := range []string{"-1-1", "-12", "plain"} {
		x.succeeds(a.post("/open_orders/new", m.limit("SELL", "10", "1").with("client_id", name)))
	}
	x.same("names", cells(a.export("orders"), "client_id"), "plain", "-12", "'-1-1")
}

func exportedSelections(x *exam) {
	x.covers("ACC-EXP-3")
	m := x.market()
	a, b := x.traders(m)
	sold := a.sell(m, "10", "1")
	b.buy(m, "10", "1")
	bought := a.buy(m, "9", "2")
	pair := "pair=" + m.pair
	x.same("orders of the market", cells(a.export("orders?"+pair), "order"), bought, sold)
	x.same("orders of a side", cells(a.export("orders?side=SELL"), "order"), sold)
	x.same("orders of a type", cells(a.export("orders?type=LIMIT"), "order"), bought, sold)
	x.same("orders of another type", cells(a.export("orders?type=MARKET"), "order"))
	x.same("trades of a side", cells(a.export("trades?"+pair+"&side=SELL"), "order"), sold)
	x.same("trades of the other side", cells(a.export("trades?"+pair+"&side=BUY"), "order"))
	for _, row := range a.export("ledger?asset=" + m.quote) {
		if row["asset"] != m.quote {
			x.Errorf("the ledger of %s has %v", m.quote, row)
		}
	}
	x.same("deposits", cells(a.export("transfers?type=DEPOSIT&asset="+m.quote), "xid"))
	x.refuses(x.rest("GET", "/exports/orders?pair=NO/NE", a.key, nil), 404, "NOT_FOUND")
	for _, bad := range []string{"orders?side=buy", "trades?side=x", "transfers?type=LIMIT", "ledger?asset=NONE"} {
		x.refuses(x.rest("GET", "/exports/"+bad, a.key, nil), 400, "VALIDATION_ERROR")
	}
}
