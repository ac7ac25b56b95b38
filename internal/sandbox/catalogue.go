package sandbox

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// scale is the ledger scale of most of the sandbox's assets: four decimals more than
// their networks move.
const scale = 12

// TestAssets is the number of assets that make the lists long.
const TestAssets = 60

// feeRate is the fee of makers and takers: 0.1 %.
const feeRate = 1000

// collar bounds MARKET orders and triggered stops to 10 % around the last price, so that
// orders without a price may wait to buy an amount.
const collar = 100_000

// DefaultPair is the market that newcomers see first.
const DefaultPair bourse.Pair = "BTC/USDT"

type asset struct {
	symbol bourse.Symbol
	name   string
	scale  uint8
}

var assets = []asset{
	{"BTC", "Bitcoin", scale},
	{"ETH", "Ether", 18},
	{"LTC", "Litecoin", scale},
	{"USDT", "Tether USD", scale},
	{"ATOM", "Cosmos", scale},
}

// carriage is an asset on a network, with its precision and terms.
type carriage struct {
	asset     bourse.Symbol
	precision uint8
	confirms  uint32
	contract  string
	// Decimals in the asset.
	minDeposit, minWithdrawal, feeMin, feeMax string
}

type network struct {
	symbol         bourse.Symbol
	name, memoName string
	carries        []carriage
}

var networks = []network{
	{"BTC", "Bitcoin", "", []carriage{
		{"BTC", 8, 2, "", "0.00001", "0.0001", "0.00001", "0.001"},
	}},
	{"LTC", "Litecoin", "", []carriage{
		{"LTC", 8, 2, "", "0.001", "0.01", "0.0001", "0.01"},
	}},
	{"ETH", "Ethereum", "", []carriage{
		{"ETH", 18, 3, "", "0.001", "0.001", "0.0001", "0.01"},
		{"USDT", 6, 3, "0xdAC17F958D2ee523a2206206994597C13D831ec7", "1", "2", "0.1", "10"},
	}},
	{"ATOM", "Cosmos Hub", "Memo", []carriage{
		{"ATOM", 6, 1, "", "0.01", "0.01", "0.001", "0.1"},
	}},
}

// market is a pair with its precisions, least order, initial price and collar.
type market struct {
	base, quote                   bourse.Symbol
	basePrecision, quotePrecision uint8
	minOrder, initial             string
	collar                        bourse.Rate
}

var markets = []market{
	{"BTC", "USDT", 6, 2, "5", "60000", collar},
	{"ETH", "USDT", 5, 2, "5", "3000", collar},
	{"LTC", "USDT", 4, 2, "5", "80", collar},
	{"ATOM", "USDT", 2, 4, "5", "8", collar},
	{"ETH", "BTC", 3, 5, "0.0001", "0.05", collar},
}

// testNetwork carries the test assets, so that no real-looking network does.
const testNetwork = "TEST"

// feeLevel is a level of the schedule of fees: volume in USDT, rates as shares.
type feeLevel struct{ volume, maker, taker string }

// feeLevels is the schedule. Level 0 has the rates of the markets.
var feeLevels = []feeLevel{
	{"0", "0.001", "0.001"},
	{"100000", "0.0008", "0.001"},
	{"1000000", "0.0006", "0.0008"},
	{"10000000", "0.0004", "0.0006"},
}

// Catalogue returns the commands that list the sandbox's assets, networks and markets on
// an exchange without any: ids are counted from one. A wide catalogue lists TestAssets
// more, after the others.
func Catalogue(wide bool) []bourse.Command {
	tests := 0
	if wide {
		tests = TestAssets
	}

	c := &catalogue{assets: map[bourse.Symbol]bourse.AssetID{}, scales: map[bourse.Symbol]uint8{}}
	for _, a := range assets {
		c.addAsset(a, false)
	}
	for i := range tests {
		c.addAsset(asset{testSymbol(i), fmt.Sprintf("Test asset %02d", i+1), scale}, true)
	}

	for _, n := range networks {
		c.addNetwork(n, false)
	}
	test := network{symbol: testNetwork, name: "Test network"}
	for i := range tests {
		test.carries = append(test.carries, carriage{testSymbol(i), 8, 1, "", "0.01", "0.01", "0.001", "0.1"})
	}
	if wide {
		c.addNetwork(test, true)
	}

	for _, m := range markets {
		c.addMarket(m)
	}
	for i := range tests {
		c.addMarket(market{testSymbol(i), "USDT", 4, 4, "1", fmt.Sprint(i + 1), 0})
	}
	c.addFees()
	return c.commands
}

func testSymbol(i int) bourse.Symbol { return bourse.Symbol(fmt.Sprintf("TEST%02d", i+1)) }

// catalogue gathers commands and the ids that they will define.
type catalogue struct {
	commands []bourse.Command
	assets   map[bourse.Symbol]bourse.AssetID
	scales   map[bourse.Symbol]uint8
	networks bourse.NetworkID
}

func (c *catalogue) addAsset(a asset, experimental bool) {
	c.assets[a.symbol], c.scales[a.symbol] = bourse.AssetID(len(c.assets)+1), a.scale
	c.commands = append(c.commands, bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
		Symbol: a.symbol, Name: a.name, Scale: a.scale, Enabled: true, Experimental: experimental,
	}})
}

func (c *catalogue) addNetwork(n network, experimental bool) {
	c.networks++
	c.commands = append(c.commands, bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
		Symbol: n.symbol, Name: n.name, MemoName: n.memoName, Enabled: true, Experimental: experimental,
	}})
	for _, on := range n.carries {
		amount := func(s string) bourse.Amount { return units(s, c.scales[on.asset]) }
		c.commands = append(c.commands, bourse.Command{
			Kind: bourse.CommandDefineNetworkAsset,
			NetworkAsset: &bourse.NetworkAsset{
				Asset: c.assets[on.asset], Network: c.networks, Precision: on.precision, Confirms: on.confirms,
				Contract: on.contract, MinDeposit: amount(on.minDeposit), MinWithdrawal: amount(on.minWithdrawal),
				FeeMin: amount(on.feeMin), FeeMax: amount(on.feeMax), Enabled: true,
			},
		})
	}
}

func (c *catalogue) addMarket(m market) {
	initial, err := bourse.ParsePrice(m.initial, m.quotePrecision)
	if err != nil {
		bourse.Impossible("initial price of %s/%s: %v", m.base, m.quote, err)
	}
	c.commands = append(c.commands, bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: c.assets[m.base], Quote: c.assets[m.quote],
		BasePrecision: m.basePrecision, QuotePrecision: m.quotePrecision, Enabled: true,
		SelfTrade: bourse.SelfTradeNone, MinOrder: units(m.minOrder, c.scales[m.quote]),
		InitialPrice: initial, MaxPrice: bourse.MaxPrice, Maker: feeRate, Taker: feeRate,
		Collar: m.collar,
	}})
}

func (c *catalogue) addFees() {
	s := &bourse.FeeSchedule{VolumeAsset: c.assets["USDT"]}
	for _, l := range feeLevels {
		s.Levels = append(s.Levels, bourse.FeeLevel{
			Volume: units(l.volume, c.scales["USDT"]), Maker: parseRate(l.maker), Taker: parseRate(l.taker),
		})
	}
	c.commands = append(c.commands, bourse.Command{Kind: bourse.CommandDefineFees, Fees: s})
}

func parseRate(s string) bourse.Rate {
	r, err := bourse.ParseRate(s)
	if err != nil {
		bourse.Impossible("rate %s: %v", s, err)
	}
	return r
}

// units parses one of the decimals above.
func units(s string, scale uint8) bourse.Amount {
	a, err := bourse.ParseAmount(s, scale)
	if err != nil {
		bourse.Impossible("amount %s: %v", s, err)
	}
	return a
}
