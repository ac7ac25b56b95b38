package historytest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// Place makes a place for one store and returns the function that opens it. Opened again
// after a Close, the store has its rows. The caller closes.
type Place func(t *testing.T) (open func() history.Store)

// Run tests a kind of store against the contract.
func Run(t *testing.T, place Place) {
	for _, c := range []struct {
		name string
		test func(*testing.T, func() history.Store)
	}{
		{"an empty store", testEmpty},
		{"batches follow each other", testCursor},
		{"a batch without rows", testNoRows},
		{"a write that is given up", testGivenUp},
		{"the largest numbers", testLargest},
		{"a candle that is full", testSaturation},
		{"whole batches are seen", testWholeBatches},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, place(t)) })
	}

	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("a random past, seed %d", seed), func(t *testing.T) { testPast(t, place(t), seed) })
	}
}

// opened opens a store and closes it at the end of the test.
func opened(t *testing.T, open func() history.Store) history.Store {
	t.Helper()
	s := open()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func write(t *testing.T, s history.Store, b *history.Batch) {
	t.Helper()
	if err := s.Write(context.Background(), b); err != nil {
		t.Fatalf("writing commands %d to %d: %v", b.From, b.To, err)
	}
}

func wantCursor(t *testing.T, s history.Store, want history.Cursor) {
	t.Helper()
	got, err := s.Cursor(context.Background())
	if err != nil || got != want {
		t.Errorf("cursor %+v (%v), want %+v", got, err, want)
	}
}

func testEmpty(t *testing.T, open func() history.Store) {
	s := opened(t, open)
	wantCursor(t, s, history.Cursor{})
	compare(t, newPast(1), NewMemory(), s)
}

func testCursor(t *testing.T, open func() history.Store) {
	s, model, p := opened(t, open), NewMemory(), newPast(2)
	for range 3 {
		b := p.batch(50)
		write(t, s, b)
		write(t, model, b)
		wantCursor(t, s, p.cursor)
	}

	was := p.cursor
	next := p.batch(50)
	for _, from := range []bourse.Seq{1, next.From - 1, next.From + 1} {
		b := *next
		b.From = from
		if err := s.Write(context.Background(), &b); !errors.Is(err, history.ErrOutOfOrder) {
			t.Errorf("a batch from %d at %d: %v", from, was.Seq, err)
		}
	}
	wantCursor(t, s, was)

	compare(t, p, model, s)
	write(t, s, next)
	write(t, model, next)
	compare(t, p, model, s)
}

func testNoRows(t *testing.T, open func() history.Store) {
	s := opened(t, open)
	write(t, s, &history.Batch{From: 1, To: 7, Time: 5, Chain: [32]byte{1}})
	wantCursor(t, s, history.Cursor{Seq: 7, Time: 5, Chain: [32]byte{1}})
	write(t, s, &history.Batch{From: 8, To: 8, Time: 5, Chain: [32]byte{31: 2}})
	wantCursor(t, s, history.Cursor{Seq: 8, Time: 5, Chain: [32]byte{31: 2}})
}

// testGivenUp writes with an ended context: either all rows are there, or none.
func testGivenUp(t *testing.T, open func() history.Store) {
	s, model, p := opened(t, open), NewMemory(), newPast(3)
	b := p.batch(100)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Write(ctx, b); err == nil {
		write(t, model, b)
	}
	compare(t, p, model, s)
	if c, _ := s.Cursor(context.Background()); c.Seq == 0 {
		write(t, s, b)
		write(t, model, b)
	}
	compare(t, p, model, s)
}

// testPast writes a long past in batches of all sizes, reopens the store now and then,
// and compares all answers.
func testPast(t *testing.T, open func() history.Store, seed uint64) {
	s, model, p := open(), NewMemory(), newPast(seed)
	defer func() { _ = s.Close() }()

	for i := range 24 {
		b := p.batch(1 + p.rng.IntN(1<<(i%9)))
		write(t, s, b)
		write(t, model, b)
		if p.rng.IntN(6) == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open()
		}
		wantCursor(t, s, p.cursor)
		compare(t, p, model, s)
		if t.Failed() {
			return
		}
	}
}

// testLargest writes and reads numbers at the ends of their ranges.
func testLargest(t *testing.T, open func() history.Store) {
	s, model := opened(t, open), NewMemory()
	name, _ := bourse.ParseClientID("AZaz09._:-abcdefghijklmnopqrstuvwxyz")
	const far, customer = 1<<62 - 1, bourse.AccountSandbox - 1

	o := bourse.Order{
		ID: far, Account: customer, Status: bourse.Killed, Triggered: true, Amended: true, Ordinal: 1, Time: far,
		Filled: bourse.MaxLots, Prevented: bourse.MaxLots - 1, List: far - 1,
		NewOrder: bourse.NewOrder{
			Market: 1<<16 - 1, Side: bourse.Sell, Type: bourse.StopLimit, TIF: bourse.IOC, SelfTrade: bourse.LastSelfTradeMode,
			PostOnly: true, Price: bourse.MaxPrice, Stop: bourse.MaxPrice, Lots: bourse.MaxLots,
			Total: bourse.MaxAmount, ClientID: name,
		},
	}

	b := &history.Batch{
		From: 1, To: far, Time: far,
		Orders: []history.Order{{Order: o, Seq: far, Closed: far}},
		Trades: []history.Trade{{
			Seq: far, Market: o.Market, Number: 1, Time: far, TakerSide: bourse.Buy,
			Price: bourse.MaxPrice, Lots: bourse.MaxLots, Total: bourse.MaxAmount,
		}},
		Fills: []history.Fill{{
			Seq: far, Account: customer, Ordinal: 1, Order: far, Market: o.Market, Trade: far, Time: far,
			Side: bourse.Sell, Role: bourse.Taker, Price: bourse.MaxPrice, Lots: bourse.MaxLots, Total: bourse.MaxAmount,
			Fee: bourse.Amount{Hi: 1 << 63, Lo: 1},
		}},
		Transfers: []history.Transfer{{Seq: far, Index: 1 << 20, Time: far, Transfer: bourse.Transfer{
			Kind: bourse.TransferFeesCollected, From: customer, To: bourse.NetworkAccount(1<<16 - 1),
			Asset: 1<<16 - 1, Amount: bourse.MaxAmount,
		}}},
		Notes: []history.Note{{Seq: far, Time: far, Operator: 1<<32 - 1, Text: "the end"}},
		Bulletins: []history.Bulletin{{
			BulletinPlace: history.BulletinPlace{Seq: far, Place: 1<<31 - 1}, Time: far, Kind: history.LastBulletinKind, Data: "{}",
		}},
		Amendments: []history.Amendment{{
			Seq: far, Account: customer, Order: far, Time: far, From: bourse.Terms{Price: bourse.MaxPrice, Lots: 1},
			To: bourse.Terms{Price: 1, Lots: bourse.MaxLots},
		}},
		Movements: []history.Movement{{
			Seq: far, Account: customer, Ordinal: far, ID: far, Kind: history.MovementWithdrawal, Network: 1<<16 - 1,
			Asset: 1<<16 - 1, Amount: bourse.MaxAmount, Fee: bourse.MaxAmount, Status: bourse.WalletDone, Memo: "m",
			Address: "a", Tx: bourse.TxHash{0: 1, 31: 255}, Mined: true, Height: far, Target: 1<<32 - 1, Other: far,
			Refunded: true, Created: far, Done: far, Party: customer, Message: bourse.Token{255, 15: 1},
		}},
		Entries: []history.Entry{{
			EntryPlace: history.EntryPlace{Seq: far, Place: 1<<23 - 1}, Time: far, Account: customer, Asset: 1<<16 - 1,
			Kind: history.EntryRefund, Debit: true, Amount: bourse.MaxAmount, Balance: bourse.MaxAmount,
			Market: 1<<16 - 1,
			Trade:  far, Order: far, Movement: far,
		}},
	}

	write(t, s, b)
	write(t, model, b)
	c := comparison{t, model, s}
	c.account(customer, o.Market, everything(9))
	c.account(bourse.NetworkAccount(1<<16-1), o.Market, everything(9))
	c.order(customer, far, name)
	c.market(o.Market, history.Day, 0, 1<<62, 9)
	c.notes(0, 9)
	c.bulletins(history.BulletinPlace{Seq: far - 1}, 9)
	c.bulletins(history.BulletinPlace{Seq: far, Place: 1<<31 - 1}, 9)
	c.amendments(customer, far, far, 9)
	c.movements(customer, far, rand.New(rand.NewPCG(0, 0)))
	same(c, "the last entry", func(s history.Store) ([]history.Entry, error) {
		before := history.EntryPlace{Seq: far, Place: 1 << 23}
		q := &history.LedgerQuery{Account: customer, To: far, Before: before, Limit: 9}
		return s.Entries(context.Background(), q, 1<<16-1)
	})
}

// testSaturation fills a candle beyond the largest amount, in one batch and over
// several.
func testSaturation(t *testing.T, open func() history.Store) {
	s, model := opened(t, open), NewMemory()
	for i := range bourse.Seq(4) {
		b := &history.Batch{From: i + 1, To: i + 1, Time: 10}
		for k := range uint64(2) {
			b.Trades = append(b.Trades, history.Trade{
				Seq: i + 1, Market: 1, Number: uint64(i)*2 + k + 1, Time: 10, TakerSide: bourse.Buy,
				Price: bourse.Price(5 + i), Lots: bourse.MaxLots, Total: bourse.Amount{Hi: 1 << 62, Lo: ^uint64(0)},
			})
		}
		write(t, s, b)
		write(t, model, b)
		comparison{t, model, s}.market(1, history.Minute, 0, 1<<62, 5)
	}

	list, err := s.Candles(context.Background(), history.Series{Market: 1, Width: history.Hour}, 0, 0, 1)
	if err != nil || len(list) != 1 || list[0].Value != bourse.MaxAmount || list[0].Volume.Hi != 1 {
		t.Errorf("%+v (%v)", list, err)
	}
}

// testWholeBatches reads while batches of ten fills are written.
func testWholeBatches(t *testing.T, open func() history.Store) {
	s := opened(t, open)
	const batches, rows = 40, 10
	done := make(chan struct{})
	var readers sync.WaitGroup

	for range 2 {
		readers.Go(func() {
			for last := false; !last && !t.Failed(); {
				select {
				case <-done:
					last = true // one more read
				default:
				}
				checkWhole(t, s, rows)
			}
		})
	}

	for i := range bourse.Seq(batches) {
		b := &history.Batch{From: i + 1, To: i + 1, Time: bourse.Time(i)}
		for k := range uint64(rows) {
			b.Fills = append(b.Fills, history.Fill{
				Seq: i + 1, Account: 1, Ordinal: uint64(i)*rows + k + 1, Order: 1, Market: 1, Trade: 1,
				Time: bourse.Time(i), Side: bourse.Buy, Role: bourse.Maker, Price: 1, Lots: 1,
			})
		}
		write(t, s, b)
	}

	close(done)
	readers.Wait()
}

func checkWhole(t *testing.T, s history.Store, rows int) {
	ctx := context.Background()
	before, err := s.Cursor(ctx)
	if err != nil {
		t.Error(err)
	}
	fills, err := s.Fills(ctx, 1, history.Span{First: 1, Last: 1 << 40})
	switch {
	case err != nil:
		t.Error(err)
	case len(fills)%rows != 0 || len(fills) < int(before.Seq)*rows:
		t.Errorf("%d fills at command %d", len(fills), before.Seq)
	case !slices.IsSortedFunc(fills, func(a, b history.Fill) int { return int(b.Ordinal) - int(a.Ordinal) }):
		t.Error("fills are not newest first")
	}
}
