package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/client"
)

// account opens an account of the sandbox with money.
func account() *client.Client {
	key, err := sandbox.open(rich)
	if err != nil {
		panic(err)
	}
	c, err := client.New(sandbox.url(), client.Options{Key: key})
	if err != nil {
		panic(err)
	}
	return c
}

// The program of the package's documentation, until its order has ended.
func Example() {
	ctx, c := context.Background(), account()
	_, _ = c.Place(ctx, limit("BTC/USDT", client.Sell, "50000", "0.1"))

	placed, err := c.PlaceOnce(ctx, &client.NewOrder{
		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.GTC,
		Price: "50000", Amount: "0.1",
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("order", placed.Status)

	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyTrades}}) {
		if err != nil {
			panic(err)
		}
		if m, ok := event.Message.(*client.Fill); ok {
			fmt.Println(m.Role, m.Side, m.Amount, "at", m.Price)
		}
		if _, ok := event.Message.(*client.Current); ok {
			break
		}
	}
	// Output:
	// order FILLED
	// MAKER SELL 0.1 at 50000
	// TAKER BUY 0.1 at 50000
}

// A book is kept by passing it the events of its stream.
func ExampleBook() {
	ctx, c := context.Background(), account()
	defer func() { _, _ = c.CancelAll(ctx, "LTC/USDT") }()
	_, _ = c.Place(ctx, limit("LTC/USDT", client.Buy, "79.50", "2"))
	_, _ = c.Place(ctx, limit("LTC/USDT", client.Sell, "80.25", "3"))

	book := client.Book{Pair: "LTC/USDT"}
	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.BookOf(book.Pair)}}) {
		if err != nil {
			panic(err)
		}
		book.Apply(event)
		if _, ok := event.Message.(*client.Current); ok {
			break
		}
	}
	fmt.Println("bid", book.Bids()[0].Price, "ask", book.Asks()[0].Price)
	// Output: bid 79.50 ask 80.25
}

// Every refusal has a sentence. errors.Is finds the refusals that a program acts on.
func ExampleError() {
	ctx, c := context.Background(), account()
	err := c.Cancel(ctx, 1<<40)
	fmt.Println(errors.Is(err, client.ErrOrderNotFound))

	_, err = c.Place(ctx, limit("BTC/USDT", client.Buy, "50000", "100000000"))
	var refused *client.Error
	fmt.Println(errors.As(err, &refused), refused.Message)
	// Output:
	// true
	// true INSUF_FUNDS: less is available than the order must hold
}

// Amounts are added exactly, as counts of an asset's units.
func ExampleDecimal_Amount() {
	const scale = 8
	sum := bourse.Amount{}
	for _, d := range []client.Decimal{"0.1", "0.2"} {
		amount, err := d.Amount(scale)
		if err != nil {
			panic(err)
		}
		sum = sum.Plus(amount)
	}
	fmt.Println(sum.Format(scale))
	// Output: 0.3
}
