package conformance

import (
	"encoding/json"
	"testing"
)

var tierChecks = []check{tierTold, tradesLimited, fillsNotRefused, withdrawalsLimited, depositsLimited}

func TestTiers(t *testing.T) { examine(t, tierChecks) }

// tierOfChecks is a tier that the checks define, behind those of the exchange.
const tierOfChecks = "conformance"

// limit gives an account a tier of an asset's limits alone, until the check ends.
func (a *account) limit(asset string, limits fields) {
	a.x.Helper()
	a.x.reserve("tiers")
	a.x.setTier(append([]fields{}, limits.with("asset", asset)))
	a.x.undo("account", "tier", a.id, a.x.firstTier(), "--reason", "the check ends")
	a.x.operate("account", "tier", a.id, tierOfChecks, "--reason", "a check of its limits")
}

// tiers returns the tiers of the exchange.
func (x *exam) tiers() (list []fields) {
	x.Helper()
	rows, _ := x.operate("catalogue", "show")["tiers"].([]any)
	for _, row := range rows {
		tier, _ := row.(map[string]any)
		list = append(list, tier)
	}
	return list
}

// firstTier returns the name of every account's tier.
func (x *exam) firstTier() string {
	x.Helper()
	return text(x.tiers()[0]["name"])
}

// setTier defines the tier of the checks.
func (x *exam) setTier(limits []fields) {
	x.Helper()
	list := x.tiers()
	if len(list) == 0 {
		list = []fields{{"name": "basic"}}
	}
	of := fields{"name": tierOfChecks, "limits": limits}
	if last := len(list) - 1; list[last]["name"] == tierOfChecks {
		list[last] = of
	} else {
		list = append(list, of)
	}
	b, err := json.Marshal(fields{"tiers": list}) // JSON is YAML
	if err != nil {
		x.broken("%v", err)
	}
	x.list(string(b))
}

func tierTold(x *exam) {
	x.covers("ACC-TIER-1", "ACC-TIER-2")
	m := x.market()
	a, b := x.traders(m)
	a.limit(m.quote, fields{"trade": fields{"day": "100", "month": "1000.5"}, "withdrawal": fields{"month": "0"}})
	told := func(day, month string) {
		x.Helper()
		x.gives(x.rest("GET", "/tier", a.key, nil), `{"tier":"`+tierOfChecks+`","limits":[`+
			`{"asset":"`+m.quote+`","kind":"TRADE","dayLimit":"100","dayLeft":"`+day+`","monthLimit":"1000.5","monthLeft":"`+month+`"},`+
			`{"asset":"`+m.quote+`","kind":"WITHDRAWAL","dayLimit":null,"dayLeft":null,"monthLimit":"0","monthLeft":"0"}],"more":false}`)
	}

	told("100", "1000.5")
	id := a.buy(m, "10", "3")
	told("70", "970.5")
	b.sell(m, "10", "1")
	told("70", "970.5")
	x.succeeds(a.cancel(id))
	told("90", "990.5")
	x.covers("ACC-TIER-1")
	x.refuses(x.rest("GET", "/tier", "", nil), 401, "UNAUTHORIZED")

	x.operate("account", "tier", a.id, x.firstTier(), "--reason", "the check ends")
	if got := x.rest("GET", "/tier", a.key, nil).value; got.get("tier").text != x.firstTier() {
		x.Errorf("the tier is %s", got)
	}
}

func tradesLimited(x *exam) {
	x.covers("SPOT-REJ-9")
	m := x.market()
	a := x.trader(m)
	a.limit(m.quote, fields{"trade": fields{"day": "100"}})
	first := a.buy(m, "10", "6")
	for _, order := range []fields{
		m.limit("BUY", "10", "4.001"), m.stop("BUY", "900", "10", "4.001"), m.byTotal("BUY", "40.01"),
	} {
		x.rejects(a.try(order), "TRADE_LIMIT")
	}
	second := a.buy(m, "10", "4")
	x.rejects(a.amend(second, fields{"amount": "5"}), "TRADE_LIMIT")
	a.moved(second, fields{"amount": "3"}, "OPEN", "0")
	x.becomes(a.try(m.limit("SELL", "20", "1000")), "OPEN", "0") // the base asset has no limit
	x.succeeds(a.cancel(first))
	x.becomes(a.try(m.limit("BUY", "10", "7")), "OPEN", "0")
}

func fillsNotRefused(x *exam) {
	x.covers("SPOT-REJ-10")
	m := x.market()
	a, b := x.traders(m)
	a.limit(m.quote, fields{"trade": fields{"day": "100"}})
	order := a.buy(m, "10", "10")
	x.setTier([]fields{{"asset": m.quote, "trade": fields{"day": "1"}}})
	x.becomes(b.try(m.limit("SELL", "10", "10")), "FILLED", "10")
	x.same("open orders", a.open())
	x.equal("status", a.history(order).get("status").text, "FILLED")
	x.setTier([]fields{{"asset": m.quote, "trade": fields{"day": "101"}}})
	x.rejects(a.try(m.limit("BUY", "10", "1")), "TRADE_LIMIT")
}

func withdrawalsLimited(x *exam) {
	x.covers("WAL-WD-13")
	c := x.chain(byOutput...)
	a := c.customer()
	a.limit(c.coin, fields{"withdrawal": fields{"day": "0.3"}})
	c.pause()
	xid := a.take(c.to(c.outside(), "0.2"))
	res := a.wallet("/withdraw", c.to(c.outside(), "0.2"))
	x.failed(res)
	x.equal("code", res.value.get("code").text, "WITHDRAWAL_LIMIT")
	x.refuses(a.v2("POST", "/io/transactions", fields{
		"type": "WITHDRAWAL", "network": c.network, "asset": c.coin, "address": c.outside(), "amount": "0.2", "fee": c.fee,
	}), 406, "WITHDRAWAL_LIMIT")
	a.take(c.to(c.outside(), "0.1"))
	x.succeeds(a.drop(xid))
	a.take(c.to(c.outside(), "0.2"))
	x.failed(a.wallet("/withdraw", c.to(c.outside(), "0.01")))
}

func depositsLimited(x *exam) {
	x.covers("WAL-DEP-16")
	c := x.chain(byOutput...)
	a := x.account()
	a.limit(c.coin, fields{"deposit": fields{"day": "0.3"}})
	first := c.gives(a, "0.2")
	c.mine(c.confirms)
	a.shows("txid", first, "status", "DONE")

	second := c.gives(a, "0.2")
	c.mine(c.confirms + 2)
	row := a.shows("txid", second, "status", "PENDING")
	a.owns(c.coin, "0.2", "0", "0.2")
	number := ""
	parked, _ := x.operate("deposits", "parked")["deposits"].([]any)
	for _, d := range parked {
		if of, _ := d.(map[string]any); of["txid"] == second && of["over_limit"] == true {
			number = text(of["deposit"])
		}
	}
	if number == "" {
		x.Fatalf("deposit %s is not among the parked ones: %v", row, parked)
	}
	x.operate("deposit", "assign", number, a.id)
	a.shows("txid", second, "status", "DONE")
	a.owns(c.coin, "0.4", "0", "0.4")

	third := c.gives(a, "0.2")
	c.mine(c.confirms)
	a.shows("txid", third, "status", "PENDING")
	x.operate("account", "tier", a.id, x.firstTier(), "--reason", "more is known of the account")
	c.mine(1)
	a.shows("txid", third, "status", "DONE")
	a.owns(c.coin, "0.6", "0", "0.6")
}
