package watch

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// scale is the number of decimals at which numbers are compared.
const scale = 18

// number is a price or an amount, with its text without needless zeros.
type number struct {
	text  string
	value bourse.Amount
}

func parseNumber(text string) (number, error) {
	v, err := bourse.ParseAmount(text, scale)
	if err != nil {
		return number{}, fmt.Errorf("the exchange sent %.40q where a number is expected", text)
	}
	return number{v.Format(scale), v}, nil
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

// set sets the amount at a price; zero removes the level.
func (b *book) set(side string, price, amount number) error {
	levels, better := &b.bids, -1
	switch side {
	case "BUY":
	case "SELL":
		levels, better = &b.asks, 1
	default:
		return fmt.Errorf("the exchange sent %.40q where a side is expected", side)
	}

	at, found := slices.BinarySearchFunc(*levels, price, func(l level, p number) int {
		return better * l.price.value.Cmp(p.value)
	})
	switch {
	case amount.value.IsZero() && found:
		*levels = slices.Delete(*levels, at, at+1)
	case amount.value.IsZero():
	case found:
		(*levels)[at].amount = amount
	default:
		*levels = slices.Insert(*levels, at, level{price, amount})
	}
	return nil
}

// trade is one trade of the market.
type trade struct {
	// time is in Unix seconds.
	time          int64
	price, amount number
	side          string
}
