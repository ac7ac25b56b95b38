package view

import (
	"math"
	"math/bits"

	"github.com/bourse-exchange/bourse"
)

// tapeKept is the age to which minutes are kept: a day for tickers, and another one so
// that yesterday's candle can be drawn from memory while history lags.
const tapeKept = 49 * bourse.Hour

// kept lists the resolutions whose candles count trades; the candles of any other resolution
// are joined of theirs.
var kept = [...]bourse.Resolution{bourse.Resolution1, bourse.Resolution60, bourse.Resolution1D}

// Tape is the market data of all markets: prices, the minutes of the last days, the
// rolling day and the current candles. The view and the follower fold one each; the
// follower's goes into snapshots.
type Tape struct {
	markets []*marketTape // by market ID; index zero is nil
	// minute is the start of the current minute.
	minute bourse.Time
}

// marketTape is the market data of one market.
type marketTape struct {
	id bourse.MarketID
	// last and previous are the last price and the price before its last change; the
	// initial price until there is one.
	last, previous bourse.Price
	// lots is the quantity of the last trade.
	lots   bourse.Lots
	trades uint64
	// minutes are the minutes with trades, ascending; day is the index of the first one
	// in the rolling day.
	minutes []Bucket
	day     int
	// before is the price at the start of the rolling day.
	before        bourse.Price
	high, low     bourse.Price
	volume, value bourse.Amount
	// candles are by resolution. A kept resolution has its current candle; any other one has
	// the part of its current candle before its kept resolution's current candle.
	candles [bourse.LastResolution + 1]Bucket
	// first is the start of the minute of the first trade.
	first bourse.Time
}

// Bucket is the trading of a span of time.
type Bucket struct {
	Start                  bourse.Time
	Open, High, Low, Close bourse.Price
	// Volume is in lots, Value in quote units. Bought and Spent are the parts of them whose
	// taker was the buyer.
	Volume, Value bourse.Amount
	Bought, Spent bourse.Amount
	// First and Last are the numbers of the first and the last trade; zero without trades.
	First, Last uint64
}

// Ticker is a market's last price and rolling day.
type Ticker struct {
	Price, Previous bourse.Price
	// Change is in whole percent against the price a day ago.
	Change    int64
	High, Low bourse.Price
	// Volume is in lots, Value in quote units.
	Volume, Value bourse.Amount
	// Trades is the number of the last trade.
	Trades uint64
}

// UpdateKind is the kind of an [Update].
type UpdateKind uint8

// The kinds of updates.
const (
	// TickerChanged: the price changed, and with it the ticker.
	TickerChanged UpdateKind = iota + 1
	// VolumeChanged: the rolling day changed while the price stayed.
	VolumeChanged
	// CandleChanged: a candle changed, or a new one began.
	CandleChanged
)

// Update is a change of the market data.
type Update struct {
	Kind   UpdateKind
	Market bourse.MarketID
	// After is the index of the event that caused the update, or -1 if time passing
	// before the command did.
	After  int
	Ticker Ticker
	// Resolution and Candle are set for CandleChanged. A trade changes the candles of all
	// resolutions and has an update for each kept one; Widen returns the others.
	Resolution bourse.Resolution
	Candle     Bucket
}

// NewTape returns an empty tape.
func NewTape() *Tape { return &Tape{markets: make([]*marketTape, 1)} }

// Fold folds a command's events and appends the changes to updates, unless that is nil.
func (t *Tape) Fold(cmd *bourse.Command, ev *bourse.Events, updates *[]Update) {
	t.roll(cmd.Time, updates)
	if len(ev.Trades) == 0 && len(ev.Facts) == 0 {
		return // the usual case
	}
	for i, e := range ev.List {
		switch e.Kind {
		case bourse.EventMarket:
			t.define(ev.Facts[e.At].Market)
		case bourse.EventTraded:
			t.trade(&ev.Trades[e.At], cmd.Time, i, updates)
		default:
		}
	}
}

// define adds a market, or updates the initial price that it has until its first trade.
func (t *Tape) define(m *bourse.Market) {
	if int(m.ID) == len(t.markets) {
		t.markets = append(t.markets, &marketTape{id: m.ID})
	}
	mt := t.markets[m.ID]
	if mt.trades == 0 {
		mt.last, mt.previous, mt.before = m.InitialPrice, m.InitialPrice, m.InitialPrice
	}
}

func (t *Tape) trade(tr *bourse.Trade, now bourse.Time, after int, updates *[]Update) {
	m := t.markets[tr.Market]
	changed := tr.Price != m.last
	if changed {
		m.previous, m.last = m.last, tr.Price
	}
	if m.trades == 0 {
		m.first = now.Floor(bourse.Minute)
		for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
			m.candles[res].Start = res.Floor(now)
		}
	}

	m.trades, m.lots = tr.Number, tr.Lots
	m.addToDay(tr, now)
	for _, res := range kept { // roll has begun them
		m.candles[res].add(tr)
	}

	if updates == nil {
		return
	}

	kind := VolumeChanged
	if changed {
		kind = TickerChanged
	}
	*updates = append(*updates, Update{Kind: kind, Market: m.id, After: after, Ticker: m.ticker()})
	for _, res := range kept {
		*updates = append(*updates, Update{
			Kind: CandleChanged, Market: m.id, After: after, Resolution: res, Candle: m.candles[res],
		})
	}
}

// addToDay adds a trade to its minute and to the rolling day.
func (m *marketTape) addToDay(tr *bourse.Trade, now bourse.Time) {
	start := now.Floor(bourse.Minute)
	if n := len(m.minutes); n == 0 || m.minutes[n-1].Start != start {
		m.minutes = append(m.minutes, Bucket{Start: start})
	}
	if m.day == len(m.minutes)-1 && m.minutes[m.day].Volume.IsZero() {
		m.high, m.low = tr.Price, tr.Price
	}
	m.minutes[len(m.minutes)-1].add(tr)
	m.high, m.low = max(m.high, tr.Price), min(m.low, tr.Price)
	m.volume, m.value = m.volume.PlusOrMax(bourse.Units(uint64(tr.Lots))), m.value.PlusOrMax(tr.Total)
}

// add adds a trade to a bucket. A bucket without trades has a volume of zero and the
// previous close as its prices.
func (b *Bucket) add(tr *bourse.Trade) {
	if b.Volume.IsZero() {
		b.Open, b.High, b.Low, b.First = tr.Price, tr.Price, tr.Price, tr.Number
	}
	if tr.TakerSide == bourse.Buy {
		b.Bought, b.Spent = b.Bought.PlusOrMax(bourse.Units(uint64(tr.Lots))), b.Spent.PlusOrMax(tr.Total)
	}
	b.Last = tr.Number
	b.High, b.Low, b.Close = max(b.High, tr.Price), min(b.Low, tr.Price), tr.Price
	b.Volume, b.Value = b.Volume.PlusOrMax(bourse.Units(uint64(tr.Lots))), b.Value.PlusOrMax(tr.Total)
}

// roll advances time: minutes leave the rolling day, and candles begin.
func (t *Tape) roll(now bourse.Time, updates *[]Update) {
	if now-t.minute < bourse.Minute {
		return
	}
	t.minute = now.Floor(bourse.Minute)

	var list []Update
	for _, m := range t.markets[1:] {
		if m.leaveDay(t.minute) {
			list = append(list, Update{Kind: VolumeChanged, Market: m.id, After: -1, Ticker: m.ticker()})
		}
		if m.trades > 0 {
			list = m.turn(now, list)
		}
	}

	if updates != nil {
		*updates = append(*updates, list...)
	}
}

// turn begins the candles that start by now, and appends them to the updates. A kept candle
// that ends becomes a part of the wider ones that go on.
func (m *marketTape) turn(now bourse.Time, updates []Update) []Update {
	begin := func(res bourse.Resolution, start bourse.Time) {
		m.candles[res] = Bucket{Start: start, Open: m.last, High: m.last, Low: m.last, Close: m.last}
		updates = append(updates, Update{
			Kind: CandleChanged, Market: m.id, After: -1, Resolution: res, Candle: m.candles[res],
		})
	}

	for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
		narrow := res.Kept()
		if narrow == res || narrow.Floor(now) == m.candles[narrow].Start {
			continue
		}
		if start := res.Floor(now); start > m.candles[res].Start {
			begin(res, start)
		} else {
			m.candles[res] = m.candles[res].join(&m.candles[narrow])
		}
	}

	for _, res := range kept {
		if start := res.Floor(now); start > m.candles[res].Start {
			begin(res, start)
		}
	}
	return updates
}

// candle returns the current candle of a resolution. narrow is the current candle of its kept
// resolution.
func (m *marketTape) candle(res bourse.Resolution, narrow *Bucket) Bucket {
	if res.Kept() == res {
		return *narrow
	}
	return m.candles[res].join(narrow)
}

// join returns the bucket that starts with b and has the trades of b and later.
func (b *Bucket) join(later *Bucket) Bucket {
	switch {
	case later.Volume.IsZero():
		return *b
	case b.Volume.IsZero():
		sum := *later
		sum.Start = b.Start
		return sum
	}
	return Bucket{
		Start: b.Start, Open: b.Open, High: max(b.High, later.High), Low: min(b.Low, later.Low), Close: later.Close,
		Volume: b.Volume.PlusOrMax(later.Volume), Value: b.Value.PlusOrMax(later.Value),
		Bought: b.Bought.PlusOrMax(later.Bought), Spent: b.Spent.PlusOrMax(later.Spent),
		First: b.First, Last: later.Last,
	}
}

// leaveDay removes minutes that are a day old from the rolling day, and drops those older
// than tapeKept. It reports whether the day changed.
func (m *marketTape) leaveDay(minute bourse.Time) bool {
	was := m.day
	for m.day < len(m.minutes) && m.minutes[m.day].Start <= minute-bourse.Day {
		m.before = m.minutes[m.day].Close
		m.day++
	}
	if m.day == was {
		return false
	}
	m.recount()
	m.forget(minute)
	return true
}

// recount sums the rolling day over its minutes.
func (m *marketTape) recount() {
	m.high, m.low, m.volume, m.value = 0, 0, bourse.Amount{}, bourse.Amount{}
	for i, b := range m.minutes[m.day:] {
		if i == 0 {
			m.high, m.low = b.High, b.Low
		}
		m.high, m.low = max(m.high, b.High), min(m.low, b.Low)
		m.volume, m.value = m.volume.PlusOrMax(b.Volume), m.value.PlusOrMax(b.Value)
	}
}

// forget drops the minutes older than tapeKept once they are more than half of all, so
// that the others are not moved every minute.
func (m *marketTape) forget(minute bourse.Time) {
	old := 0
	for old < m.day && m.minutes[old].Start < minute-tapeKept {
		old++
	}
	if old > len(m.minutes)/2 {
		m.minutes = append(m.minutes[:0:0], m.minutes[old:]...)
		m.day -= old
	}
}

// rolling returns the rolling day.
func (m *marketTape) rolling() Day {
	d := Day{Bucket: Bucket{Open: m.last, High: m.last, Low: m.last, Close: m.last}, Before: m.before, Lots: m.lots}
	if m.day < len(m.minutes) {
		first, last := &m.minutes[m.day], &m.minutes[len(m.minutes)-1]
		d.Bucket = Bucket{
			Start: first.Start, Open: first.Open, High: m.high, Low: m.low, Close: m.last,
			Volume: m.volume, Value: m.value, First: first.First, Last: last.Last,
		}
	}
	return d
}

func (m *marketTape) ticker() Ticker {
	t := Ticker{
		Price: m.last, Previous: m.previous, Change: percent(m.last, m.before),
		High: m.high, Low: m.low, Volume: m.volume, Value: m.value, Trades: m.trades,
	}
	if m.day == len(m.minutes) {
		t.High, t.Low = m.last, m.last
	}
	return t
}

// percent returns the change from before to price in whole percent, rounded half away
// from zero and saturated to an int64. before is at least one.
func percent(price, before bourse.Price) int64 {
	diff, sign := price-before, int64(1)
	if price < before {
		diff, sign = before-price, -1
	}
	hi, lo := bits.Mul64(uint64(diff), 200)
	lo, carry := bits.Add64(lo, uint64(before), 0)
	if hi += carry; hi >= uint64(before)*2 {
		return sign * math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(before)*2)
	return sign * int64(min(n, math.MaxInt64))
}
