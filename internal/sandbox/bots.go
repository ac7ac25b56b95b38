package sandbox

import (
	"math/rand/v2"

	"github.com/bourse-exchange/bourse"
)

// The shape of the traders' books.
const (
	// levels is the number of orders that the maker keeps on each side of a market.
	levels = 14
	// PerMarket bounds the commands of a plan for one market: two orders are replaced,
	// one is taken.
	PerMarket = 5
	// usualOrder is the worth of the usual order in least orders of its market: 2,000
	// USDT, so that ten levels of a side hold 110,000, and never less than 50,000.
	usualOrder = 400
)

// Pace is the amount of trading between two plans for a market.
type Pace struct {
	// step divides a price to bound a move of the fair price; pull divides its distance
	// from home to give the part that it goes back.
	step, pull int64
	// trades is the average number of plans for one trade.
	trades int
}

// The paces of the past and of live trading.
var (
	// Past is for plans minutes apart.
	Past = Pace{step: 2_000, pull: 400, trades: 2}
	// Live is for several plans a second. A price moves by about as much in a minute as
	// between two plans of the past.
	Live = Pace{step: 50_000, pull: 250_000, trades: 8}
)

// Bots are two simulated traders: a maker that quotes each market, and a taker.
type Bots struct {
	maker, taker bourse.AccountID
	rng          *rand.Rand
	books        []*quotes
	turn         int
	// asked are the quotes of the last plan's orders, by command; nil for other commands.
	asked []*quote
}

// quotes are the orders that the maker keeps in a market.
type quotes struct {
	*bourse.Market
	// home is the price to which the fair price returns, fair the current one, in
	// thousandths of a tick.
	home, fair int64
	// lot is the usual size of an order.
	lot   int64
	sides [3][levels]quote
}

// quote is a slot for one order.
type quote struct {
	// order is zero while the slot is free.
	order bourse.OrderID
	// asked is true while a plan places an order for the slot.
	asked bool
}

// Funds returns the commands that credit an account with plenty of each asset.
func Funds(account bourse.AccountID, assets []*bourse.Asset) []bourse.Command {
	const plenty = 1_000_000_000
	var list []bourse.Command
	for _, a := range assets {
		amount, _ := bourse.Units(plenty).Mul(bourse.Pow10(a.Scale))
		list = append(list, bourse.Command{
			Kind: bourse.CommandCredit, Account: account, AssetID: a.ID, Amount: amount,
		})
	}
	return list
}

// NewBots returns traders for some markets. They take over the maker's open orders.
func NewBots(seed uint64, maker, taker bourse.AccountID, markets []*bourse.Market, open []bourse.Order) *Bots {
	b := &Bots{
		maker: maker, taker: taker,
		rng: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // a demo needs no secrets
	}
	for _, m := range markets {
		q := &quotes{Market: m, home: int64(m.InitialPrice) * 1000, lot: usualLots(m)}
		q.fair = q.home
		q.adopt(open)
		b.books = append(b.books, q)
	}
	return b
}

// Taker returns the account of the trader that takes.
func (b *Bots) Taker() bourse.AccountID { return b.taker }

// adopt puts the maker's open orders into slots, and the fair price between the best of
// them.
func (q *quotes) adopt(open []bourse.Order) {
	var best [3]int64
	for _, o := range open {
		if o.Market != q.ID {
			continue
		}
		price := int64(o.Price) * 1000
		if best[o.Side] == 0 || o.Side == bourse.Buy && price > best[o.Side] ||
			o.Side == bourse.Sell && price < best[o.Side] {
			best[o.Side] = price
		}
		for i := range q.sides[o.Side] {
			if q.sides[o.Side][i].order == 0 {
				q.sides[o.Side][i].order = o.ID
				break
			}
		}
	}
	if best[bourse.Buy] > 0 && best[bourse.Sell] > 0 {
		q.fair = (best[bourse.Buy] + best[bourse.Sell]) / 2
	}
}

// usualLots returns the size of a market's usual order, in lots at the initial price.
func usualLots(m *bourse.Market) int64 {
	perLot, _ := m.Total(m.InitialPrice, 1)
	least, _ := m.MinOrder.Div(perLot)
	return max(int64(least.Lo)*usualOrder, 1)
}

// Plan returns the traders' next commands, for the markets after those of the last plan:
// at most PerMarket in each.
func (b *Bots) Plan(markets int, pace Pace) []bourse.Command {
	b.asked = b.asked[:0]
	var plan []bourse.Command
	for range min(markets, len(b.books)) {
		q := b.books[b.turn%len(b.books)]
		b.turn++
		b.drift(q, pace)
		for range 2 {
			plan = b.requote(plan, q)
		}
		plan = b.take(plan, q, pace)
	}
	return plan
}

// Learn takes the outcomes of the last plan's commands, in their order.
func (b *Bots) Learn(outcomes []bourse.Outcome) {
	for i, o := range outcomes {
		if b.asked[i] == nil {
			continue
		}
		*b.asked[i] = quote{}
		if o.Reason == 0 && o.Status == bourse.Open {
			b.asked[i].order = bourse.OrderID(o.ID)
		}
	}
}

// drift moves the fair price by up to a step, with a pull toward its home.
func (b *Bots) drift(q *quotes, pace Pace) {
	step := max(q.home/pace.step, 500)
	q.fair += b.rng.Int64N(2*step+1) - step + (q.home-q.fair)/pace.pull
	q.fair = max(q.fair, 2000)
}

// requote replaces one of the maker's orders, or fills a free slot.
func (b *Bots) requote(plan []bourse.Command, q *quotes) []bourse.Command {
	side := bourse.Side(1 + b.rng.IntN(2))
	at := b.rng.IntN(levels)
	for i := range q.sides[side] {
		if q.sides[side][i] == (quote{}) {
			at = i
			break
		}
	}

	place := &q.sides[side][at]
	if place.asked {
		return plan
	}

	if place.order != 0 {
		plan = b.add(plan, nil, bourse.Command{Kind: bourse.CommandCancel, Account: b.maker, Order: place.order})
	}
	place.asked = true

	// Orders lie closer together near the middle: about 0.02 %, 0.06 %, ...
	away := q.fair / 10_000 * int64(2+at*at+at)
	price := q.fair - away
	if side == bourse.Sell {
		price = q.fair + away
	}
	return b.add(plan, place, bourse.Command{
		Kind: bourse.CommandPlace, Account: b.maker,
		NewOrder: bourse.NewOrder{
			Market: q.ID, Side: side, Type: bourse.Limit, TIF: bourse.GTC,
			Price: bourse.Price(max(price/1000, 1)), Lots: b.lots(q.lot * int64(1+at)),
		},
	})
}

// take sends an order that trades at once, in one of pace.trades plans on average.
func (b *Bots) take(plan []bourse.Command, q *quotes, pace Pace) []bourse.Command {
	if b.rng.IntN(pace.trades) != 0 {
		return plan
	}
	return b.add(plan, nil, bourse.Command{
		Kind: bourse.CommandPlace, Account: b.taker,
		NewOrder: bourse.NewOrder{
			Market: q.ID, Side: bourse.Side(1 + b.rng.IntN(2)), Type: bourse.MarketOrder, TIF: bourse.IOC,
			Lots: b.lots(max(q.lot/usualTake, 1)),
		},
	})
}

// usualTake divides the usual order to give a taker's: 200 USDT.
const usualTake = 10

// lots returns a size between a half and one and a half of the usual one.
func (b *Bots) lots(usual int64) bourse.Lots {
	return bourse.Lots(max(usual/2+b.rng.Int64N(usual+1), 1))
}

// add appends a command whose order, if it rests, takes a slot.
func (b *Bots) add(plan []bourse.Command, place *quote, cmd bourse.Command) []bourse.Command {
	b.asked = append(b.asked, place)
	return append(plan, cmd)
}
