package bourse

// Trade is a match of two orders.
type Trade struct {
	Market MarketID
	// TakerSide is the side of the incoming order.
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
	// Ordinal counts the account's fills from one. If one account has both sides, the
	// maker's comes first.
	Ordinal uint64
	// Filled is the order's traded quantity, this trade included.
	Filled Lots
	// UpdateSeq is the position of the order's update in the stream of its account's orders,
	// on the last fill of a command that leaves the order open; else zero.
	UpdateSeq uint64
	// Fee is taken from the proceeds: base units for a buyer, quote units for a seller.
	Fee Amount
}

// Role is the part an order played in a trade.
type Role uint8

// The roles.
const (
	// Maker is the resting order.
	Maker Role = iota + 1
	// Taker is the incoming order.
	Taker
)

var roleWords = [...]string{"", "MAKER", "TAKER"}

// String returns MAKER or TAKER.
func (r Role) String() string { return word(roleWords[:], r) }
