package catalogue_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/catalogue"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/view"
)

// exchange is an engine with a view behind it.
type exchange struct {
	t *testing.T
	e *engine.Engine
	v *view.View
}

func newExchange(t *testing.T) *exchange {
	x := &exchange{t, engine.New(), view.New()}
	x.do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Rules: bourse.CurrentRules}})
	return x
}

func (x *exchange) do(cmd bourse.Command) {
	x.t.Helper()
	cmd.Seq, cmd.Time = x.e.Seq()+1, 1
	var ev bourse.Events
	x.e.Apply(&cmd, &ev)
	if ev.Outcome.Reason != 0 {
		x.t.Fatalf("refused: %s", ev.Outcome.Reason)
	}
	x.v.Begin()
	x.v.Observe(&cmd, &ev)
	x.v.End()
}

// apply makes all changes of a document and returns what they say.
func (x *exchange) apply(text string) (said []string) {
	x.t.Helper()
	doc, err := catalogue.Parse([]byte(text))
	if err != nil {
		x.t.Fatal(err)
	}
	for {
		changes, err := doc.Next(x.v.Catalogue())
		if err != nil {
			x.t.Fatal(err)
		}
		if len(changes) == 0 {
			return said
		}
		for _, c := range changes {
			said = append(said, c.Text)
			x.do(c.Command)
		}
	}
}

const small = `
assets:
  - {symbol: BTC, name: Bitcoin, scale: 12, enabled: true}
  - {symbol: USD, name: Dollar, scale: 12, enabled: true}
networks:
  - symbol: BTC
    name: Bitcoin
    enabled: true
    assets:
      - {asset: BTC, precision: 8, confirms: 2, min_deposit: "0.1", min_withdrawal: "0.2", fee_min: "0", fee_max: "1", enabled: true}
markets:
  - {base: BTC, quote: USD, base_precision: 6, quote_precision: 2, min_order: "5", initial_price: "60000",
     maker_fee: "0.001", taker_fee: "0.002", stp: cancel_both, collar: "0.1", band: "12.5", max_price: "1000000", enabled: true}
fees:
  volume_asset: USD
  levels:
    - {volume: "0", maker_fee: "0.001", taker_fee: "0.002"}
    - {volume: "1000.5", maker_fee: "0.0005", taker_fee: "0.0015"}
tiers:
  - name: basic
    limits:
      - {asset: USD, withdrawal: {day: "1000", month: "5000.5"}, trade: {month: "9000"}}
      - {asset: BTC, deposit: {day: "0"}}
  - name: full
`

func TestWhatIsAppliedIsListed(t *testing.T) {
	x := newExchange(t)
	got := strings.Join(x.apply(small), "; ")
	const want = "add asset BTC; add asset USD; add network BTC; add asset BTC on network BTC; add market BTC/USD; add fees; add tiers"
	if got != want {
		t.Errorf("changes:\n%s\nwant\n%s", got, want)
	}
	if again := x.apply(small); len(again) != 0 {
		t.Errorf("a second time: %v", again)
	}
	text, err := catalogue.Of(x.v.Catalogue()).Format()
	if err != nil {
		t.Fatal(err)
	}
	if again := x.apply(string(text)); len(again) != 0 {
		t.Errorf("what is listed differs from itself: %v", again)
	}
	if got := x.apply(strings.Replace(small, `taker_fee: "0.002"`, `taker_fee: "0.003"`, 1)); len(got) != 1 || got[0] != "change market BTC/USD" {
		t.Errorf("another fee: %v", got)
	}
	if got := x.apply(strings.Replace(small, `taker_fee: "0.0015"`, `taker_fee: "0.0014"`, 1)); len(got) != 2 || got[1] != "change fees" {
		t.Errorf("another level: %v", got)
	}
	if got := x.apply(small + "  - name: house\n"); len(got) != 2 || got[1] != "change tiers" {
		t.Errorf("another tier: %v", got)
	}
}

func TestWhatCannotBe(t *testing.T) {
	x := newExchange(t)
	x.apply(small)
	for name, c := range map[string]struct{ old, new, says string }{
		"scale":       {"name: Bitcoin, scale: 12", "name: Bitcoin, scale: 13", "scale"},
		"precision":   {"base_precision: 6", "base_precision: 5", "precisions never change"},
		"unknown key": {"name: Dollar", "title: Dollar", "title"},
		"asset":       {"quote: USD", "quote: EUR", `unknown asset "EUR"`},
		"number":      {`fee_max: "1"`, `fee_max: "x"`, "fee_max"},
		"band":        {`band: "12.5"`, `band: "1"`, "band: a ratio must be more than 1"},
		"symbol":      {"symbol: USD", "symbol: usd", "asset usd"},
		"fee asset":   {"volume_asset: USD", "volume_asset: EUR", `line 15: fees: unknown asset "EUR"`},
		"fee volume":  {`volume: "1000.5"`, `volume: "0"`, "line 15: fees: level 1: volume is not above that of level 0"},
		"tier asset":  {"asset: USD, withdrawal", "asset: EUR, withdrawal", `line 20: tiers: tier "basic": unknown asset "EUR"`},
		"tier name":   {"name: full", "name: Full", `tier "Full": a name has 1 to 32 lower-case letters`},
		"tier twice":  {"name: full", "name: basic", `tier "basic" is listed twice`},
		"tier gone":   {"  - name: full\n", "", `number 2 is "full" and stays`},
		"tier's sum":  {`day: "1000"`, `day: "x"`, "asset USD: withdrawal: day: "},
		"limit twice": {"asset: BTC, deposit", "asset: USD, deposit", "asset USD is listed twice"},
		"no tier":     {small[strings.Index(small, "tiers:"):], "tiers: []\n", "tiers: there are 0; 1 to 32 are possible"},
		"fee rate":    {`maker_fee: "0.0005"`, `maker_fee: "1"`, "level 1: maker_fee: a rate must be less than 1"},
		"no fee rate": {`, taker_fee: "0.0015"`, "", "level 1: taker_fee is missing"},
		"fee level 0": {`{volume: "0", `, `{volume: "1", `, "level 0: volume is 1; the first level is everybody's and needs 0"},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		doc, err := catalogue.Parse([]byte(text))
		if err == nil {
			_, err = doc.Next(x.v.Catalogue())
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContractOfAnother refuses a second asset for a contract, whether one document has both or the second comes
// later, and takes an asset's own contract again.
func TestContractOfAnother(t *testing.T) {
	const network = "networks:\n  - symbol: E\n    name: Ether\n    assets:\n"
	entry := func(asset, contract string) string {
		return fmt.Sprintf("      - {asset: %s, confirms: 1, contract: %q, min_deposit: \"1\", min_withdrawal: \"1\", fee_min: \"0\", fee_max: \"1\"}\n",
			asset, contract)
	}
	const says = "asset USD on network E: contract 0xaB is another asset's on this network"
	first, second := entry("BTC", "0xAb"), entry("USD", "0xaB")
	x := newExchange(t)
	x.apply(small)
	if got := x.refused(network + first + second); !strings.Contains(got, says) {
		t.Errorf("in one document: %s", got)
	}
	x.apply(network + first)
	x.apply(network + first)
	if got := x.refused(network + second); !strings.Contains(got, says) {
		t.Errorf("later: %s", got)
	}
	x.apply(network + entry("USD", "0xCd"))
}

// refused makes the changes of a document up to the first that cannot be, and returns what it says of that.
func (x *exchange) refused(text string) string {
	x.t.Helper()
	doc, err := catalogue.Parse([]byte(text))
	if err != nil {
		x.t.Fatal(err)
	}
	for {
		changes, err := doc.Next(x.v.Catalogue())
		if err != nil || len(changes) == 0 {
			return fmt.Sprint(err)
		}
		for _, c := range changes {
			x.do(c.Command)
		}
	}
}

// TestErrorsNameTheLine wants the line of the entry that is wrong, and what is missing
// there.
func TestErrorsNameTheLine(t *testing.T) {
	x := newExchange(t)
	x.apply(small)
	for text, says := range map[string]string{
		"assets:\n  - {symbol: BTC, name: Bitcoin, scale: 3}\n":                                           "line 2: asset BTC: its scale",
		"assets:\n\n  - symbol: btc\n    name: x\n":                                                       "line 3: asset btc: ",
		"networks:\n  - symbol: BTC\n    name: B\n    enabled: true\n    assets:\n      - {asset: EUR}\n": `line 6: asset EUR on network BTC: unknown asset "EUR"`,
		"markets:\n  - {base: BTC, quote: USD, base_precision: 6, quote_precision: 2}\n":                  "line 2: market BTC/USD: min_order is missing",
		"markets:\n  - {base: BTC}\n  - {}\n":                                                             "line 2: market BTC/: unknown asset",
	} {
		doc, err := catalogue.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var changes []catalogue.Change
		for changes, err = doc.Next(x.v.Catalogue()); err == nil && len(changes) > 0; changes, err = doc.Next(x.v.Catalogue()) {
			for i := range changes {
				x.do(changes[i].Command)
			}
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}

// TestFormatIsDocumented wants each key of a document in docs/catalogue.md.
func TestFormatIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/catalogue.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, entry := range []any{
		catalogue.Document{}, catalogue.Asset{}, catalogue.Network{}, catalogue.Carriage{}, catalogue.Market{},
		catalogue.Fees{}, catalogue.FeeLevel{}, catalogue.Tier{}, catalogue.TierLimits{}, catalogue.FlowLimit{},
	} {
		kind := reflect.TypeOf(entry)
		for i := range kind.NumField() {
			key, _, _ := strings.Cut(kind.Field(i).Tag.Get("yaml"), ",")
			if key == "" {
				continue
			}
			keys++
			if !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("%s of a %s is not documented", key, kind.Name())
			}
		}
	}
	if keys < 30 {
		t.Errorf("only %d keys were found", keys)
	}
}

// TestMarketsDifferWithoutSlash refuses a market that has another one's name without its slash.
func TestMarketsDifferWithoutSlash(t *testing.T) {
	const assets = "assets:\n  - {symbol: AB, name: a, scale: 12, enabled: true}\n  - {symbol: A, name: b, scale: 12, enabled: true}\n" +
		"  - {symbol: C, name: c, scale: 12, enabled: true}\n  - {symbol: BC, name: d, scale: 12, enabled: true}\n"
	const terms = `base_precision: 6, quote_precision: 2, min_order: "1", initial_price: "1", maker_fee: "0", taker_fee: "0"}` + "\n"
	const first, second = "  - {base: AB, quote: C, " + terms, "  - {base: A, quote: BC, " + terms
	const says = "without the slash it is ABC, as "

	refused := func(x *exchange, text, want string) {
		t.Helper()
		doc, err := catalogue.Parse([]byte(text))
		if err == nil {
			_, err = doc.Next(x.v.Catalogue())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	x := newExchange(t)
	x.apply(assets)
	refused(x, assets+"markets:\n"+first+second, "market AB/C: "+says+"A/BC is")
	x.apply(assets + "markets:\n" + first)
	refused(x, assets+"markets:\n"+second, "line 7: market A/BC: "+says+"AB/C is")
}
