package bench

import "github.com/bourse-exchange/bourse"

// source sets the next command, and reports whether there was one.
type source func(c *bourse.Command) bool

// these yields the commands of a list.
func these(list []bourse.Command) source {
	return func(c *bourse.Command) bool {
		if len(list) == 0 {
			return false
		}
		*c, list = list[0], list[1:]
		return true
	}
}

// items yields the commands of a part of a workload.
func items(list []item) source {
	return func(c *bourse.Command) bool {
		if len(list) == 0 {
			return false
		}
		*c = bourse.Command{}
		list[0].write(c)
		list = list[1:]
		return true
	}
}

// The market of a crowd: its middle price, the number of prices per side, and the number
// of accounts.
const (
	crowdMiddle = 500_000
	crowdPrices = 4096
	crowdUsers  = 1000
)

// crowd yields n orders that rest at crowdPrices prices on each side.
func crowd(n int) source {
	i := 0
	return func(c *bourse.Command) bool {
		if i == n {
			return false
		}
		away := bourse.Price(1 + i/2%crowdPrices)
		c.Kind, c.Account = bourse.CommandPlace, bourse.AccountID(1+i%crowdUsers)
		c.NewOrder = limit(bourse.Buy, crowdMiddle-away)
		if i%2 == 1 {
			c.NewOrder = limit(bourse.Sell, crowdMiddle+away)
		}
		i++
		return true
	}
}

// traders yields pairs of orders that match in the middle of a crowd, for ever.
func traders() source {
	i := 0
	return func(c *bourse.Command) bool {
		*c = bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(1 + i%crowdUsers)}
		c.NewOrder = limit([...]bourse.Side{bourse.Buy, bourse.Sell}[i%2], crowdMiddle)
		i++
		return true
	}
}

func limit(side bourse.Side, price bourse.Price) bourse.NewOrder {
	return bourse.NewOrder{Market: 1, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: 10}
}
