package bourse

// Price is a count of a market's ticks; zero is none.
type Price uint64

// Lots is a count of a market's lots.
type Lots uint64

// The bounds of what an order may name. They leave room in one word for the
// arithmetic of pages and levels.
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

// Opposite returns the side that s trades with.
func (s Side) Opposite() Side { return Buy + Sell - s }

// OrderType says how an order's price is given.
type OrderType uint8

// The order types.
const (
	// Limit trades at its price or better.
	Limit OrderType = iota + 1
	// MarketOrder trades at any price and never rests.
	MarketOrder
	// StopLimit waits for a trade at its stop, then acts as a limit order.
	StopLimit
)

// TimeInForce says what becomes of what an order cannot trade at once.
type TimeInForce uint8

// The times in force.
const (
	// GTC rests until it is filled or canceled.
	GTC TimeInForce = iota + 1
	// FOK trades all at once or nothing.
	FOK
	// IOC trades what it can at once; the rest is killed.
	IOC
)

// SelfTradeMode says what happens when an order meets one of its own account.
type SelfTradeMode uint8

// The modes of self-trade prevention. Zero means the market's default.
const (
	// SelfTradeNone lets them trade.
	SelfTradeNone SelfTradeMode = iota + 1
	// CancelNewest kills the incoming order.
	CancelNewest
	// CancelOldest kills the resting order.
	CancelOldest
	// CancelBoth kills both.
	CancelBoth
)

// OrderStatus is where an order is in its life.
type OrderStatus uint8

// The statuses. All but Open are final.
const (
	Open OrderStatus = iota + 1
	Filled
	// Canceled: somebody asked for it.
	Canceled
	// Killed: its own terms or the exchange ended it.
	Killed
)

// Role is the part an order played in a trade.
type Role uint8

// The roles.
const (
	// Maker rested in the book.
	Maker Role = iota + 1
	// Taker came and traded with what rested.
	Taker
)

// Place is what a client asks for with a new order.
type Place struct {
	Market MarketID
	Side   Side
	Type   OrderType
	TIF    TimeInForce
	// SelfTrade is zero for the market's default.
	SelfTrade SelfTradeMode
	// PostOnly refuses a limit order that would take.
	PostOnly bool
	// Price is zero for a MARKET order.
	Price Price
	// Stop is zero but for a STOP_LIMIT order.
	Stop Price
	// Lots is zero for a MARKET order by total.
	Lots Lots
	// Total is what a MARKET order by total spends (BUY) or must receive
	// (SELL), in the quote asset's ledger units.
	Total Amount
	// ClientID makes the request idempotent; zero is none.
	ClientID ClientID
}

// Order is an accepted order.
type Order struct {
	ID      OrderID
	Account AccountID
	Place
	Status OrderStatus
	// Triggered is true once a STOP_LIMIT order has left its wait.
	Triggered bool
	// Ordinal counts the account's orders from one.
	Ordinal uint64
	// Time is that of acceptance.
	Time Time
	// Filled is how much of it has traded.
	Filled Lots
}

// Waiting reports whether o is a stop that has not been triggered.
func (o *Order) Waiting() bool { return o.Type == StopLimit && !o.Triggered }

// Trade is a match of two orders.
type Trade struct {
	Market MarketID
	// TakerSide is the side of the order that came.
	TakerSide Side
	// Number counts the market's trades from one.
	Number uint64
	Price  Price
	Lots   Lots
	// Total is the value in the quote asset's ledger units.
	Total        Amount
	Maker, Taker Fill
}

// Fill is one side of a trade.
type Fill struct {
	Order   OrderID
	Account AccountID
	// Ordinal counts the account's fills from one. Where both sides are one
	// account the maker's comes first.
	Ordinal uint64
	// Filled is how much of the order has traded, this trade included.
	Filled Lots
	// Fee is taken from what the side receives: base units for a buyer, quote
	// units for a seller.
	Fee Amount
}
