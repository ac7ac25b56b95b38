package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// rig is an exchange whose market traded once a day.
type rig struct {
	*testing.T
	*Pages
	view *view.View
	now  time.Time
	seq  bourse.Seq
	// asked counts the calls of Condition.
	asked  int
	limits *api.Limiter
}

// traded is a view whose market has traded, which the test does not replay.
type traded struct {
	*view.View
	trades uint64
}

func (v traded) LastTrade(bourse.MarketID) uint64 { return v.trades }

const first = 18_000 * bourse.Day

func newRig(t *testing.T, days int) *rig {
	t.Helper()
	batch := &history.Batch{From: 1, To: 1}
	for i := range days {
		batch.Trades = append(batch.Trades, history.Trade{
			Seq: 1, Market: 1, Number: uint64(i + 1), Time: first + bourse.Time(i)*bourse.Day, TakerSide: bourse.Buy,
			Price: bourse.Price(1000 + i), Lots: 5,
		})
	}
	batch.Time = batch.Trades[days-1].Time
	store, tail := historytest.NewMemory(), history.NewTail(100)
	if err := store.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	tail.Stored(history.Cursor{Seq: 1, Time: batch.Time})

	x := &rig{T: t, view: view.New(), now: time.Unix(int64(batch.Time/bourse.Second), 0)}
	x.limits = api.NewLimiter(
		api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 100}}}, func() time.Time { return x.now })
	x.Pages = New(Options{
		View: x.view, History: history.NewReader(store, tail, traded{x.view, uint64(days)}), Notices: x.board(),
		Clock: func() time.Time { return x.now },
		Condition: func() Condition {
			x.asked++
			return Condition{
				Version: "bourse v1", Since: time.Unix(7, 0), Step: 1500 * time.Microsecond, Lag: 3,
				Networks: map[bourse.NetworkID]Link{1: {Operating: true, Head: 9}},
			}
		},
	})
	x.define(batch.Time)
	return x
}

// board returns a board with a banner, a popup and more announcements than are shown.
func (x *rig) board() *notice.Board {
	x.Helper()
	store, err := accounts.Open(x.Context(), x.TempDir()+"/accounts.db")
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = store.Close() })
	b, err := notice.Open(x.Context(), store, func() time.Time { return time.Unix(11, 0) })
	if err != nil {
		x.Fatal(err)
	}
	add := func(kind notice.Kind, title string) {
		if _, err := b.Add(x.Context(), kind, title, "<b>Body</b>"); err != nil {
			x.Fatal(err)
		}
	}
	add(notice.Banner, "old")
	add(notice.Banner, "new")
	add(notice.Popup, "popup")
	for range announced + 2 {
		add(notice.Announcement, "news")
	}
	return b
}

// define defines assets, markets and networks.
func (x *rig) define(at bourse.Time) {
	ev := new(bourse.Events)
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &bourse.Asset{ID: 1, Symbol: "B", Name: "Base", Scale: 8, Enabled: true}})
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &bourse.Asset{ID: 2, Symbol: "Q", Name: "Quote", Scale: 6, Enabled: true}})
	open := bourse.Market{
		ID: 1, Base: 1, Quote: 2, Pair: "B/Q", InitialPrice: 100, Enabled: true, BasePrecision: 3, QuotePrecision: 2,
		State: bourse.MarketOpen, MaxPrice: 100_000, Maker: 1000, Taker: 2000, MinOrder: bourse.Units(5_000_000),
		Collar: 100_000, Band: 10_000_000,
	}
	halted := open
	halted.ID, halted.Pair, halted.State, halted.Collar, halted.Band = 2, "Q/B", bourse.MarketHalted, 0, 0
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &open})
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &halted})
	ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: &bourse.Network{ID: 1, Symbol: "NET", Name: "A network", Enabled: true}})
	ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: &bourse.Network{ID: 2, Symbol: "OFF", Name: "Another", Enabled: false}})
	ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: &bourse.Network{ID: 3, Symbol: "LOST", Name: "A third", Enabled: true}})
	x.observe(at, ev)
}

// observe shows the view a command.
func (x *rig) observe(at bourse.Time, ev *bourse.Events) {
	x.seq++
	x.view.Begin()
	x.view.Observe(&bourse.Command{Kind: bourse.CommandTick, Seq: x.seq, Time: at}, ev)
	x.view.End()
}

// call returns a request with a query.
func (x *rig) call(query string, fields api.Fields, from byte) *v2.Call {
	x.Helper()
	c := &api.Call{
		Form: new(api.Form), Context: context.WithoutCancel(x.Context()), Out: wire.NewWriter(nil), Who: account.Identity{},
		From: netip.AddrFrom4([4]byte{192, 0, 2, from}), Limits: x.limits, Class: api.Reads,
	}
	c.Out.Object()
	if err := c.ParseQuery(query, fields); err != nil {
		x.Fatal(err)
	}
	return &v2.Call{Call: c}
}

// body writes an answer that visitors share.
func body(write func(*wire.Writer)) string {
	w := wire.NewWriter(nil)
	w.Object()
	write(w)
	w.EndObject()
	return string(w.Bytes())
}

func TestMarkets(t *testing.T) {
	x := newRig(t, 1)
	got := body(x.writeMarkets)
	want := `{"seq":1,"time":1555200000,"markets":[` +
		`{"pair":"B/Q","base":"B","quote":"Q","base_name":"Base","quote_name":"Quote","base_precision":3,"quote_precision":2,` +
		`"base_scale":8,"quote_scale":6,"state":"open","maker_fee":"0.1","taker_fee":"0.2","min_order":"5","max_price":"1000",` +
		`"initial_price":"1","collar":"10","band":"10","price":"1","price_24h":"1","high":"1","low":"1","vol_base":"0",` +
		`"vol_quote":"0","closes":[` + strings.Repeat(`"1",`, 23) + `"1"]},` +
		`{"pair":"Q/B",`
	if !strings.HasPrefix(got, want) || !strings.Contains(got, `"state":"halted"`) || !strings.Contains(got, `"collar":null,"band":null`) {
		t.Errorf("got  %s\nwant %s...", got, want)
	}
}

func TestStatus(t *testing.T) {
	x := newRig(t, 1)
	got := body(x.writeStatus)
	news := `{"kind":"announcement","time":11,"title":"news","body":"<b>Body</b>"}`
	want := `{"up":true,"time":1555200000,"since":7,"version":"bourse v1","trading":true,` +
		`"journal":{"seq":1,"p99_us":1500,"history_lag":3},"closed":[{"pair":"Q/B","state":"halted"}],"networks":[` +
		`{"symbol":"LOST","name":"A third","operating":false,"withdrawals":true,"tip":0,"tip_time":null,"lag":0},` +
		`{"symbol":"NET","name":"A network","operating":true,"withdrawals":true,"tip":0,"tip_time":null,"lag":9}],` +
		`"notices":[{"kind":"banner","time":11,"title":"new","body":"<b>Body</b>"},` +
		strings.Repeat(news+",", announced-1) + news + `]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEditionsAreShared wants an answer to be encoded once a second, however many ask.
func TestEditionsAreShared(t *testing.T) {
	x := newRig(t, 1)
	ask := func(after time.Duration) {
		t.Helper()
		x.now = x.now.Add(after)
		if err := x.status(x.call("", nil, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		ask(0)
	}
	ask(999 * time.Millisecond)
	if x.asked != 1 {
		t.Errorf("in a second the answer was made %d times", x.asked)
	}
	if ask(time.Millisecond); x.asked != 2 {
		t.Errorf("after a second the answer was made %d times", x.asked)
	}
	if ask(-time.Hour); x.asked != 3 {
		t.Error("a clock that goes back keeps an answer for an hour")
	}
}

// TestCandles checks the rows of pages, and what a request for them weighs.
func TestCandles(t *testing.T) {
	x := newRig(t, 2000)
	for i, c := range []struct {
		query            string
		rows, left       int
		oldest, youngest string
	}{
		{"pair=B/Q&res=1D", 500, 100, `[1684800000,"25","25","25","25","0.005"]`, `[1727913600,"29.99","29.99","29.99","29.99","0.005"]`},
		{"pair=B/Q&res=1D&limit=1000", 1000, 99, `[1641600000,"20"`, `[1727913600,"29.99"`},
		{"pair=B/Q&res=1D&limit=2&before=1727913600", 2, 100, `[1727740800,"29.97"`, `[1727827200,"29.98"`},
		{"pair=B/Q&res=1D&limit=1&before=1727913601", 1, 100, `[1727913600,`, `[1727913600,`},
		{"pair=B/Q&res=1D&before=0", 0, 100, "", ""},
		{"pair=B/Q&res=1D&before=1555200001", 1, 100, `[1555200000,"10"`, `[1555200000,"10"`},
		{"pair=B/Q&res=1M&limit=1000", 67, 97, `[1554076800,`, `[1727740800,`},
	} {
		call := x.call(c.query, candlesFields, byte(i))
		if err := x.candles(call); err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		call.Out.EndObject()
		var answer struct{ Candles []json.RawMessage }
		if err := json.Unmarshal(call.Out.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		left := 0
		for x.limits.Admit(api.Reads, call.Payer()) {
			left++
		}
		n := len(answer.Candles)
		if n != c.rows || left != c.left {
			t.Errorf("%s: %d rows, and %d requests left, want %d and %d", c.query, n, left, c.rows, c.left)
		}
		if n > 0 && (!bytes.HasPrefix(answer.Candles[0], []byte(c.oldest)) || !bytes.HasPrefix(answer.Candles[n-1], []byte(c.youngest))) {
			t.Errorf("%s: from %s to %s", c.query, answer.Candles[0], answer.Candles[n-1])
		}
	}

	for _, query := range []string{
		"", "pair=B/Q", "res=1", "pair=B/Q&res=2", "pair=X/Q&res=1", "pair=B/Q&res=1&limit=1001", "pair=B/Q&res=1&limit=0",
		"pair=B/Q&res=1&before=-1", "pair=B/Q&res=1&before=x",
	} {
		if err := x.candles(x.call(query, candlesFields, 99)); api.Known(err) == nil {
			t.Errorf("%s: the error is %v", query, err)
		}
	}
}
