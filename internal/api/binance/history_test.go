package binance_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// past are the trades of a market that a test made, oldest first.
type past struct {
	*desk
	trades []made
}

// made is a trade.
type made struct {
	at       bourse.Time
	price    int
	lots     int // in thousandths
	bought   bool
	sequence int
}

// deal lets an order of alice or bob take some orders of the other.
func (p *past) deal(rng *rand.Rand, sequence int) {
	p.Helper()
	bought := rng.IntN(2) == 0
	maker, taker, ms, ts := p.bob, p.alice, "SELL", "BUY"
	if !bought {
		maker, taker, ms, ts = p.alice, p.bob, "BUY", "SELL"
	}
	total, worst := 0, 50_000
	n := 1 + rng.IntN(4)
	for i := range n {
		price := 50_000 + rng.IntN(3)
		if !bought {
			price = 50_000 - rng.IntN(3)
		}
		if bought && price > worst || !bought && price < worst {
			worst = price
		}
		_ = i
		lots := 1 + rng.IntN(3)
		total += lots
		p.order(maker, limit(ms, thousandths(lots), strconv.Itoa(price)))
	}
	var taken struct{ Fills []struct{ Price, Qty string } }
	p.sign(taker, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&"+limit(ts, thousandths(total), strconv.Itoa(worst))).into(p.desk, &taken)
	for _, f := range taken.Fills {
		price, _ := strconv.ParseFloat(f.Price, 64)
		quantity, _ := strconv.ParseFloat(f.Qty, 64)
		p.trades = append(p.trades, made{p.Now, int(price), int(quantity*1000 + 0.5), bought, sequence})
	}
}

func thousandths(n int) string { return fmt.Sprintf("%d.%03d", n/1000, n%1000) }

// TestPastOfAMarket compares the lists of trades, aggregates and candles with those made of
// the trades by hand, some in the store and some in memory.
func TestPastOfAMarket(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &past{desk: open(t, api.Limits{})}
	for i := range 60 {
		p.Now += bourse.Time(rng.Int64N(int64(7 * bourse.Hour)))
		p.Must(bourse.Command{Kind: bourse.CommandTick})
		p.deal(rng, i)
		if i == 30 {
			p.Follow()
		}
	}
	p.Now += bourse.Hour
	p.Must(bourse.Command{Kind: bourse.CommandTick})

	for range 60 {
		p.checkAggregates(t, rng)
		p.checkTrades(t, rng)
	}
	for _, interval := range []string{"1m", "5m", "1h", "4h", "8h", "12h", "1d", "3d", "1w", "1M"} {
		for _, zone := range []int{0, 8, -5, 14, -12} {
			for range 3 {
				p.checkKlines(t, rng, interval, zone)
			}
		}
	}
	for _, window := range []string{"1m", "1h", "23h", "1d", "3d", "7d"} {
		p.checkWindow(t, window)
	}
}

// aggregated is an aggregate of trades.
type aggregated struct {
	A, F, L uint64
	P, Q    string
	T       int64
	Maker   bool `json:"m"`
	Best    bool `json:"M"`
}

func (p *past) checkAggregates(t *testing.T, rng *rand.Rand) {
	t.Helper()
	var all []aggregated
	lots := 0
	for i, m := range p.trades {
		number := uint64(i + 1)
		if i > 0 && p.trades[i-1].sequence == m.sequence && p.trades[i-1].price == m.price {
			lots += m.lots
			all[len(all)-1].L, all[len(all)-1].Q = number, thousandths(lots)+"000"
			continue
		}
		lots = m.lots
		all = append(all, aggregated{
			number, number, number, strconv.Itoa(m.price) + ".00", thousandths(lots) + "000", int64(m.at / 1000), !m.bought, true,
		})
	}

	size := 1 + rng.IntN(20)
	params, want := "limit="+strconv.Itoa(size), all
	switch rng.IntN(4) {
	case 0:
		want = all[max(0, len(all)-size):]
	case 1:
		from := uint64(rng.IntN(len(p.trades) + 5))
		params += "&fromId=" + number(from)
		want = keep(all, size, func(a aggregated) bool { return a.A >= from })
	case 2:
		since, until := p.trades[rng.IntN(len(p.trades))].at/1000, p.trades[rng.IntN(len(p.trades))].at/1000
		params += fmt.Sprintf("&startTime=%d&endTime=%d", since, until)
		want = keep(all, size, func(a aggregated) bool { return a.T >= int64(since) && a.T <= int64(until) })
	case 3:
		until := p.trades[rng.IntN(len(p.trades))].at / 1000
		params += fmt.Sprintf("&endTime=%d", until)
		admitted := keep(all, len(all), func(a aggregated) bool { return a.T <= int64(until) })
		want = admitted[max(0, len(admitted)-size):]
	}
	var got []aggregated
	p.get("aggTrades", "symbol=BTCUSDT&"+params).into(p.desk, &got)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("aggTrades %s:\n%v, want\n%v", params, got, want)
	}
}

// keep returns the first rows that are admitted.
func keep[T any](list []T, most int, admitted func(T) bool) (kept []T) {
	for _, row := range list {
		if admitted(row) && len(kept) < most {
			kept = append(kept, row)
		}
	}
	return kept
}

func (p *past) checkTrades(t *testing.T, rng *rand.Rand) {
	t.Helper()
	type row struct {
		ID           int
		Price, Qty   string
		IsBuyerMaker bool
		Time         int64
	}
	size, from := 1+rng.IntN(30), rng.IntN(len(p.trades)+3)
	begin, end := min(max(from, 1)-1, len(p.trades)), min(max(from, 1)-1+size, len(p.trades))
	path, params := "historicalTrades", fmt.Sprintf("&fromId=%d", from)
	if rng.IntN(2) == 0 {
		path, params, begin, end = "trades", "", max(0, len(p.trades)-size), len(p.trades)
	}
	var got, want []row
	p.get(path, fmt.Sprintf("symbol=BTCUSDT&limit=%d%s", size, params)).into(p.desk, &got)
	for i, m := range p.trades[begin:end] {
		want = append(want, row{begin + i + 1, strconv.Itoa(m.price) + ".00", thousandths(m.lots) + "000", !m.bought, int64(m.at / 1000)})
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s %d from %d:\n%v, want\n%v", path, size, from, got, want)
	}
}

// start returns the start of the interval that holds t, by the calendar of the standard library.
func start(interval string, zone int, t time.Time) time.Time {
	t = t.In(time.FixedZone("", zone*3600))
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	switch interval {
	case "1M":
		return day.AddDate(0, 0, 1-t.Day())
	case "1w":
		return day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
	case "3d":
		days := (day.Unix() + int64(zone*3600)) / 86400
		return day.AddDate(0, 0, -int(days%3))
	case "1d":
		return day
	}
	width, _ := time.ParseDuration(interval)
	return day.Add(t.Sub(day).Truncate(width))
}

// next returns the start of the interval after the one that begins at t.
func next(interval string, zone int, t time.Time) time.Time {
	days := map[string]int{"1d": 1, "3d": 3, "1w": 7, "1M": 32}[interval]
	if days > 0 {
		return start(interval, zone, t.AddDate(0, 0, days))
	}
	width, _ := time.ParseDuration(interval)
	return t.Add(width)
}

func (p *past) checkKlines(t *testing.T, rng *rand.Rand, interval string, zone int) {
	t.Helper()
	type kline struct {
		open, close            int64
		o, h, l, c             int
		lots, count, bought    int
		value, boughtFor, last int
	}
	var all []kline
	now := p.Now.Std()
	for at := start(interval, zone, p.trades[0].at.Std()); !at.After(now) && len(all) < 20_000; at = next(interval, zone, at) {
		end := next(interval, zone, at)
		k := kline{open: at.UnixMilli(), close: end.UnixMilli() - 1}
		if len(all) > 0 {
			k.last = all[len(all)-1].last
			k.o = all[len(all)-1].c
			k.h, k.l, k.c = k.o, k.o, k.o
		}
		for ; k.last < len(p.trades) && p.trades[k.last].at.Std().Before(end); k.last++ {
			m := p.trades[k.last]
			if k.count == 0 {
				k.o, k.h, k.l = m.price, m.price, m.price
			}
			k.h, k.l, k.c = max(k.h, m.price), min(k.l, m.price), m.price
			k.count++
			k.lots += m.lots
			k.value += m.lots * m.price
			if m.bought {
				k.bought += m.lots
				k.boughtFor += m.lots * m.price
			}
		}
		all = append(all, k)
	}

	size := 1 + rng.IntN(20)
	params := fmt.Sprintf("symbol=BTCUSDT&interval=%s&limit=%d&timeZone=%d", interval, size, zone)
	want := all[max(0, len(all)-size):]
	switch rng.IntN(3) {
	case 0:
		from := all[rng.IntN(len(all))].open - int64(rng.IntN(3)) + 1
		params += fmt.Sprintf("&startTime=%d", from)
		want = keep(all, size, func(k kline) bool { return k.open >= from })
	case 1:
		to := all[rng.IntN(len(all))].open - int64(rng.IntN(3)) + 1
		params += fmt.Sprintf("&endTime=%d", to)
		admitted := keep(all, len(all), func(k kline) bool { return k.open <= to })
		want = admitted[max(0, len(admitted)-size):]
	}

	var got [][]json.RawMessage
	p.get("klines", params).into(p.desk, &got)
	var texts []string
	for _, k := range want {
		money := func(n int) string { return fmt.Sprintf("%d.%03d000000000", n/1000, n%1000) }
		texts = append(texts, fmt.Sprintf(`%d %q %q %q %q %q %d %q %d %q %q "0"`, k.open,
			strconv.Itoa(k.o)+".00", strconv.Itoa(k.h)+".00", strconv.Itoa(k.l)+".00", strconv.Itoa(k.c)+".00",
			thousandths(k.lots)+"000", k.close, money(k.value), k.count, thousandths(k.bought)+"000", money(k.boughtFor)))
	}
	if len(got) != len(want) {
		t.Fatalf("klines %s: %d, want %d: %s", params, len(got), len(want), got)
	}
	for i, row := range got {
		text := ""
		for j, value := range row {
			if j > 0 {
				text += " "
			}
			text += string(value)
		}
		if text != texts[i] {
			t.Fatalf("klines %s, row %d:\n%s, want\n%s", params, i, text, texts[i])
		}
	}
}

func (p *past) checkWindow(t *testing.T, window string) {
	t.Helper()
	width, err := time.ParseDuration(window)
	if err != nil {
		days, _ := strconv.Atoi(window[:1])
		width = time.Duration(days) * 24 * time.Hour
	}
	now := p.Now.Std()
	open := now.Add(-width).Truncate(time.Minute)
	lots, count, first := 0, 0, -1
	for i, m := range p.trades {
		if !m.at.Std().Before(open) {
			lots, count = lots+m.lots, count+1
			if first < 0 {
				first = i + 1
			}
		}
	}
	var got struct {
		OpenTime, CloseTime, FirstID int64
		Count                        int
		Volume                       string
	}
	p.get("ticker", "symbol=BTCUSDT&windowSize="+window).into(p.desk, &got)
	if got.OpenTime != open.UnixMilli() || got.Count != count || got.Volume != thousandths(lots)+"000" || got.FirstID != int64(first) {
		t.Errorf("the window %s is %+v, want %d trades from %d of %d thousandths since %d", window, got, count, first, lots, open.UnixMilli())
	}
}
