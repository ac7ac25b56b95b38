package spotv1

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// traded is a view whose market has traded, which the test does not replay.
type traded struct {
	*view.View
	trades uint64
}

func (v traded) LastTrade(bourse.MarketID) uint64 { return v.trades }

// charted returns the interface of an exchange whose market traded once on each of many
// days.
func charted(t *testing.T, days int) *Spot {
	t.Helper()
	const first = 18_000 * bourse.Day
	batch := &history.Batch{From: 1, To: 1}
	for i := range days {
		batch.Trades = append(batch.Trades, history.Trade{
			Seq: 1, Market: 1, Number: uint64(i + 1), Time: first + bourse.Time(i)*bourse.Day, TakerSide: bourse.Buy,
			Price: bourse.Price(100 + i), Lots: 1,
		})
	}
	batch.Time = batch.Trades[days-1].Time

	store, tail, v := historytest.NewMemory(), history.NewTail(100), view.New()
	if err := store.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	tail.Stored(history.Cursor{Seq: 1, Time: batch.Time})

	ev := new(bourse.Events)
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &bourse.Asset{ID: 1, Symbol: "B", Enabled: true}})
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &bourse.Asset{ID: 2, Symbol: "Q", Enabled: true}})
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{
		ID: 1, Base: 1, Quote: 2, Pair: "B/Q", InitialPrice: 100, Enabled: true,
	}})
	v.Begin()
	v.Observe(&bourse.Command{Kind: bourse.CommandTick, Seq: 1, Time: batch.Time}, ev)
	v.End()
	return &Spot{View: v, History: history.NewReader(store, tail, traded{v, uint64(days)})}
}

// TestCandlesWeigh checks the weight of a request by the stored candles that it reads.
func TestCandlesWeigh(t *testing.T) {
	s := charted(t, 2000)
	now := func() time.Time { return time.Unix(1_700_000_000, 0) }
	limits := api.NewLimiter(api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 100}}}, now)
	for i, c := range []struct {
		body       string
		rows, left int
	}{
		{`{"pair":"B/Q","res":"1D","from":0,"to":9999999999}`, 500, 100},
		{`{"pair":"B/Q","res":"1D","limit":500}`, 500, 100},
		{`{"pair":"B/Q","res":"1W","limit":71}`, 71, 100},
		{`{"pair":"B/Q","res":"1W","limit":73}`, 73, 99},
		{`{"pair":"B/Q","res":"1W","limit":500}`, 287, 97},
		{`{"pair":"B/Q","res":"1M","limit":500}`, 67, 97},
		{`{"pair":"B/Q","res":"1M","from":0,"limit":10}`, 10, 100},
	} {
		from := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		call := &api.Call{
			Form: new(api.Form), Context: t.Context(), Out: wire.NewWriter(nil), From: from, Limits: limits, Class: api.Reads,
		}
		call.Out.Object()
		if err := call.Parse([]byte(c.body), candlestickFields); err != nil {
			t.Fatal(err)
		}
		if err := s.candlestick(call); err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}

		left := 0
		for limits.Admit(api.Reads, call.Payer()) {
			left++
		}
		if rows := bytes.Count(call.Out.Bytes(), []byte(`"time"`)); rows != c.rows || left != c.left {
			t.Errorf("%s: %d rows, and %d requests left, want %d and %d", c.body, rows, left, c.rows, c.left)
		}
	}
}
