package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// recordSize is the size of a workload's record in bytes: {u8 type, u8 side, u16 0, u32
// user, u64 id, i64 price, i64 qty}, little-endian.
const recordSize = 32

// The types of a workload's records.
const (
	addGTC = iota
	addIOC
	cancelOrder
	addMarket
)

// Workload is a list of orders and cancels for one market: an unmeasured prefill, then
// the measured commands.
type Workload struct {
	prefill, measured []item
	users             int
	// want are the totals that a correct engine reaches, nil if they are unknown.
	want *Totals
}

// item is one command of a workload. A cancel has no price and no lots, a placed order no
// order ID.
type item struct {
	kind    bourse.CommandKind
	side    bourse.Side
	typ     bourse.OrderType
	tif     bourse.TimeInForce
	account bourse.AccountID
	order   bourse.OrderID
	price   bourse.Price
	lots    bourse.Lots
}

// Totals are the trading of a run without the prefill.
type Totals struct {
	Trades uint64 `json:"trades"`
	// Volume is in lots, Notional in ticks × lots.
	Volume   uint64 `json:"volume"`
	Notional uint64 `json:"notional"`
}

// Load reads a workload and, from FILE.json beside it, the size of its prefill and its
// totals.
func Load(path string) (*Workload, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	about, err := os.ReadFile(path + ".json") //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}

	var side struct {
		Prefill, Users int
		Totals
	}
	if err := json.Unmarshal(about, &side); err != nil {
		return nil, fmt.Errorf("%s.json: %w", path, err)
	}

	list, ok := parse(data)
	if !ok || side.Prefill < 0 || side.Prefill > len(list) || side.Users < 1 {
		return nil, fmt.Errorf("%s is not a workload", path)
	}
	return &Workload{
		prefill: list[:side.Prefill], measured: list[side.Prefill:], users: side.Users, want: &side.Totals,
	}, nil
}

// parse reads the records of a file. Prices are ticks and quantities lots; users are
// accounts.
func parse(data []byte) ([]item, bool) {
	if len(data)%recordSize != 0 {
		return nil, false
	}

	le := binary.LittleEndian
	list := make([]item, 0, len(data)/recordSize)
	for ; len(data) > 0; data = data[recordSize:] {
		in := item{account: bourse.AccountID(le.Uint32(data[4:]))}
		switch data[0] {
		case cancelOrder:
			in.kind, in.order = bourse.CommandCancel, bourse.OrderID(le.Uint64(data[8:]))
		case addGTC, addIOC, addMarket:
			how := ways[data[0]]
			in.kind, in.side, in.typ, in.tif = bourse.CommandPlace, bourse.Side(data[1]+1), how.typ, how.tif
			in.price, in.lots = bourse.Price(le.Uint64(data[16:])), bourse.Lots(le.Uint64(data[24:]))
		default:
			return nil, false
		}
		list = append(list, in)
	}
	return list, true
}

// write sets the command, for market 1. It sets every field that either kind uses, so
// that c can be reused without clearing it.
func (in *item) write(c *bourse.Command) {
	c.Kind, c.Account, c.Order = in.kind, in.account, in.order
	p := &c.NewOrder
	p.Market, p.Side, p.Type, p.TIF, p.Price, p.Lots = 1, in.side, in.typ, in.tif, in.price, in.lots
}

// appendCanceled appends the orders that a part of a workload cancels, without a branch,
// since branches on random commands are mispredicted.
func appendCanceled(ids []bourse.OrderID, part []item) []bourse.OrderID {
	n := len(ids)
	ids = slices.Grow(ids, len(part))[:n+len(part)]
	for i := range part {
		ids[n] = part[i].order
		if part[i].kind == bourse.CommandCancel {
			n++
		}
	}
	return ids[:n]
}

// ways are the order type and time in force by type of record.
var ways = [4]struct {
	typ bourse.OrderType
	tif bourse.TimeInForce
}{
	addGTC:    {bourse.Limit, bourse.GTC},
	addIOC:    {bourse.Limit, bourse.IOC},
	addMarket: {bourse.MarketOrder, bourse.IOC},
}

// opening returns the commands that create the workload's market and accounts that can
// afford every order. Fees are 0.1 %, so that each trade posts them.
func (w *Workload) opening() []bourse.Command {
	const scale, fee = 12, 1000
	list := []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "BASE", Name: "Base", Scale: scale, Enabled: true,
		}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "QUOTE", Name: "Quote", Scale: scale, Enabled: true,
		}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 6, QuotePrecision: 2, Enabled: true,
			SelfTrade: bourse.SelfTradeNone, InitialPrice: 100_000, MaxPrice: bourse.MaxPrice, Maker: fee, Taker: fee,
		}},
	}

	plenty := bourse.Amount{Hi: 1 << 40}
	for user := 1; user <= w.users; user++ {
		list = append(list, bourse.Command{Kind: bourse.CommandCreateAccount})
		for asset := bourse.AssetID(1); asset <= 2; asset++ {
			list = append(list, bourse.Command{
				Kind: bourse.CommandCredit, Account: bourse.AccountID(user), AssetID: asset, Amount: plenty,
			})
		}
	}

	return list
}
