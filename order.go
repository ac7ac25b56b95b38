package bourse

// Price is a count of a market's ticks; zero is none.
type Price uint64

// Lots is a count of a market's lots.
type Lots uint64

// The bounds of an order's price and lots. They leave room in one word for the arithmetic
// of pages and levels.
const (
	MaxPrice Price = 1<<62 - 1
	MaxLots  Lots  = 1<<62 - 1
)

// Side is the side of an order.
type Side uint8

// The sides.
const (
	Buy Side = iota + 1
	Sell
)

var sideWords = [...]string{"", "BUY", "SELL"}

// String returns BUY or SELL.
func (s Side) String() string { return word(sideWords[:], s) }

// ParseSide reads BUY or SELL.
func ParseSide(s string) (Side, bool) { return parseWord[Side](sideWords[:], s) }

// Opposite returns the side that s trades with.
func (s Side) Opposite() Side { return Buy + Sell - s }

// OrderType determines an order's price.
type OrderType uint8

// The order types.
const (
	// Limit trades at its price or better.
	Limit OrderType = iota + 1
	// MarketOrder trades at any price and never rests.
	MarketOrder
	// StopLimit waits until the last price goes against its side, to its stop, then acts as
	// a limit order.
	StopLimit
	// StopMarket waits like StopLimit, then acts as a market order.
	StopMarket
	// TakeProfitLimit waits until the last price goes with its side, to its stop, then acts
	// as a limit order.
	TakeProfitLimit
	// TakeProfitMarket waits like TakeProfitLimit, then acts as a market order.
	TakeProfitMarket

	// LastOrderType is the newest type that this program knows.
	LastOrderType = TakeProfitMarket
)

var typeWords = [...]string{
	"", "LIMIT", "MARKET", "STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT_LIMIT", "TAKE_PROFIT_MARKET",
}

// String returns the word of a type, such as LIMIT.
func (t OrderType) String() string { return word(typeWords[:], t) }

// HasStop reports whether an order of this type waits for a trade at its stop.
func (t OrderType) HasStop() bool { return t >= StopLimit }

// unpriced has a bit for each type without a price.
const unpriced = uint64(1<<MarketOrder | 1<<StopMarket | 1<<TakeProfitMarket)

// HasPrice reports whether an order of this type names a price and may rest at it.
func (t OrderType) HasPrice() bool { return unpriced>>t&1 == 0 }

// TakesProfit reports whether an order of this type waits for the last price to go with its
// side, up for a SELL. All other types with a stop wait for it to go against their side.
func (t OrderType) TakesProfit() bool { return t == TakeProfitLimit || t == TakeProfitMarket }

// FiresAbove reports whether a trade at the stop or above it triggers an order of this type
// and side. The others are triggered at the stop or below it.
func (t OrderType) FiresAbove(side Side) bool { return (side == Buy) != t.TakesProfit() }

// Fires reports whether a trade at a price triggers an order of this type and side.
func (t OrderType) Fires(side Side, stop, price Price) bool {
	if t.FiresAbove(side) {
		return price >= stop
	}
	return price <= stop
}

// ParseOrderType reads the word of a type.
func ParseOrderType(s string) (OrderType, bool) { return parseWord[OrderType](typeWords[:], s) }

// TimeInForce determines the fate of the quantity that an order cannot trade at once.
type TimeInForce uint8

// The times in force.
const (
	// GTC rests until it is filled or canceled.
	GTC TimeInForce = iota + 1
	// FOK trades all at once or nothing.
	FOK
	// IOC trades at once as much as possible; the remainder is killed.
	IOC
)

var tifWords = [...]string{"", "GTC", "FOK", "IOC"}

// String returns GTC, FOK or IOC.
func (t TimeInForce) String() string { return word(tifWords[:], t) }

// ParseTimeInForce reads GTC, FOK or IOC.
func ParseTimeInForce(s string) (TimeInForce, bool) { return parseWord[TimeInForce](tifWords[:], s) }

// SelfTradeMode determines the result of a match between two orders of one account.
type SelfTradeMode uint8

// The modes of self-trade prevention. Zero means the market's default.
const (
	// SelfTradeNone lets the two orders trade.
	SelfTradeNone SelfTradeMode = iota + 1
	// CancelNewest kills the incoming order.
	CancelNewest
	// CancelOldest kills the resting order.
	CancelOldest
	// CancelBoth kills both.
	CancelBoth
	// Decrement takes the smaller open quantity of the two off both, and kills the one that has
	// nothing left, or both.
	Decrement

	// LastSelfTradeMode is the newest mode that this program knows.
	LastSelfTradeMode = Decrement
)

var selfTradeWords = [...]string{"", "none", "cancel_newest", "cancel_oldest", "cancel_both", "decrement"}

// String returns none, cancel_newest, cancel_oldest, cancel_both or decrement.
func (m SelfTradeMode) String() string { return word(selfTradeWords[:], m) }

// ParseSelfTradeMode reads the word of a mode.
func ParseSelfTradeMode(s string) (SelfTradeMode, bool) {
	return parseWord[SelfTradeMode](selfTradeWords[:], s)
}

// OrderStatus is the status of an order.
type OrderStatus uint8

// The statuses. All but Open are final.
const (
	Open OrderStatus = iota + 1
	Filled
	// Canceled: the customer or an operator asked for it.
	Canceled
	// Killed: the order's own terms or the exchange ended it.
	Killed
)

var statusWords = [...]string{"", "OPEN", "FILLED", "CANCELED", "KILLED"}

// String returns OPEN, FILLED, CANCELED or KILLED.
func (s OrderStatus) String() string { return word(statusWords[:], s) }

// The bounds of dead man's switches. They are part of the rules: changing one changes the
// meaning of existing journals.
const (
	// MaxCancelAfter is the longest time of a dead man's switch.
	MaxCancelAfter = Day
	// MaxConnections bounds an account's connections whose close cancels its orders.
	MaxConnections = 50
)

// The bounds of retained client ids. They are part of the rules.
const (
	// ClientIDKept is the time for which a client id stays taken after its order ended.
	ClientIDKept = Day
	// MaxRejections bounds an account's retained client ids of rejected orders.
	MaxRejections = 100
)

// NewOrder is a client's request for an order.
type NewOrder struct {
	Market MarketID
	Side   Side
	Type   OrderType
	TIF    TimeInForce
	// SelfTrade is zero for the market's default.
	SelfTrade SelfTradeMode
	// PostOnly rejects a limit order that would take.
	PostOnly bool
	// Price is zero for a type without a price.
	Price Price
	// Stop is zero except for a type with a stop.
	Stop Price
	// Lots is zero for an order by total, which names no price.
	Lots Lots
	// Total is the amount that an order by total spends (BUY) or must receive (SELL), in
	// the quote asset's ledger units. An order with a stop sells by Lots only.
	Total Amount
	// ClientID makes the request idempotent; zero is none.
	ClientID ClientID
}

// Order is an accepted order.
type Order struct {
	ID      OrderID
	Account AccountID
	// NewOrder is the request. The Price of an order without a price that buys by Lots once
	// its stop is triggered is its cap: the worst price of its trades, fixed at acceptance.
	NewOrder
	Status OrderStatus
	// Triggered is true once the stop of an order has been triggered.
	Triggered bool
	// Amended is true once the terms of an order have been amended.
	Amended bool
	// List is the id of the order's list, which is that of its first order; zero for an order
	// without one.
	List OrderID
	// Ordinal counts the account's orders from one.
	Ordinal uint64
	// Time is the time of acceptance.
	Time Time
	// Filled is the traded quantity.
	Filled Lots
	// Prevented is the quantity that self-trade prevention took. Like Filled it is a part of Lots.
	// For an order by total, which has no Lots, it is the quantity that would have been traded.
	Prevented Lots
}

// Left returns the quantity of an order with Lots that is neither traded nor prevented.
func (o *Order) Left() Lots { return o.Lots - o.Filled - o.Prevented }

// EndedByPrevention reports whether self-trade prevention ended an order. Of an order by total it
// is enough that prevention took a part and the rest was killed.
func (o *Order) EndedByPrevention() bool {
	return o.Status == Killed && o.Prevented > 0 && (o.Lots == 0 || o.Left() == 0)
}

// Cap returns the worst price of a trade that an order without a price fixed at its
// acceptance; zero is none.
func (o *Order) Cap() Price {
	if o.Type.HasPrice() {
		return 0
	}
	return o.Price
}

// Terms are the price and the quantity of an order, which an amendment may change.
type Terms struct {
	Price Price
	Lots  Lots
}

// Waiting reports whether o is a stop that has not been triggered.
func (o *Order) Waiting() bool { return o.Type.HasStop() && !o.Triggered }
