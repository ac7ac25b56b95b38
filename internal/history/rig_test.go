package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	accounts = 4
	markets  = 3
)

// rig is an engine with what stands behind it, in the order of the node, and a
// follower that writes when it is told to.
type rig struct {
	rng    *rand.Rand
	engine *engine.Engine
	tail   *history.Tail
	view   *view.View
	tape   *view.Tape
	store  *historytest.Memory
	reader *history.Reader
	// behind are the frames that the follower has not written.
	behind []history.Batch
	// all is what happened, put together in the plainest way.
	all   naive
	chain chain
	seq   bourse.Seq
	now   bourse.Time
}

// began is the time of a rig's first command.
const began = 20_000 * bourse.Day

func newRig(seed uint64, bound int) *rig {
	r := &rig{
		rng: rand.New(rand.NewPCG(seed, 0)), engine: engine.New(), tail: history.NewTail(bound), view: view.New(), tape: view.NewTape(),
		store: historytest.NewMemory(), all: newNaive(), now: began,
	}
	r.reader = history.NewReader(r.store, r.tail, r.view)
	r.reader.Patience = 0
	r.frame(opening()...)
	return r
}

// opening lists assets and markets and creates accounts that can afford a lot.
func opening() []bourse.Command {
	list := []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
	}
	for a := range bourse.AssetID(markets + 1) {
		list = append(list, bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: bourse.Symbol(fmt.Sprintf("A%d", a)), Name: "asset", Scale: 12, Enabled: true,
		}})
	}
	for m := range bourse.AssetID(markets) {
		list = append(list, bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: m + 2, Quote: 1, BasePrecision: 2, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: bourse.MaxPrice, Maker: 1000, Taker: 2000,
		}})
	}
	list = append(list, chainOpening()...)
	for account := range bourse.AccountID(accounts) {
		list = append(list, bourse.Command{Kind: bourse.CommandCreateAccount})
		for a := range bourse.AssetID(markets + 1) {
			list = append(list, bourse.Command{
				Kind: bourse.CommandCredit, Account: account + 1, AssetID: a + 1, Amount: bourse.Amount{Hi: 1 << 30},
			})
		}
	}
	return list
}

// frame takes commands through the engine, the tail and the view.
func (r *rig) frame(commands ...bourse.Command) {
	var b history.Batch
	var ev bourse.Events
	r.tail.Begin()
	r.view.Begin()
	for i := range commands {
		cmd := &commands[i]
		r.seq++
		cmd.Seq, cmd.Time = r.seq, r.now
		ev.Reset()
		r.engine.Apply(cmd, &ev)
		r.tail.Observe(cmd, &ev)
		r.view.Observe(cmd, &ev)
		r.tape.Fold(cmd, &ev, nil)
		r.all.observe(cmd, &ev)
		for i := range ev.Wallet.Signed {
			if s := &ev.Wallet.Signed[i]; s.State == bourse.SignedWaiting {
				r.chain.nonce, r.chain.signed = s.Nonce+1, append(r.chain.signed, s.Tx)
			}
		}
		history.Project(cmd, &ev, &b)
		history.Post(cmd, &ev, r.engine.Market, &b)
	}
	r.tail.End()
	r.view.End()
	r.behind = append(r.behind, b)
}

// restore takes a snapshot through the engine, the tail and the view.
func (r *rig) restore(t *testing.T) {
	var state, tape []byte
	r.engine.Snapshot(func(b []byte) { state = append(state, b...) })
	r.tape.Snapshot(func(b []byte) { tape = append(tape, b...) })
	var err error
	reset := func(o interface {
		Begin()
		Reset(section func(string) ([]byte, bool)) error
	}) {
		o.Begin()
		err = errors.Join(err, o.Reset(func(string) ([]byte, bool) { return tape, true }))
	}
	reset(r.tail)
	reset(r.view)
	var cmd bourse.Command
	announce := func(ev *bourse.Events) {
		r.tail.Observe(&cmd, ev)
		r.view.Observe(&cmd, ev)
	}
	e, broken := engine.Restore(state, announce)
	if err = errors.Join(err, broken); err != nil {
		t.Fatal(err)
	}
	r.engine = e
	cmd.Seq, cmd.Time = e.Seq(), e.Now()
	announce(&bourse.Events{})
	r.tail.End()
	r.view.End()
}

// follow writes the oldest frames that are not stored.
func (r *rig) follow(frames int) {
	for _, b := range r.behind[:frames] {
		write(r.store, r.tail, &b)
	}
	r.behind = r.behind[frames:]
}

func write(s history.Store, t *history.Tail, b *history.Batch) {
	if err := s.Write(context.Background(), b); err != nil {
		panic(err)
	}
	t.Stored(history.Cursor{Seq: b.To, Time: b.Time})
}

// some makes up commands.
func (r *rig) some(n int) []bourse.Command {
	var list []bourse.Command
	for range n {
		list = append(list, r.command())
	}
	return list
}

func (r *rig) command() bourse.Command {
	account := bourse.AccountID(1 + r.rng.IntN(accounts))
	market := bourse.MarketID(1 + r.rng.IntN(markets))
	switch n := r.rng.IntN(115); {
	case n >= 100:
		return r.walletCommand(account)
	case n < 70:
		return bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: r.place(market)}
	case n < 78:
		id := bourse.OrderID(1 + r.rng.Uint64N(uint64(len(r.all.orders))+1))
		if int(id) <= len(r.all.orders) {
			account = r.all.orders[id-1].Account
		}
		to := r.place(market)
		return bourse.Command{Kind: bourse.CommandAmend, Account: account, Order: id, NewOrder: bourse.NewOrder{
			Price: max(to.Price, 90), Lots: to.Lots,
		}}
	case n < 88:
		id := 1 + r.rng.Uint64N(uint64(len(r.all.orders))+1)
		return bourse.Command{Kind: bourse.CommandCancel, Account: account, Order: bourse.OrderID(id)}
	case n < 90:
		return bourse.Command{Kind: bourse.CommandCancelAll, Account: account, MarketID: market}
	case n < 93:
		return bourse.Command{Kind: bourse.CommandCredit, Account: account, AssetID: 1, Amount: bourse.Units(5)}
	case n < 94:
		return bourse.Command{Kind: bourse.CommandCollectFees}
	case n < 96:
		kind := bourse.CommandNote
		if n%4 == 0 {
			kind = bourse.CommandRaise
		}
		return bourse.Command{Kind: kind, Operator: 7, Text: fmt.Sprint("note ", n)}
	}
	return bourse.Command{Kind: bourse.CommandTick}
}

func (r *rig) place(market bourse.MarketID) bourse.NewOrder {
	p := bourse.NewOrder{
		Market: market, Side: bourse.Side(1 + r.rng.IntN(2)), Type: bourse.Limit, TIF: bourse.GTC,
		Price: bourse.Price(90 + r.rng.IntN(20)), Lots: bourse.Lots(1 + r.rng.IntN(20)),
	}
	if r.rng.IntN(2) == 0 {
		p.Lots = 2 // fills that are alike
	}
	switch r.rng.IntN(8) {
	case 0:
		p.TIF = bourse.TimeInForce(1 + r.rng.IntN(3))
	case 1:
		p.Type, p.Price = bourse.MarketOrder, 0
	case 2:
		p.Type, p.Stop = bourse.OrderType(int(bourse.StopLimit)+r.rng.IntN(4)), p.Price
		if !p.Type.HasPrice() {
			p.Price = 0
		}
	case 3:
		p.SelfTrade = bourse.SelfTradeMode(r.rng.IntN(int(bourse.LastSelfTradeMode) + 1))
	}
	if r.rng.IntN(3) == 0 {
		p.ClientID, _ = bourse.ParseClientID(fmt.Sprint("name-", r.rng.IntN(60)))
	}
	return p
}

// pass lets time go by, now and then a lot.
func (r *rig) pass() {
	spans := [...]bourse.Time{1, bourse.Second, bourse.Minute, 7 * bourse.Minute, 3 * bourse.Hour, 25 * bourse.Hour, 17 * bourse.Day}
	if n := r.rng.IntN(24); n < len(spans) {
		r.now += spans[n]
	}
}

// naive is what happened, from the events alone.
type naive struct {
	// space holds the candles that were returned last.
	space []history.Candle
	// orders are all there ever were, by id from one.
	orders    []*history.OrderFills
	trades    []history.Trade
	fills     []history.Fill
	transfers []history.Transfer
	notes     []history.Note
	raised    int
	// amendments are those of all orders, oldest first.
	amendments []history.Amendment
	// movements are by id; lastMovement is the last one's.
	movements    []history.Movement
	lastMovement uint64
}

func newNaive() naive { return naive{} }

func (n *naive) observe(cmd *bourse.Command, ev *bourse.Events) {
	index := 0
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderAccepted:
			n.orders = append(n.orders, &history.OrderFills{Order: history.Order{Order: ev.Orders[e.At]}})
		case bourse.EventOrderTriggered:
			n.orders[ev.Orders[e.At].ID-1].Triggered = true
		case bourse.EventOrderAmended:
			o := n.orders[ev.Orders[e.At].ID-1]
			n.amendments = append(n.amendments, history.Amendment{
				Seq: cmd.Seq, Account: o.Account, Order: o.ID, Time: cmd.Time,
				From: bourse.Terms{Price: o.Price, Lots: o.Lots},
				To:   bourse.Terms{Price: ev.Orders[e.At].Price, Lots: ev.Orders[e.At].Lots},
			})
			o.Price, o.Lots, o.Amended = ev.Orders[e.At].Price, ev.Orders[e.At].Lots, true
		case bourse.EventOrderPrevented:
			n.orders[ev.Orders[e.At].ID-1].Prevented = ev.Orders[e.At].Prevented
		case bourse.EventOrderClosed:
			o := n.orders[ev.Orders[e.At].ID-1]
			o.Order = history.Order{Order: ev.Orders[e.At], Seq: cmd.Seq, Closed: cmd.Time}
		case bourse.EventTraded:
			n.trade(cmd, &ev.Trades[e.At])
		case bourse.EventTransfer:
			n.transfers = append(n.transfers, history.Transfer{
				Seq: cmd.Seq, Index: index, Time: cmd.Time, Transfer: ev.Transfers[e.At],
			})
			index++
		case bourse.EventNoted:
			n.notes = append(n.notes, history.Note{Seq: cmd.Seq, Time: cmd.Time, Operator: cmd.Operator, Text: cmd.Text})
		case bourse.EventRaised:
			n.raised++
			n.notes = append(n.notes, history.Note{Seq: cmd.Seq, Time: cmd.Time, Operator: cmd.Operator,
				Text: fmt.Sprintf("incarnation %d: %s", n.raised+1, cmd.Text)})
		case bourse.EventDeposit, bourse.EventWithdrawal:
			n.move(cmd, e, ev)
		default:
		}
	}
}

func (n *naive) trade(cmd *bourse.Command, t *bourse.Trade) {
	n.trades = append(n.trades, history.Trade{
		Seq: cmd.Seq, Market: t.Market, Number: t.Number, Time: cmd.Time, TakerSide: t.TakerSide,
		Price: t.Price, Lots: t.Lots, Total: t.Total,
	})
	for role, side := range []bourse.Fill{t.Maker, t.Taker} {
		o := n.orders[side.Order-1]
		f := history.Fill{
			Seq: cmd.Seq, Account: side.Account, Ordinal: side.Ordinal, Order: side.Order, Market: t.Market,
			Trade: t.Number, Time: cmd.Time, Side: o.Side, Role: bourse.Role(role + 1), Price: t.Price, Lots: t.Lots,
			Total: t.Total, Fee: side.Fee,
		}
		o.Filled = side.Filled
		o.Fills = append(o.Fills, f)
		n.fills = append(n.fills, f)
	}
}

// page returns the rows that pass a filter, last first.
func page[R any](rows []R, skip, limit int, filter func(R) bool) []R {
	var list []R
	for _, r := range slices.Backward(rows) {
		if filter(r) {
			list = append(list, r)
		}
	}
	return list[min(skip, len(list)):min(skip+limit, len(list))]
}

// candles computes all candles of a market up to now from its trades, one after the other. The
// tests of bourse.Resolution compare its buckets with the calendar.
func (n *naive) candles(market bourse.MarketID, res bourse.Resolution, now bourse.Time) []history.Candle {
	trades := page(n.trades, 0, len(n.trades), func(t history.Trade) bool { return t.Market == market })
	slices.Reverse(trades)
	if len(trades) == 0 {
		return nil
	}

	list := n.space[:0]
	var price bourse.Price
	for start := res.Floor(trades[0].Time); start <= now; {
		c := history.Candle{Start: start, Open: price, High: price, Low: price, Close: price}
		start = res.Add(start, 1)
		for len(trades) > 0 && trades[0].Time < start {
			c.Add(&trades[0])
			trades = trades[1:]
		}
		price = c.Close
		list = append(list, c)
	}
	n.space = list
	return list
}

func sameRows[R any](t *testing.T, about string, got, want []R, equal func(a, b R) bool) {
	t.Helper()
	if !slices.EqualFunc(got, want, equal) {
		t.Fatalf("%s:\n got %+v\nwant %+v", about, got, want)
	}
}

func equal[R comparable](a, b R) bool { return a == b }

func equalOrders(a, b history.OrderFills) bool {
	return a.Order == b.Order && slices.Equal(a.Fills, b.Fills)
}
