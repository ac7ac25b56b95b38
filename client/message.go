package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The names of an account's streams.
const (
	MyOrders    = "myOrders"
	MyTrades    = "myTrades"
	MyBalances  = "myBalances"
	MyTransfers = "myTransfers"
)

// TradesOf returns the name of the stream of a market's trades.
func TradesOf(pair string) string { return pair + "@marketTrade" }

// BookOf returns the name of the stream of a market's book.
func BookOf(pair string) string { return pair + "@orderBook" }

// CandlesOf returns the name of the stream of a market's candles of a resolution, such as 1, 60
// or 1D.
func CandlesOf(pair, resolution string) string { return pair + "@candleStick/" + resolution }

// TickerOf returns the name of the stream of a market's price.
func TickerOf(pair string) string { return pair + "@ticker" }

// TickerExOf returns the name of the stream of a market's price and rolling day.
func TickerExOf(pair string) string { return pair + "@tickerEx" }

// Event is a message of a stream, or news of the connection.
type Event struct {
	// Stream is the name of the stream, and Seq the message's number in it; empty and zero
	// for Current and Dropped.
	Stream  string
	Seq     uint64
	Message Message
}

// Message is *Trade, *Level, *Ticker, *Candle, *OrderEvent, *Fill, *Balance, *Transaction, *Reset,
// *Current or *Dropped. More may be added.
type Message interface{ message() }

// Level is a change of a level of a market's book, from the stream BookOf.
type Level struct {
	Pair string `json:"pair"`
	Side Side   `json:"side"`
	// Price is in the quote asset.
	Price Decimal `json:"price"`
	// Amount is the level's new amount, in the base asset; zero if the level is gone.
	Amount Decimal `json:"amount"`
}

// Ticker is a market's price, from the streams TickerOf and TickerExOf.
type Ticker struct {
	Pair string `json:"pair"`
	// Price is the price of the last trade, Previous the price before its last change, both
	// in the quote asset.
	Price    Decimal `json:"price"`
	Previous Decimal `json:"previous"`
	// Change is the change of the price over 24 hours, in whole percent.
	Change int64 `json:"change"`
	// High, Low, BaseVolume and QuoteVolume are of 24 hours; TickerOf leaves them empty.
	High        Decimal `json:"high"`
	Low         Decimal `json:"low"`
	BaseVolume  Decimal `json:"vol_base"`
	QuoteVolume Decimal `json:"vol_quote"`
}

// The values of OrderEvent.Event.
const (
	OrderAccepted = "orderAccepted"
	OrderRejected = "orderRejected"
	OrderUpdate   = "orderUpdate"
)

// OrderEvent is a change of an order, from the stream MyOrders. It has the fields of the order
// that its Event needs.
type OrderEvent struct {
	Event string `json:"event"`
	// Status is set when the order ended.
	Order
	// Triggered is set when a stop was triggered.
	Triggered bool `json:"triggered"`
	// Amended is set when the order was amended. Price, Amount and Left are its new ones.
	Amended bool `json:"amended"`
	// Left is what of the order's amount was neither traded nor prevented, in the base asset; empty for an order
	// by total.
	Left Decimal `json:"left"`
}

// Reset replaces the state that a program keeps of a stream: the exchange no longer has the
// messages since the last one. Only the field of its stream is set.
type Reset struct {
	// Book is the whole book, of BookOf.
	Book *OrderBook
	// Orders are all open orders, of MyOrders. An order that was known and is not in it has
	// ended: [Client.Order] tells how.
	Orders []Order
	// Balances are the balances of all assets, of MyBalances.
	Balances []Balance
	// Trades, Fills and Transactions are the newest, of TradesOf, MyTrades and MyTransfers;
	// [Client.Trades], [Client.Fills] and [Client.Transactions] list the older ones.
	Trades       []Trade
	Fills        []Fill
	Transactions []Transaction
}

// Current tells that all messages missed before a connection have been delivered.
type Current struct{}

// Dropped tells that a connection ended, or could not be made. The next one begins behind the
// last message. With [Stream.CancelOnClose] the account's open orders are being canceled.
type Dropped struct {
	// Err is the reason: a *ClosedError if the exchange closed the connection.
	Err error
}

func (*Trade) message()       {}
func (*Level) message()       {}
func (*Ticker) message()      {}
func (*Candle) message()      {}
func (*OrderEvent) message()  {}
func (*Fill) message()        {}
func (*Balance) message()     {}
func (*Transaction) message() {}
func (*Reset) message()       {}
func (*Current) message()     {}
func (*Dropped) message()     {}

// envelope has the fields of a message of any class, without those of its content.
type envelope struct {
	Class   string          `json:"class"`
	Stream  string          `json:"stream"`
	Seq     uint64          `json:"seq"`
	Micros  int64           `json:"time_us"`
	State   json.RawMessage `json:"state"`
	ID      int             `json:"id"`
	Success bool            `json:"success"`
	Error   string          `json:"error"`
	Code    string          `json:"code"`
}

// kindOf returns the part of a stream's name that all streams of its kind share.
func kindOf(stream string) string {
	_, kind, ofMarket := strings.Cut(stream, "@")
	if !ofMarket {
		return stream
	}
	kind, _, _ = strings.Cut(kind, "/")
	return kind
}

// counted maps each kind of stream to whether its seq counts the messages by one.
var counted = map[string]bool{
	"marketTrade": true, "orderBook": true, MyOrders: true, MyTrades: true, MyBalances: true, MyTransfers: true,
	"ticker": false, "tickerEx": false, "candleStick": false,
}

func known(stream string) bool {
	_, known := counted[kindOf(stream)]
	return known
}

// data returns the message of an envelope of class data.
func (e *envelope) data(text []byte) (m Message, err error) {
	exact := Time{time.UnixMicro(e.Micros)}
	switch kindOf(e.Stream) {
	case "marketTrade":
		m, err = decode(text, func(m *Trade) { m.Time = exact })
	case "orderBook":
		m, err = decode(text, func(*Level) {})
	case "ticker", "tickerEx":
		m, err = decode(text, func(*Ticker) {})
	case "candleStick":
		m, err = decode(text, func(m *Candle) { m.Time = exact })
	case MyOrders:
		m, err = decode(text, func(m *OrderEvent) { m.Time = exact })
	case MyTrades:
		m, err = decode(text, func(m *Fill) { m.Time = exact })
	case MyBalances:
		m, err = decode(text, func(m *Balance) { m.Time = exact })
	case MyTransfers:
		m, err = decode(text, func(*Transaction) {})
	default:
		err = errUnknownStream(e.Stream)
	}

	return m, err
}

func errUnknownStream(name string) error {
	return fmt.Errorf("this client does not know the stream %q", name)
}

func decode[M any](text []byte, complete func(*M)) (*M, error) {
	m := new(M)
	err := json.Unmarshal(text, m)
	complete(m)
	return m, err
}

// reset returns the message of an envelope of class reset.
func (e *envelope) reset() (m *Reset, err error) {
	m = new(Reset)
	switch kindOf(e.Stream) {
	case "orderBook":
		m.Book = new(OrderBook)
		err = json.Unmarshal(e.State, m.Book)
	case "marketTrade":
		m.Trades, err = rows[Trade](e.State, "trades")
		pair, _, _ := strings.Cut(e.Stream, "@")
		for i := range m.Trades {
			m.Trades[i].Pair = pair
		}
	case MyTrades:
		m.Fills, err = rows[Fill](e.State, "trades")
	case MyOrders:
		m.Orders, err = rows[Order](e.State, "orders")
	case MyTransfers:
		m.Transactions, err = rows[Transaction](e.State, "transactions")
	case MyBalances:
		var state struct{ Balances map[string]Balance }
		err = json.Unmarshal(e.State, &state)
		m.Balances = bySymbol(state.Balances, func(b *Balance, symbol string) { b.Asset = symbol })
	default:
		err = errUnknownStream(e.Stream)
	}

	return m, err
}

// rows returns a list of a state.
func rows[R any](state json.RawMessage, name string) (list []R, err error) {
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(state, &lists); err != nil {
		return nil, err
	}
	err = json.Unmarshal(lists[name], &list)
	return list, err
}
