package binance

import (
	"math"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func klinesEndpoint(path, ws string) Endpoint {
	return Endpoint{
		Method: "GET", Path: path, WS: ws, Weight: fixed(2),
		Params: append(need("symbol"), append([]Param{{
			Name: "interval", Required: true, State: Differs, Note: "1s is refused, with -1120: no such candles are kept.",
		}}, append(may("startTime endTime limit"), Param{
			Name: "timeZone", State: Differs, Note: "Whole hours alone. An answer has no more candles than 50,000 hours make.",
		})...)...),
		Fields: []Field{{Names: "0 1 2 3 4 5 6 7 8 9 10 11"}},
		Answer: (*Facade).klines,
	}
}

// Interval is the width of a kline.
type Interval struct {
	Word string
	// base is the resolution of the candles that make up one of these: its own, if there is
	// one, as long as midnight is that of UTC.
	base bourse.Resolution
	// wide is the resolution whose candles begin at the same times; zero for an interval of
	// width.
	wide  bourse.Resolution
	width bourse.Time
}

// intervals are the intervals that are served.
var intervals = [...]Interval{
	{"1m", bourse.Resolution1, bourse.Resolution1, bourse.Minute},
	{"3m", bourse.Resolution3, bourse.Resolution3, 3 * bourse.Minute},
	{"5m", bourse.Resolution5, bourse.Resolution5, 5 * bourse.Minute},
	{"15m", bourse.Resolution15, bourse.Resolution15, 15 * bourse.Minute},
	{"30m", bourse.Resolution30, bourse.Resolution30, 30 * bourse.Minute},
	{"1h", bourse.Resolution60, bourse.Resolution60, bourse.Hour},
	{"2h", bourse.Resolution120, bourse.Resolution120, 2 * bourse.Hour},
	{"4h", bourse.Resolution240, bourse.Resolution240, 4 * bourse.Hour},
	{"6h", bourse.Resolution360, bourse.Resolution360, 6 * bourse.Hour},
	{"8h", bourse.Resolution240, 0, 8 * bourse.Hour},
	{"12h", bourse.Resolution720, bourse.Resolution720, 12 * bourse.Hour},
	{"1d", bourse.Resolution1D, bourse.Resolution1D, bourse.Day},
	{"3d", bourse.Resolution1D, 0, 3 * bourse.Day},
	{"1w", bourse.Resolution1W, bourse.Resolution1W, 7 * bourse.Day},
	{"1M", bourse.Resolution1M, bourse.Resolution1M, 31 * bourse.Day},
}

// Intervals returns the intervals that are served.
func Intervals() []Interval { return intervals[:] }

// FindInterval returns the interval of a word; nil if it is not served.
func FindInterval(word string) *Interval {
	for i := range intervals {
		if intervals[i].Word == word {
			return &intervals[i]
		}
	}
	return nil
}

// Start returns the start of the interval that holds t; End returns its end, which is the start
// of the next one.
func (i *Interval) Start(t bourse.Time) bourse.Time { return i.step(t, 0) }

// End returns the end of the interval that starts at start.
func (i *Interval) End(start bourse.Time) bourse.Time { return i.step(start, 1) }

// step returns the start of the interval n after the one that holds t, at the epoch at the
// earliest.
func (i *Interval) step(t bourse.Time, n int) bourse.Time {
	if i.wide == 0 {
		return max(t.Floor(i.width)+bourse.Time(n)*i.width, 0)
	}
	return i.wide.Add(i.wide.Floor(t), n)
}

// zoned is an interval whose days begin at midnight of a time zone.
type zoned struct {
	*Interval
	// east is the zone's time less that of UTC.
	east bourse.Time
}

func (z *zoned) step(t bourse.Time, n int) bourse.Time {
	return z.Interval.step(max(t+z.east, 0), n) - z.east
}

// read returns the resolution of the candles to read.
func (z *zoned) read() bourse.Resolution {
	if z.east != 0 && z.width > bourse.Hour {
		return bourse.Resolution60
	}
	return z.base
}

// mostBase bounds the candles that an answer is made of.
const mostBase = 50_000

// klines lists candles, oldest first.
func (f *Facade) klines(r *Request) error {
	m, z, limit := r.market(), r.interval(), r.Limit(usualLimit, mostLimit)
	from, byStart := r.Time("startTime")
	to, byEnd := r.Time("endTime")
	z.east = r.zone()
	if err := r.Err(); err != nil {
		return err
	}

	now := r.now()
	if !byEnd || to > now {
		to = now
	}
	list, err := f.candles(r, &z, history.CandleQuery{Market: m.ID, From: from, To: to, Newest: !byStart, Limit: limit})
	if err != nil {
		return err
	}
	r.Out.Array()
	for i := range list {
		r.writeKline(m, &z, &list[i])
	}
	r.Out.EndArray()
	return nil
}

// candles returns the candles of an interval that a query selects, oldest first.
func (f *Facade) candles(r *Request, z *zoned, q history.CandleQuery) ([]history.Candle, error) {
	first := f.View.Minutes(q.Market, math.MaxInt64).First
	if first == 0 || q.From > q.To {
		return nil, nil
	}
	limit := max(min(q.Limit, int(mostBase*z.read().Width()/z.width)), 1)
	begin, end := z.step(first, 0), z.step(q.To, 0)
	if q.From > begin {
		if begin = z.step(q.From, 0); begin < q.From {
			begin = z.step(begin, 1)
		}
	}
	if q.Newest {
		begin = max(begin, z.step(end, 1-limit))
	} else {
		end = min(end, z.step(begin, limit-1))
	}
	if begin > end {
		return nil, nil
	}

	last := z.step(end, 1) - 1
	base, read, err := f.History.Candles(r.Context, &history.CandleQuery{
		Market: q.Market, Resolution: z.read(), From: max(begin, 0), To: last, Limit: mostBase + 1,
	})
	r.chargeRows(read)
	return z.join(base), err
}

// join makes the interval's candles of base ones, in their memory.
func (z *zoned) join(base []history.Candle) []history.Candle {
	list := base[:0]
	for i := range base {
		k := base[i]
		start := z.step(k.Start, 0)
		if n := len(list); n > 0 && list[n-1].Start == start {
			joinCandle(&list[n-1], &k)
			continue
		}
		k.Start = start
		list = append(list, k)
	}
	return list
}

// joinCandle adds a later candle of the same interval. Candles without trades have the close
// before them as their prices.
func joinCandle(c, later *history.Candle) {
	switch {
	case later.Last == 0:
	case c.Last == 0:
		start := c.Start
		*c = *later
		c.Start = start
	default:
		c.Join(later)
	}
}

// interval reads the parameter interval.
func (r *Request) interval() zoned {
	i := FindInterval(r.Text("interval"))
	if i == nil {
		r.Fail(Errorf(codeInterval, "Invalid interval."))
		i = &intervals[0]
	}
	return zoned{Interval: i}
}

// zone reads the parameter timeZone: whole hours, such as 8, -5 or 05:00.
func (r *Request) zone() bourse.Time {
	const west, east = -12, 14
	text := r.Text("timeZone")
	if text == "" {
		return 0
	}
	hours, minutes, has := strings.Cut(text, ":")
	n, err := strconv.Atoi(hours)
	if err != nil || n < west || n > east || has && minutes != "00" || len(hours) > len("-12") {
		r.Fail(invalid("timeZone"))
		return 0
	}
	return bourse.Time(n) * bourse.Hour
}

// writeKline writes a candle as a list of twelve values.
func (r *Request) writeKline(m *bourse.Market, z *zoned, k *history.Candle) {
	quote := r.names.Assets[m.Quote].Scale
	end := z.step(k.Start, 1)
	r.Out.Array()
	r.Out.Integer(uint64(r.unit(k.Start)))
	for _, p := range [...]bourse.Price{k.Open, k.High, k.Low, k.Close} {
		r.Out.String(priceText(p, m))
	}
	r.Out.String(string(k.Volume.AppendFixed(nil, m.BasePrecision)))
	r.Out.Integer(uint64(r.unit(end) - 1))
	r.Out.String(fixedText(k.Value, quote))
	r.Out.Integer(k.Trades())
	r.Out.String(string(k.Bought.AppendFixed(nil, m.BasePrecision)))
	r.Out.String(fixedText(k.Spent, quote))
	r.Out.String("0")
	r.Out.EndArray()
}
