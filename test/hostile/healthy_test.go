package hostile

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// healthy is a client that trades and reads during attacks and records every wrong
// answer.
type healthy struct {
	maker, taker *account
	stop, done   chan struct{}
	err          error
	rounds       int
	trades       atomic.Int64
}

// healthyPair is the market of the healthy client.
const healthyPair = "ETH/USDT"

// healthy starts the client.
func (x *exchange) healthy(t *testing.T) *healthy {
	t.Helper()
	h := &healthy{
		maker: x.open(t, "1000 ETH"), taker: x.open(t, "10000000 USDT"),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	s, err := x.subscribe(healthyPair+"@orderBook", healthyPair+"@marketTrade")
	if err != nil {
		t.Fatal(err)
	}
	go h.trade(s)
	return h
}

// end stops the client and reports its errors.
func (h *healthy) end(t *testing.T) {
	t.Helper()
	close(h.stop)
	<-h.done
	if h.err != nil || h.rounds == 0 {
		t.Errorf("the healthy client noticed, in round %d: %v", h.rounds, h.err)
	}
	for _, a := range []*account{h.maker, h.taker} {
		all, err := a.balances()
		if err != nil {
			t.Error(err)
		}
		for symbol, b := range all {
			if b.Locked != "0" || b.Total != b.Avbl {
				t.Errorf("the healthy client has %+v of %s", b, symbol)
			}
		}
	}
	t.Logf("the healthy client traded %d times meanwhile", h.rounds)
}

func (h *healthy) trade(s *subscription) {
	defer close(h.done)
	defer s.close()
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for {
		if h.err = h.round(s); h.err != nil {
			return
		}
		h.rounds++ // at least one round, even in a short attack
		select {
		case <-h.stop:
			return
		case <-every.C:
		}
	}
}

// round places an order, finds it on every endpoint, trades against it, and cancels the
// rest.
func (h *healthy) round(s *subscription) error {
	sell, err := h.maker.ask("/open_orders/new", limit(healthyPair, "SELL", "3000", "0.02"))
	if err != nil || !sell.Success {
		return fmt.Errorf("sell: %+v %w", sell, err)
	}
	if book, err := h.taker.ask("/orderbook", fields{"pair": healthyPair}); err != nil || len(book.Asks) != 1 || book.Asks[0] != (level{"3000.00", "0.02000"}) {
		return fmt.Errorf("book: %+v %w", book, err)
	}
	buy, err := h.taker.ask("/open_orders/new", immediate(healthyPair, "BUY", "3001", "0.01"))
	if err != nil || buy.Status != "FILLED" || buy.Filled != "0.01" {
		return fmt.Errorf("buy: %+v %w", buy, err)
	}
	if trades, err := h.taker.ask("/trades_history", fields{"offset": 0}); err != nil || len(trades.Trades) == 0 || trades.Trades[0].Price != "3000" {
		return fmt.Errorf("trades: %+v %w", trades, err)
	}
	if canceled, err := h.maker.ask("/open_orders/cancel", fields{"obid": sell.Obid}); err != nil || !canceled.Success {
		return fmt.Errorf("cancel: %+v %w", canceled, err)
	}
	order, err := h.maker.ask("/order", fields{"obid": sell.Obid})
	if err != nil || order.Order.Status != "CANCELED" || order.Order.Filled != "0.01" {
		return fmt.Errorf("order: %+v %w", order, err)
	}
	return h.heard(s)
}

// heard checks the messages of a round: three changes of the book and one trade.
func (h *healthy) heard(s *subscription) error {
	amounts := []string{"0.02000", "0.01000", "0"}
	for range 4 {
		m, err := s.next()
		switch {
		case err != nil:
			return fmt.Errorf("stream: %w", err)
		case m.Stream == healthyPair+"@marketTrade" && m.Amount == "0.01":
			h.trades.Add(1)
		case len(amounts) > 0 && m.Amount == amounts[0] && s.follows(m.Seq):
			amounts = amounts[1:]
		default:
			return fmt.Errorf("stream: %+v came, wanted was %v", m, amounts)
		}
	}
	return nil
}

// message has the fields of all stream messages.
type message struct {
	Class, Stream, Error        string
	ID                          int
	Success                     bool
	Pair, Price, Amount, Side   string
	Seq, Obid                   uint64
	Event, Status, Role, Reason string
}

func parseMessage(text []byte) (m message, err error) {
	err = json.Unmarshal(text, &m)
	return m, err
}
