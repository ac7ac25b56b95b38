package watch

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/client"
)

// scale is the number of decimals at which numbers are compared.
const scale = 18

// number is a price or an amount, with its text without needless zeros.
type number struct {
	text  string
	value bourse.Amount
}

func parseNumber(text client.Decimal) (number, error) {
	v, err := text.Amount(scale)
	if err != nil {
		return number{}, fmt.Errorf("the exchange sent %.40q where a number is expected", text)
	}
	return number{v.Format(scale), v}, nil
}

// parseNumbers parses a price and an amount. They are checked, because they are shown.
func parseNumbers(price, amount client.Decimal) (p, a number, err error) {
	p, err = parseNumber(price)
	a, also := parseNumber(amount)
	return p, a, cmp.Or(err, also)
}

// level is the total of the orders at a price.
type level struct{ price, amount number }

// book is a market's book at a sequence.
type book struct {
	// bids and asks begin with the best level.
	bids, asks []level
	// seq is the sequence of the last message applied.
	seq uint64
}

// load replaces the levels.
func (b *book) load(o *client.OrderBook) error {
	b.bids, b.asks = nil, nil
	for side, rows := range map[client.Side][]client.Row{client.Buy: o.Bids, client.Sell: o.Asks} {
		for _, row := range rows {
			if err := b.set(side, row.Price, row.Amount); err != nil {
				return err
			}
		}
	}
	return nil
}

// errSide returns an error unless side is a side.
func errSide(side client.Side) error {
	if side != client.Buy && side != client.Sell {
		return fmt.Errorf("the exchange sent %.40q where a side is expected", side)
	}
	return nil
}

// set sets the amount at a price; zero removes the level.
func (b *book) set(side client.Side, at, of client.Decimal) error {
	price, amount, err := parseNumbers(at, of)
	if err := cmp.Or(err, errSide(side)); err != nil {
		return err
	}
	levels, better := &b.bids, -1
	if side == client.Sell {
		levels, better = &b.asks, 1
	}
	put(levels, better, level{price, amount})
	return nil
}

// put sets a level of a side. better is 1 if the lowest price is the best one, or -1.
func put(levels *[]level, better int, l level) {
	at, found := slices.BinarySearchFunc(*levels, l, func(a, b level) int {
		return better * a.price.value.Cmp(b.price.value)
	})
	switch {
	case l.amount.value.IsZero() && found:
		*levels = slices.Delete(*levels, at, at+1)
	case l.amount.value.IsZero():
	case found:
		(*levels)[at].amount = l.amount
	default:
		*levels = slices.Insert(*levels, at, l)
	}
}

// trade is one trade of the market.
type trade struct {
	// time is in Unix seconds.
	time          int64
	price, amount number
	side          client.Side
}

// readTrade checks a trade, because it is shown.
func readTrade(t *client.Trade) (trade, error) {
	price, amount, err := parseNumbers(t.Price, t.Amount)
	return trade{t.Time.Unix(), price, amount, t.Side}, cmp.Or(err, errSide(t.Side))
}
