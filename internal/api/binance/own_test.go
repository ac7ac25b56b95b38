package binance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestPastOfAnAccount compares the lists of an account's orders and trades with what was placed,
// some in the store and some in memory.
func TestPastOfAnAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	d := open(t, api.Limits{})
	type placed struct {
		id     uint64
		at     bourse.Time
		market string
		status string
	}
	var all []placed
	for i := range 150 {
		d.Now += bourse.Time(rng.Int64N(int64(20 * bourse.Minute)))
		d.Must(bourse.Command{Kind: bourse.CommandTick})
		p := placed{at: d.Now + 1000, market: "BTCUSDT", status: "NEW"}
		if rng.IntN(3) == 0 {
			p.market = "ETHUSDT"
		}
		price := "10000"
		fills := p.market == "BTCUSDT" && rng.IntN(2) == 0
		if fills {
			price, p.status = "50000", "FILLED"
			d.order(d.bob, limit("SELL", "0.01", price))
			p.at = d.Now + 1000
		}
		var got struct{ OrderID uint64 }
		d.sign(d.alice, http.MethodPost, "/api/v3/order", "symbol="+p.market+"&"+limit("BUY", "0.01", price)).into(d, &got)
		p.id = got.OrderID
		if !fills && rng.IntN(2) == 0 {
			d.sign(d.alice, http.MethodDelete, "/api/v3/order", fmt.Sprintf("symbol=%s&orderId=%d", p.market, p.id)).into(d, &got)
			p.status = "CANCELED"
		}
		all = append(all, p)
		if i == 70 {
			d.Follow()
		}
	}

	mine := keep(all, len(all), func(p placed) bool { return p.market == "BTCUSDT" })
	for range 60 {
		size := 1 + rng.IntN(120)
		params, want := fmt.Sprintf("limit=%d", size), mine
		switch rng.IntN(4) {
		case 0:
			want = mine[max(0, len(mine)-size):]
		case 1:
			from := mine[rng.IntN(len(mine))].id - uint64(rng.IntN(2))
			params += fmt.Sprintf("&orderId=%d", from)
			want = keep(mine, size, func(p placed) bool { return p.id >= from })
		case 2:
			from := mine[rng.IntN(len(mine))].at
			params += fmt.Sprintf("&startTime=%d", from/1000)
			want = keep(mine, size, func(p placed) bool { return p.at >= from })
		case 3:
			to := mine[rng.IntN(len(mine))].at
			from := to - bourse.Time(rng.Int64N(int64(bourse.Day)))/1000*1000
			params += fmt.Sprintf("&startTime=%d&endTime=%d", from/1000, to/1000)
			want = keep(mine, size, func(p placed) bool { return p.at/1000 >= from/1000 && p.at <= to })
		}
		var got []struct {
			OrderID     uint64
			Status      string
			ExecutedQty string
			Time        int64
		}
		d.sign(d.alice, http.MethodGet, "/api/v3/allOrders", "symbol=BTCUSDT&"+params).into(d, &got)
		var a, b []string
		for _, o := range got {
			a = append(a, fmt.Sprint(o.OrderID, o.Status, o.ExecutedQty == "0.010000"))
		}
		for _, p := range want {
			b = append(b, fmt.Sprint(p.id, p.status, p.status == "FILLED"))
		}
		if !slices.Equal(a, b) {
			t.Fatalf("allOrders %s:\n%v, want\n%v", params, a, b)
		}

		filled := keep(want, len(want), func(p placed) bool { return p.status == "FILLED" })
		if strings.Contains(params, "Time=") && len(want) < size {
			var trades []struct{ ID, OrderID uint64 }
			d.sign(d.alice, http.MethodGet, "/api/v3/myTrades", "symbol=BTCUSDT&"+params).into(d, &trades)
			if len(trades) != len(filled) || len(trades) > 0 && trades[0].OrderID != filled[0].id {
				t.Fatalf("myTrades %s: %v, want %v", params, trades, filled)
			}
		}
	}

	open := keep(all, len(all), func(p placed) bool { return p.status == "NEW" })
	var got []struct{ OrderID uint64 }
	d.sign(d.alice, http.MethodGet, "/api/v3/openOrders", "").into(d, &got)
	if len(got) != len(open) || len(open) < 20 {
		t.Fatalf("%d open orders, want %d", len(got), len(open))
	}
	for i := range got {
		if got[i].OrderID != open[i].id {
			t.Fatalf("open order %d is %d, want %d", i, got[i].OrderID, open[i].id)
		}
	}
	var trades []struct{ ID uint64 }
	d.sign(d.alice, http.MethodGet, "/api/v3/myTrades", "symbol=BTCUSDT&fromId=5&limit=3").into(d, &trades)
	if len(trades) != 3 || trades[0].ID != 5 || trades[2].ID != 7 {
		t.Errorf("trades from the fifth are %v", trades)
	}
}

// TestConfirm withholds answers of a process that may be the exchange no more: those to reads, and errors.
func TestConfirm(t *testing.T) {
	d := open(t, api.Limits{})
	var confirmed error
	d.facade.Confirm = func(context.Context) error { return confirmed }
	for path, code := range map[string]int{"ping": 0, "depth?symbol=BTCUSDT": 0, "depth?symbol=NONE": -1121} {
		path, params, _ := strings.Cut(path, "?")
		confirmed = nil
		if a := d.get(path, params); a.code() != code {
			t.Errorf("%s: %s", path, a.body)
		}
		confirmed = errors.New("no majority")
		if a := d.get(path, params); a.code() != -1007 || a.status != http.StatusGatewayTimeout {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}
