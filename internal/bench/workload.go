package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	"github.com/bourse-exchange/bourse"
)

// recordSize is the bytes of a workload's record: {u8 type, u8 side, u16 0,
// u32 user, u64 id, i64 price, i64 qty}, little-endian.
const recordSize = 32

// The types of a workload's records.
const (
	addGTC = iota
	addIOC
	cancelOrder
	addMarket
)

// Workload is a file of orders and cancels for one market: a prefill that is not
// measured, then the commands that are.
type Workload struct {
	prefill, measured []byte
	// count is how many commands are measured.
	count, users int
	// want are the totals that a correct engine reaches, where they are known.
	want *Totals
}

// Totals are what a run did, prefill apart.
type Totals struct {
	Trades uint64 `json:"trades"`
	// Volume is in lots, Notional in ticks × lots.
	Volume   uint64 `json:"volume"`
	Notional uint64 `json:"notional"`
}

// Load reads a workload and, beside it in FILE.json, the size of its prefill and
// the totals that it must reach.
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
	if len(data)%recordSize != 0 || side.Prefill < 0 || side.Prefill > len(data)/recordSize || side.Users < 1 {
		return nil, fmt.Errorf("%s is not a workload", path)
	}
	cut := side.Prefill * recordSize
	return &Workload{prefill: data[:cut], measured: data[cut:], count: len(data)/recordSize - side.Prefill, users: side.Users, want: &side.Totals}, nil
}

// appendCanceled appends the orders that records cancel.
func appendCanceled(ids []bourse.OrderID, records []byte) []bourse.OrderID {
	for ; len(records) > 0; records = records[recordSize:] {
		if records[0] == cancelOrder {
			ids = append(ids, bourse.OrderID(binary.LittleEndian.Uint64(records[8:])))
		}
	}
	return ids
}

// read turns a record into a command for market 1. Prices are ticks and
// quantities lots; users are accounts. It sets what the command's kind reads and
// leaves the rest, so that c is reused without being cleared.
func read(record []byte, c *bourse.Command) {
	le := binary.LittleEndian
	record = record[:recordSize]
	c.Account = bourse.AccountID(le.Uint32(record[4:]))
	if record[0] == cancelOrder {
		c.Kind, c.Order = bourse.CommandCancel, bourse.OrderID(le.Uint64(record[8:]))
		return
	}
	c.Kind = bourse.CommandPlace
	how := ways[record[0]%byte(len(ways))]
	p := &c.Place
	p.Market, p.Side, p.Type, p.TIF = 1, bourse.Side(record[1]+1), how.typ, how.tif
	p.Price, p.Lots = bourse.Price(le.Uint64(record[16:])), bourse.Lots(le.Uint64(record[24:]))
}

// ways are how orders are placed, by type of record.
var ways = [4]struct {
	typ bourse.OrderType
	tif bourse.TimeInForce
}{
	addGTC:    {bourse.Limit, bourse.GTC},
	addIOC:    {bourse.Limit, bourse.IOC},
	addMarket: {bourse.MarketOrder, bourse.IOC},
}

// opening returns the commands that open an exchange with the workload's market
// and accounts that can afford everything. Fees are 0.1 %, so that each trade
// posts them.
func (w *Workload) opening() []bourse.Command {
	const scale, fee = 12, 1000
	list := []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BASE", Name: "Base", Scale: scale, Enabled: true}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "QUOTE", Name: "Quote", Scale: scale, Enabled: true}},
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
