package connect_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/connect"
)

// TestCreditAlone connects a network with a bound of what its one node credits, in the scales of the catalogue.
func TestCreditAlone(t *testing.T) {
	const contract = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	l := connect.Local{
		Clock: func() bourse.Time { return 0 }, Native: "ETH",
		Terms:  []*bourse.NetworkAsset{{Asset: 1}, {Asset: 2, Contract: contract}},
		Assets: []*bourse.Asset{nil, {ID: 1, Symbol: "ETH", Scale: 10}, {ID: 2, Symbol: "USDT", Scale: 2}},
	}
	for setting, want := range map[string]any{
		"":                                       map[bourse.AssetID]uint64(nil),
		"credit-alone: {}\n  ":                   map[bourse.AssetID]uint64{},
		`credit-alone: {USDT: "2.5"}` + "\n  ":   map[bourse.AssetID]uint64{2: 250},
		`credit-alone: {DAI: "1"}` + "\n  ":      "credit-alone: the catalogue does not list all of its 1 coins",
		`credit-alone: {USDT: "0.001"}` + "\n  ": "credit-alone: USDT",
	} {
		list, err := connect.ParseProduction([]byte(strings.Replace(block(t), "params: 1115", setting+"params: 1115", 1)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := list[1].Connect(t.Context(), l)
		if text, refused := want.(string); refused {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", setting, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		amounts := want.(map[bourse.AssetID]uint64)
		if (c.Alone == nil) != (amounts == nil) || len(c.Alone) != len(amounts) || c.Alone[2] != bourse.Units(amounts[2]) {
			t.Errorf("%s: got %v", setting, c.Alone)
		}
	}
}
