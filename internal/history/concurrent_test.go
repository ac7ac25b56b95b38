package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// TestReadsBesideTheFollower reads on several goroutines while frames are applied
// and, on another goroutine, rows move from the tail to the store. What was
// announced before a read is in it, nothing is missing between, nothing is
// there twice, and nothing goes back.
func TestReadsBesideTheFollower(t *testing.T) {
	const readers, rounds = 3, 150
	r := newRig(11, 400)
	r.reader.Patience = time.Minute
	r.follow(1)
	turn, frames := make(chan struct{}, readers), make(chan history.Batch, 1024)
	var reading, following sync.WaitGroup
	var watchers [readers]*watcher
	for i := range watchers {
		w := newWatcher(t, r, uint64(i))
		watchers[i] = w
		reading.Go(func() {
			for range rounds {
				w.round()
				turn <- struct{}{}
			}
		})
	}
	following.Go(func() { followSome(r, frames) })
	for range readers * rounds {
		<-turn
		r.frame(r.some(1 + r.rng.IntN(20))...)
		r.pass()
		frames <- r.behind[0]
		r.behind = r.behind[1:]
	}
	reading.Wait()
	close(frames)
	following.Wait()
	for _, w := range watchers {
		w.check()
	}
	if !r.check(t) {
		t.Error("busy, although everything is stored")
	}
}

// followSome writes frames, a random number of them in one go.
func followSome(r *rig, frames <-chan history.Batch) {
	rng := rand.New(rand.NewPCG(5, 5))
	var kept []history.Batch
	flush := func() {
		for _, b := range kept {
			write(r.store, r.tail, &b)
		}
		kept = kept[:0]
	}
	for b := range frames {
		kept = append(kept, b)
		if rng.IntN(12) == 0 || len(frames) == 0 && rng.IntN(3) == 0 || len(kept) > 10 {
			flush()
		}
	}
	flush()
}

// watcher is one reader and what it has learnt.
type watcher struct {
	t   *testing.T
	r   *rig
	rng *rand.Rand
	// seen is the latest state of each order.
	seen map[bourse.OrderID]history.Order
	// orders are all that were read.
	orders []history.OrderFills
	// volumes are those of a market's candles up to a trade.
	volumes []volume
	// moved are the movements as they were seen last.
	moved map[bourse.WalletID]history.Movement
}

type volume struct {
	market bourse.MarketID
	last   uint64
	lots   bourse.Amount
}

func newWatcher(t *testing.T, r *rig, seed uint64) *watcher {
	return &watcher{t: t, r: r, rng: rand.New(rand.NewPCG(seed, 1)), seen: map[bourse.OrderID]history.Order{}, moved: map[bourse.WalletID]history.Movement{}}
}

func (w *watcher) round() {
	account := bourse.AccountID(1 + w.rng.IntN(accounts))
	market := bourse.MarketID(1 + w.rng.IntN(markets))
	w.readOrders(account, market)
	w.readFills(account, market)
	w.readMarket(market)
	w.readMovements(account)
	w.readNotes()
}

func (w *watcher) failed(what string, err error) bool {
	if err != nil {
		w.t.Errorf("%s: %v", what, err)
	}
	return err != nil
}

func (w *watcher) readOrders(account bourse.AccountID, market bourse.MarketID) {
	ctx := context.Background()
	count, _ := w.r.view.Counts(account)
	skip := w.rng.IntN(int(min(count, 60)) + 1)
	list, err := w.r.reader.Orders(ctx, account, &history.ListQuery{Skip: skip, Limit: 40})
	if w.failed("orders", err) {
		return
	}
	if want := min(uint64(40), count-uint64(skip)); uint64(len(list)) < want {
		w.t.Errorf("%d orders of account %d behind %d of %d, want %d", len(list), account, skip, count, want)
	}
	for i := range list {
		if list[i].Ordinal+uint64(skip+i) < count || i > 0 && list[i].Ordinal != list[i-1].Ordinal-1 {
			w.t.Errorf("order %d of %d at %d, skip %d", list[i].Ordinal, count, i, skip)
		}
		w.learn(&list[i])
	}
	if len(list) > 0 {
		w.readOne(account, list[w.rng.IntN(len(list))].Order)
	}
	w.readOrdersIn(account, market, list)
}

// learn holds an order against itself and against what was seen of it before.
func (w *watcher) learn(o *history.OrderFills) {
	var sum bourse.Lots
	for i, f := range o.Fills {
		sum += f.Lots
		if f.Order != o.ID || i > 0 && f.Ordinal <= o.Fills[i-1].Ordinal {
			w.t.Errorf("order %d has fill %d of order %d at %d", o.ID, f.Ordinal, f.Order, i)
		}
	}
	if sum != o.Filled {
		w.t.Errorf("order %d (%s) has %d filled, fills of %d", o.ID, o.Status, o.Filled, sum)
	}
	was := w.seen[o.ID]
	if was.Filled > o.Filled || was.Status > bourse.Open && was != o.Order {
		w.t.Errorf("order %+v was %+v", o.Order, was)
	}
	w.seen[o.ID] = o.Order
	w.orders = append(w.orders, *o)
}

func (w *watcher) readOne(account bourse.AccountID, known history.Order) {
	ctx := context.Background()
	o, found, err := w.r.reader.Order(ctx, account, known.ID)
	if w.failed("order", err) {
		return
	}
	if !found {
		w.t.Errorf("order %d is gone", known.ID)
		return
	}
	w.learn(&o)
	if known.ClientID.IsZero() {
		return
	}
	o, found, err = w.r.reader.OrderNamed(ctx, account, known.ClientID)
	if w.failed("named order", err) {
		return
	}
	if !found || o.ClientID != known.ClientID || o.Ordinal < known.Ordinal {
		w.t.Errorf("order %d by name: %d, %t", known.ID, o.ID, found)
		return
	}
	w.learn(&o)
}

// readOrdersIn reads the orders of a market: those that a page of all showed are
// among them.
func (w *watcher) readOrdersIn(account bourse.AccountID, market bourse.MarketID, all []history.OrderFills) {
	list, err := w.r.reader.Orders(context.Background(), account, &history.ListQuery{Market: market, Limit: 150})
	if w.failed("orders of a market", err) {
		return
	}
	in := map[bourse.OrderID]bool{}
	for i := range list {
		in[list[i].ID] = true
		if i > 0 && list[i].Ordinal >= list[i-1].Ordinal || list[i].Market != market {
			w.t.Errorf("order %d of market %d at %d", list[i].Ordinal, list[i].Market, i)
		}
		w.learn(&list[i])
	}
	for i := range all {
		if all[i].Market == market && !in[all[i].ID] {
			w.t.Errorf("order %d is not among those of market %d", all[i].ID, market)
		}
	}
}

func (w *watcher) readFills(account bourse.AccountID, market bourse.MarketID) {
	ctx := context.Background()
	_, count := w.r.view.Counts(account)
	skip := w.rng.IntN(int(min(count, 60)) + 1)
	list, err := w.r.reader.Fills(ctx, account, &history.ListQuery{Skip: skip, Limit: 40})
	if w.failed("fills", err) {
		return
	}
	ordinals := make([]uint64, len(list))
	for i := range list {
		ordinals[i] = list[i].Ordinal
	}
	w.dense(fmt.Sprint("fills of account ", account), ordinals, count, skip)
	list, err = w.r.reader.Fills(ctx, account, &history.ListQuery{Market: market, Skip: skip, Limit: 40})
	if w.failed("fills of a market", err) {
		return
	}
	for i := range list {
		if list[i].Market != market || i > 0 && list[i].Ordinal >= list[i-1].Ordinal {
			w.t.Errorf("fill %d of market %d at %d", list[i].Ordinal, list[i].Market, i)
		}
	}
}

// dense holds a page of 40 against the count that was announced before it was
// read.
func (w *watcher) dense(about string, numbers []uint64, count uint64, skip int) {
	if want := min(40, count-uint64(skip)); uint64(len(numbers)) < want {
		w.t.Errorf("%s: %d behind %d of %d", about, len(numbers), skip, count)
	}
	for i, n := range numbers {
		if n+uint64(skip+i) < count || i > 0 && n != numbers[i-1]-1 {
			w.t.Errorf("%s: %d of %d at %d, skip %d", about, n, count, i, skip)
		}
	}
}

func (w *watcher) readMarket(market bourse.MarketID) {
	ctx := context.Background()
	count := w.r.view.LastTrade(market)
	skip := w.rng.IntN(int(min(count, 60)) + 1)
	list, err := w.r.reader.Trades(ctx, market, skip, 40)
	if w.failed("trades", err) {
		return
	}
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[i] = list[i].Number
	}
	w.dense(fmt.Sprint("trades of market ", market), numbers, count, skip)

	res := [...]bourse.Resolution{bourse.Resolution60, bourse.Resolution240}[w.rng.IntN(2)]
	candles, _, err := w.r.reader.Candles(ctx, &history.CandleQuery{
		Market: market, Resolution: res, To: 1 << 62, Limit: 1 << 20,
	})
	if w.failed("candles", err) {
		return
	}
	v := volume{market: market}
	for i, c := range candles {
		v.last = max(v.last, c.Last)
		v.lots = v.lots.Plus(c.Volume)
		if i > 0 && (c.Start != candles[i-1].Start+res.Width() || c.Last == 0 && c.Open != candles[i-1].Close) {
			w.t.Errorf("candle %+v after %+v", c, candles[i-1])
		}
	}
	if v.last < count {
		w.t.Errorf("candles up to trade %d of %d", v.last, count)
	}
	w.volumes = append(w.volumes, v)
}

// check holds what was read against what happened, once all is known.
func (w *watcher) check() {
	for _, o := range w.orders {
		all := w.r.all.orders[o.ID-1].Fills
		if !slices.Equal(o.Fills, all[:min(len(o.Fills), len(all))]) {
			w.t.Errorf("order %d had the fills %+v, they are %+v", o.ID, o.Fills, all)
		}
	}
	for _, v := range w.volumes {
		var sum bourse.Amount
		for _, t := range w.r.all.trades {
			if t.Market == v.market && t.Number <= v.last {
				sum = sum.Plus(bourse.Units(uint64(t.Lots)))
			}
		}
		if sum != v.lots {
			w.t.Errorf("market %d: candles up to trade %d had a volume of %v, want %v", v.market, v.last, v.lots, sum)
		}
	}
}

func (w *watcher) readNotes() {
	list, err := w.r.reader.Notes(context.Background(), w.rng.IntN(20), 20)
	if w.failed("notes", err) {
		return
	}
	for i := 1; i < len(list); i++ {
		if list[i].Seq >= list[i-1].Seq {
			w.t.Errorf("note %d after %d", list[i].Seq, list[i-1].Seq)
		}
	}
}
