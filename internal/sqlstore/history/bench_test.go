package history_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// business makes batches that look like a busy exchange: for each ten orders
// that end, four trades with two fills and four entries of a ledger each.
type business struct {
	random *rand.Rand
	// customers is how many accounts trade.
	customers int
	seq       bourse.Seq
	order     bourse.OrderID
	time      bourse.Time
	numbers   map[bourse.MarketID]uint64
	orders    map[bourse.AccountID]uint64
	fills     map[bourse.AccountID]uint64
}

const markets = 10

func newBusiness(customers int) *business {
	return &business{
		customers: customers,
		random:    rand.New(rand.NewPCG(1, 2)), time: 1_700_000_000 * bourse.Second,
		numbers: map[bourse.MarketID]uint64{}, orders: map[bourse.AccountID]uint64{}, fills: map[bourse.AccountID]uint64{},
	}
}

// fill fills a batch with about some rows.
func (b *business) fill(batch *history.Batch, rows int) {
	batch.Reset()
	batch.From = b.seq + 1
	for batch.Rows() < rows {
		for range 10 {
			b.close(batch)
		}
		for range 4 {
			b.trade(batch)
		}
	}
	batch.To, batch.Time = b.seq, b.time
}

func (b *business) close(batch *history.Batch) {
	b.seq++
	b.order++
	b.time += 50
	account := bourse.AccountID(b.random.IntN(b.customers) + 1)
	b.orders[account]++
	o := history.Order{Seq: b.seq, Closed: b.time, Order: bourse.Order{
		ID: b.order, Account: account, Status: bourse.Canceled, Ordinal: b.orders[account], Time: b.time - 1000,
		Filled: 17, NewOrder: bourse.NewOrder{
			Market: bourse.MarketID(b.random.IntN(markets) + 1), Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC,
			SelfTrade: bourse.CancelNewest, Price: 6_543_210, Lots: 123_456,
		},
	}}
	if b.order%4 == 0 {
		o.ClientID, _ = bourse.ParseClientID("0190c2f8-6b1e-7c1d-9f3a-" + o.Time.Std().Format("150405.00000"))
	}
	batch.Orders = append(batch.Orders, o)
}

func (b *business) trade(batch *history.Batch) {
	b.seq++
	b.time += 50
	market := bourse.MarketID(b.random.IntN(markets) + 1)
	b.numbers[market]++
	t := history.Trade{
		Seq: b.seq, Market: market, Number: b.numbers[market], Time: b.time, TakerSide: bourse.Sell,
		Price: bourse.Price(6_543_210 + b.random.IntN(1000)), Lots: 1234, Total: bourse.Units(8_074_321_140),
	}
	batch.Trades = append(batch.Trades, t)
	for role := bourse.Maker; role <= bourse.Taker; role++ {
		account := bourse.AccountID(b.random.IntN(b.customers) + 1)
		b.fills[account]++
		batch.Fills = append(batch.Fills, history.Fill{
			Seq: b.seq, Account: account, Ordinal: b.fills[account], Order: b.order - bourse.OrderID(b.random.IntN(10)),
			Market: market, Trade: t.Number, Time: b.time, Side: bourse.Buy, Role: role, Price: t.Price, Lots: t.Lots, Total: t.Total,
			Fee: bourse.Units(1234),
		})
		for leg := range uint32(2) {
			batch.Entries = append(batch.Entries, history.Entry{
				EntryPlace: history.EntryPlace{Seq: b.seq, Place: 2*uint32(role-bourse.Maker) + leg}, Time: b.time, Account: account,
				Asset: bourse.AssetID(1 + leg*uint32(market)), Kind: history.EntryTrade, Debit: leg == 0, Amount: t.Total,
				Balance: bourse.Units(123_456_789_012 + uint64(b.seq)), Market: market, Trade: t.Number, Order: b.order,
			})
		}
	}
}

// BenchmarkWrite writes batches of the size that the follower writes when it has
// to catch up.
func BenchmarkWrite(b *testing.B) {
	for kind, place := range places {
		b.Run(kind, func(b *testing.B) { benchmarkWrite(b, place(b)) })
	}
}

func benchmarkWrite(b *testing.B, place string) {
	store, err := sqlhistory.Open(b.Context(), place)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	work, batch, rows := newBusiness(1000), history.Batch{}, 0
	for b.Loop() {
		b.StopTimer()
		work.fill(&batch, 20_000)
		b.StartTimer()
		if err := store.Write(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
		rows += batch.Rows()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkPage reads pages of an account with a million orders, the newest ones
// and those behind an offset of 100,000, and one order by its id.
func BenchmarkPage(b *testing.B) {
	for kind, place := range places {
		store, err := sqlhistory.Open(b.Context(), place(b))
		if err != nil {
			b.Fatal(err)
		}
		work, batch := newBusiness(1), history.Batch{}
		for work.orders[1] < 1_000_000 {
			work.fill(&batch, 20_000)
			if err := store.Write(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
		}
		for name, skip := range map[string]uint64{"first": 0, "behind 100000": 100_000} {
			span := history.Span{First: work.orders[1] - skip - 49, Last: work.orders[1] - skip}
			b.Run(kind+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if list, err := store.Orders(b.Context(), 1, span); err != nil || len(list) != 50 {
						b.Fatal(len(list), err)
					}
				}
			})
		}
		b.Run(kind+"/by id", func(b *testing.B) {
			for id := bourse.OrderID(1); b.Loop(); id = 1 + (id+99_991)%work.order {
				if _, found, err := store.Order(b.Context(), 1, id); err != nil || !found {
					b.Fatal(id, found, err)
				}
			}
		})
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
