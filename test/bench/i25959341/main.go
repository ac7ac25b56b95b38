// I25959341 runs the common workload on the order book of that name, the one that most Go
// programs use, as an anchor of the engine's line. It is a module of its own because
// module proxies do not have that engine; `make bench ENGINE=DIR` takes a clone of
// github.com/i25959341/orderbook.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/i25959341/orderbook"
	"github.com/shopspring/decimal"
)

// recordSize is the size of a record in bytes: {u8 kind, u8 side, u16 0, u32 user, u64
// id, i64 price, i64 quantity}, little-endian.
const recordSize = 32

// Kinds of records; zero is a resting order.
const (
	addIOC = iota + 1
	cancel
	addMarket
)

// totals are the sums that every engine must reach.
type totals struct {
	Trades   int64 `json:"trades"`
	Volume   int64 `json:"volume"`
	Notional int64 `json:"notional"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "i25959341: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	path := flag.String("workload", "", "file of a workload, its totals beside it")
	flag.Parse()

	data, err := os.ReadFile(*path)
	if err != nil {
		return err
	}

	text, err := os.ReadFile(*path + ".json")
	if err != nil {
		return err
	}

	var side struct {
		Prefill int `json:"prefill"`
		totals
	}
	if err := json.Unmarshal(text, &side); err != nil {
		return err
	}

	cut := side.Prefill * recordSize
	m := market{book: orderbook.NewOrderBook()}
	if err := m.carry(data[:cut]); err != nil {
		return err
	}
	m.totals = totals{}

	began := time.Now()
	if err := m.carry(data[cut:]); err != nil {
		return err
	}
	took := time.Since(began)

	if m.totals != side.totals {
		return fmt.Errorf("%+v, not %+v", m.totals, side.totals)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"commands_per_second": float64((len(data)-cut)/recordSize) / took.Seconds(),
	})
}

// market counts the engine's trades. Orders are numbered from 1 in order of arrival.
type market struct {
	book *orderbook.OrderBook
	last int
	totals
}

func (m *market) carry(data []byte) error {
	le := binary.LittleEndian
	for ; len(data) > 0; data = data[recordSize:] {
		if data[0] == cancel {
			m.book.CancelOrder(strconv.FormatUint(le.Uint64(data[8:]), 10))
			continue
		}
		m.last++
		side := orderbook.Buy
		if data[1] == 1 {
			side = orderbook.Sell
		}
		price, lots := int64(le.Uint64(data[16:])), int64(le.Uint64(data[24:]))
		if err := m.place(data[0], side, price, lots); err != nil {
			return fmt.Errorf("order %d: %w", m.last, err)
		}
	}
	return nil
}

func (m *market) place(kind byte, side orderbook.Side, price, lots int64) error {
	if kind == addMarket {
		done, partial, _, left, err := m.book.ProcessMarketOrder(side, decimal.New(lots, 0))
		m.count("", done, partial, lots-left.IntPart())
		return err
	}
	id := strconv.Itoa(m.last)
	done, partial, _, err := m.book.ProcessLimitOrder(side, id, decimal.New(lots, 0), decimal.New(price, 0))
	if filled := m.count(id, done, partial, lots); !filled && kind == addIOC {
		m.book.CancelOrder(id)
	}
	return err
}

// count adds the trades of an order from the engine's answer, and reports whether the
// order is filled. lots is the quantity traded if the answer has a partial order.
func (m *market) count(id string, done []*orderbook.Order, partial *orderbook.Order, lots int64) (filled bool) {
	for _, o := range done {
		if o.ID() == id {
			filled = true
			continue
		}
		n := o.Quantity().IntPart()
		m.trade(o, n)
		lots -= n
	}
	if partial != nil && partial.ID() != id {
		m.trade(partial, lots)
	}
	return filled
}

func (m *market) trade(maker *orderbook.Order, lots int64) {
	m.Trades++
	m.Volume += lots
	m.Notional += lots * maker.Price().IntPart()
}
