// Package client is a Go client of the interfaces V1 of an exchange: REST below /spot and /wallet, and
// the streams.
//
// A program that places an order and follows its trades:
//
//	c, err := client.New("http://127.0.0.1:8080", client.Options{Key: key})
//	if err != nil {
//		return err
//	}
//	placed, err := c.PlaceOnce(ctx, &client.NewOrder{
//		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.GTC,
//		Price: "50000", Amount: "0.1",
//	})
//	if err != nil {
//		return err
//	}
//	fmt.Println("order", placed.OrderID, placed.Status)
//
//	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyOrders, client.MyTrades}}) {
//		if err != nil {
//			return err
//		}
//		switch m := event.Message.(type) {
//		case *client.Fill:
//			fmt.Println("trade", m.TradeID, m.Side, m.Amount, "at", m.Price)
//		case *client.OrderEvent:
//			fmt.Println("order", m.OrderID, m.Status)
//		}
//	}
//
// # Requests
//
// Each endpoint is a method with a context; lists are iterators that read page after page, and stop
// when their loop does. A refusal is an [*Error] with the exchange's code and sentence. [ErrOutcomeUnknown]
// means that a request may have been carried out: [Client.PlaceOnce] and [Client.WithdrawOnce] then
// repeat it under its client id, which the exchange carries out once, until the outcome is known. A
// request beyond a limit is an error that tells how long to wait; with [Options.WaitForLimits] the
// client waits. [Options.Sign] signs requests for a key that is never shown.
//
// # Streams
//
// [Client.Follow] subscribes over one connection and connects again by itself, behind the last
// message of each stream, whatever ended the connection. It never delivers a message twice and never
// leaves one out without saying so: where the exchange has only a state, a [Reset] has it. A [Book]
// is kept by passing it the events.
//
// # Numbers
//
// Prices and amounts are [Decimal], the text of the interface, so that no digit is lost.
// [Decimal.Amount] returns a [bourse.Amount] to calculate with. Sides, types and statuses are open
// sets of texts: an exchange may have more than this package names.
//
// # What stays
//
// Methods, fields and constants of this package follow Semantic Versioning with the module, as the
// interfaces V1 do. Fields and kinds of [Message] may be added: use names in composite literals, and
// a default in type switches. Texts of errors may change; their codes and the errors that [errors.Is]
// finds stay. bourse.Amount belongs to the exchange's vocabulary, which makes no promise before
// version 1.
//
// # Out of scope
//
// The account's pages (V2), operators' commands, and strategies. Test support uses this package, but
// the conformance tests do not: they hold the exchange against the specification independently.
//
// Read client.go, orders.go, then stream.go and book.go.
package client
