package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"
)

var feesChecks = []check{fixedLevel, levelsBoundRates}

func TestFees(t *testing.T) { examine(t, feesChecks) }

// feeLevel is a level of the schedule as an operator sees it, with shares.
type feeLevel struct {
	Volume string
	Maker  string `json:"maker_fee"`
	Taker  string `json:"taker_fee"`
}

// schedule returns the exchange's schedule of fees.
func (x *exam) schedule() (asset string, levels []feeLevel) {
	x.Helper()
	b, err := json.Marshal(x.operate("catalogue", "show")["fees"])
	if err != nil {
		x.broken("%v", err)
	}
	var s struct {
		Asset  string `json:"volume_asset"`
		Levels []feeLevel
	}
	if err := json.Unmarshal(b, &s); err != nil || len(s.Levels) < 3 {
		x.broken("a schedule of three levels is needed: %s, %v", b, err)
	}
	return s.Asset, s.Levels
}

// shortest returns a decimal of at most twelve decimals without trailing zeros.
func shortest(r *big.Rat) string {
	return strings.TrimRight(strings.TrimRight(r.FloatString(12), "0"), ".")
}

// percent returns a share in percent.
func percent(share string) string {
	return shortest(new(big.Rat).Mul(decimal(share), big.NewRat(100, 1)))
}

func fixedLevel(x *exam) {
	x.covers("SPOT-EXT-12")
	_, levels := x.schedule()
	m := x.market()
	a, b := x.traders(m)
	x.operate("account", "level", a.id, "--fix", "2")
	x.answers(a.post("/user_fees", fields{"pair": m.pair}), fmt.Sprintf(
		`{"success":true,"level":2,"maker_fee":%q,"taker_fee":%q}`, percent(levels[2].Maker), percent(levels[2].Taker)))
	x.trade(m, a, b, "10", "1")
	x.same("fees", a.list("/trades_history").column("fee"), shortest(new(big.Rat).Mul(decimal(levels[2].Maker), big.NewRat(10, 1))))
	x.trade(m, b, a, "10", "1")
	x.equal("fee", a.list("/trades_history").items[0].get("fee").text, shortest(decimal(levels[2].Taker)))

	x.operate("account", "level", a.id)
	x.golden(a.post("/user_fees", fields{}).value, "user_fees")
	x.trade(m, a, b, "10", "1")
	x.equal("fee", a.list("/trades_history").items[0].get("fee").text, "0.01")
}

// charge sets a market's rates until the check ends.
func (x *exam) charge(m *market, share string) {
	x.Helper()
	x.define(m, fields{"maker_fee": share, "taker_fee": share})
}

// define sets fields of a market in the catalogue until the check ends.
func (x *exam) define(m *market, set fields) {
	x.Helper()
	rows, _ := x.operate("catalogue", "show")["markets"].([]any)
	for _, row := range rows {
		entry, _ := row.(map[string]any)
		if entry["base"] != m.base || entry["quote"] != m.quote {
			continue
		}
		before, err := json.Marshal(entry) // JSON is YAML
		if err != nil {
			x.broken("%v", err)
		}
		maps.Copy(entry, set)
		after, err := json.Marshal(entry)
		if err != nil {
			x.broken("%v", err)
		}
		x.Cleanup(func() { _ = x.listed("markets: [" + string(before) + "]") })
		x.list("markets: [" + string(after) + "]")
		return
	}
	x.broken("market %s is not in the catalogue", m.pair)
}

// levelsBoundRates trades in a market whose rates are below the account's level's.
func levelsBoundRates(x *exam) {
	x.covers("SPOT-HOLD-15")
	_, levels := x.schedule()
	m := x.market()
	x.charge(m, "0.0001")
	a, b := x.traders(m)
	x.operate("account", "level", a.id, "--fix", "1")
	if decimal(levels[1].Maker).Cmp(decimal("0.0001")) <= 0 {
		x.broken("level 1 is cheaper than a cheap market")
	}
	x.trade(m, a, b, "10", "1")
	x.same("fees", a.list("/trades_history").column("fee"), "0.001")
	x.answers(a.post("/user_fees", fields{"pair": m.pair}), `{"success":true,"level":1,"maker_fee":"0.01","taker_fee":"0.01"}`)
}
