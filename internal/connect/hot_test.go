package connect_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// TestHot connects a network with bounds of its hot wallet, in the scales of the catalogue. A coin that the catalogue does
// not list there would have none, so its setting is refused.
func TestHot(t *testing.T) {
	const contract = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	l := connect.Local{
		Clock: func() bourse.Time { return 0 }, Native: "ETH",
		Terms:  []*bourse.NetworkAsset{{Asset: 1}, {Asset: 2, Contract: contract}},
		Assets: []*bourse.Asset{nil, {ID: 1, Symbol: "ETH", Scale: 10}, {ID: 2, Symbol: "USDT", Scale: 2}},
	}
	bands := func(setting string) (map[bourse.AssetID]wallet.Band, error) {
		text := strings.Replace(block(t), "params: 1115", "hot: "+setting+"\n  params: 1115", 1)
		list, err := connect.ParseProduction([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := list[1].Connect(t.Context(), l)
		if err != nil {
			return nil, err
		}
		return c.Hot, c.Close()
	}

	got, err := bands(`{low: "1", target: "2", high: "3", coins: {USDT: {low: "0", target: "0.5", high: "0.75"}}}`)
	unit := func(n uint64, scale uint8) bourse.Amount { a, _ := bourse.Units(n).Mul(bourse.Pow10(scale)); return a }
	ether := wallet.Band{Low: unit(1, 10), Target: unit(2, 10), High: unit(3, 10)}
	tether := wallet.Band{Target: unit(5, 1), High: unit(75, 0)}
	if err != nil || len(got) != 2 || got[1] != ether || got[2] != tether {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := bands("{}"); err != nil || len(got) > 0 {
		t.Errorf("without bounds: %+v, %v", got, err)
	}
	for setting, wants := range map[string]string{
		`{coins: {DAI: {low: "0", target: "1", high: "2"}}}`:      "hot: the catalogue does not list all of [DAI]",
		`{coins: {USDT: {low: "0.001", target: "1", high: "2"}}}`: "hot: USDT: low",
	} {
		if _, err := bands(setting); err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%s: got %v, want %s", setting, err, wants)
		}
	}
}
