package history

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrOutOfOrder reports a batch that does not continue the store.
var ErrOutOfOrder = errors.New("batch does not continue the history")

// Order is an order that reached its final status.
type Order struct {
	bourse.Order
	// Seq and Closed are the command that ended it, and its time.
	Seq    bourse.Seq
	Closed bourse.Time
}

// Trade is a trade as the public sees it.
type Trade struct {
	Seq    bourse.Seq
	Market bourse.MarketID
	// Number counts the market's trades from one.
	Number    uint64
	Time      bourse.Time
	TakerSide bourse.Side
	Price     bourse.Price
	Lots      bourse.Lots
	// Total is in the quote asset's ledger units.
	Total bourse.Amount
}

// Fill is one account's side of a trade.
type Fill struct {
	Seq     bourse.Seq
	Account bourse.AccountID
	// Ordinal counts the account's fills from one.
	Ordinal uint64
	Order   bourse.OrderID
	Market  bourse.MarketID
	// Trade is the market's number of the trade.
	Trade uint64
	Time  bourse.Time
	Side  bourse.Side
	Role  bourse.Role
	Price bourse.Price
	Lots  bourse.Lots
	// Total is in quote units; Fee in units of the received asset, base for a buyer and
	// quote for a seller.
	Total bourse.Amount
	Fee   bourse.Amount
}

// Transfer is a posting outside of trades.
type Transfer struct {
	Seq bourse.Seq
	// Index counts the transfers of one command from zero.
	Index int
	Time  bourse.Time
	bourse.Transfer
}

// Note is an operator's note in the journal, or the outcome of an act.
type Note struct {
	Seq  bourse.Seq
	Time bourse.Time
	// Operator is the user id on the exchange's machine; NoUser for an act, whose text names
	// its operators.
	Operator uint32
	Text     string
}

// NoUser is the user id that no user has.
const NoUser = 1<<32 - 1

// Width is the width of a stored candle.
type Width bourse.Time

// The widths of the stored candles.
const (
	Minute = Width(bourse.Minute)
	Hour   = Width(bourse.Hour)
	Day    = Width(bourse.Day)
)

// Series names the stored candles of one market and width.
type Series struct {
	Market bourse.MarketID
	Width  Width
}

// Candle summarises the trades in a bucket of time; buckets without trades have none.
type Candle struct {
	// Start is the start of the bucket.
	Start                  bourse.Time
	Open, High, Low, Close bourse.Price
	// Volume is in lots, Value in quote units; either stops at the largest amount.
	Volume bourse.Amount
	Value  bourse.Amount
	// Bought and Spent are the parts of Volume and Value whose taker was the buyer.
	Bought bourse.Amount
	Spent  bourse.Amount
	// First and Last are the numbers of its first and last trade. A reader that adds younger
	// trades to a stored candle skips the trades up to Last.
	First, Last uint64
}

// Trades returns the number of the candle's trades.
func (c *Candle) Trades() uint64 {
	if c.Last == 0 {
		return 0
	}
	return c.Last - c.First + 1
}

// Add adds a trade, whose time must lie in the candle's bucket.
func (c *Candle) Add(t *Trade) {
	if c.Last == 0 {
		c.Open, c.High, c.Low, c.First = t.Price, t.Price, t.Price, t.Number
	}
	c.High, c.Low, c.Close = max(c.High, t.Price), min(c.Low, t.Price), t.Price
	c.Volume, c.Value = c.Volume.PlusOrMax(bourse.Units(uint64(t.Lots))), c.Value.PlusOrMax(t.Total)
	if t.TakerSide == bourse.Buy {
		c.Bought, c.Spent = c.Bought.PlusOrMax(bourse.Units(uint64(t.Lots))), c.Spent.PlusOrMax(t.Total)
	}
	c.Last = t.Number
}

// Join adds a later candle of the same bucket of a wider resolution. Both have trades.
func (c *Candle) Join(later *Candle) {
	c.High, c.Low, c.Close = max(c.High, later.High), min(c.Low, later.Low), later.Close
	c.Volume, c.Value = c.Volume.PlusOrMax(later.Volume), c.Value.PlusOrMax(later.Value)
	c.Bought, c.Spent = c.Bought.PlusOrMax(later.Bought), c.Spent.PlusOrMax(later.Spent)
	c.Last = later.Last
}

// Cursor is the position of a store in the journal.
type Cursor struct {
	// Seq is the last command whose rows are stored, Time its time; zero for an empty
	// store.
	Seq  bourse.Seq
	Time bourse.Time
	// Chain is the journal's hash of the frame that Seq is in: it tells the store of
	// another journal.
	Chain [32]byte
}

// Batch holds the rows of a run of commands.
type Batch struct {
	// From is the first command, To the last, which becomes the store's cursor.
	From, To bourse.Seq
	// Time is the last command's, Chain the journal's hash of its frame.
	Time      bourse.Time
	Chain     [32]byte
	Orders    []Order
	Trades    []Trade
	Fills     []Fill
	Transfers []Transfer
	Notes     []Note
	// Amendments are of orders that were open.
	Amendments []Amendment
	// Movements may hold an ordinal several times: the last one holds.
	Movements []Movement
	// Entries are the ledger entries from Post, Bulletins those of a Herald; a tail has none.
	Entries   []Entry
	Bulletins []Bulletin
}

// Rows returns how many rows the batch holds.
func (b *Batch) Rows() int {
	return len(b.Orders) + len(b.Trades) + len(b.Fills) + len(b.Transfers) + len(b.Notes) +
		len(b.Amendments) + len(b.Movements) + len(b.Entries) + len(b.Bulletins)
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	*b = Batch{
		Orders: b.Orders[:0], Trades: b.Trades[:0], Fills: b.Fills[:0],
		Transfers: b.Transfers[:0], Notes: b.Notes[:0], Movements: b.Movements[:0],
		Entries: b.Entries[:0], Amendments: b.Amendments[:0], Bulletins: b.Bulletins[:0],
	}
}

// Span is a run of ordinals, both included; it is empty if First > Last. Spans for a
// store fit 63 bits.
type Span struct{ First, Last uint64 }

// Window is a page of a list with gaps: of the rows with ordinals in the span, at most
// Limit after skipping Skip.
type Window struct {
	Span
	// Until leaves out the orders that a later command ended; it bounds no other rows.
	Until bourse.Seq
	// Oldest selects the oldest Limit rows of orders or fills in place of the newest, still
	// newest first; Skip is zero then.
	Oldest      bool
	Skip, Limit int
}

// Store keeps rows. Only one goroutine may write; reads may run beside it, and each sees
// whole batches. The rows of a successful write are there, none of a failed one.
type Store interface {
	// Cursor returns the store's position.
	Cursor(ctx context.Context) (Cursor, error)

	// Write adds a batch and moves the cursor, both or neither. Candles are folded from
	// the trades. A movement replaces the one with its ordinal. ErrOutOfOrder if b.From
	// is not the cursor plus one.
	Write(ctx context.Context, b *Batch) error

	// Orders returns an account's final orders with ordinals in the span,
	// newest (highest ordinal) first.
	Orders(ctx context.Context, account bourse.AccountID, span Span) ([]Order, error)

	// OrdersIn returns an account's final orders in a market, newest first, OrdinalsIn
	// their ordinals. Skipped rows cost an entry of an index each.
	OrdersIn(ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window) ([]Order, error)
	OrdinalsIn(ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window) ([]uint64, error)

	// OrderUpTo returns the highest ordinal of an account's final order with an id up to id
	// and accepted up to a time; zero if there is none.
	OrderUpTo(ctx context.Context, account bourse.AccountID, id bourse.OrderID, t bourse.Time) (uint64, error)

	// Order returns one final order of an account; false if there is none.
	Order(ctx context.Context, account bourse.AccountID, id bourse.OrderID) (Order, bool, error)

	// OrderNamed returns an account's latest (highest ordinal) final order with
	// this client id.
	OrderNamed(ctx context.Context, account bourse.AccountID, id bourse.ClientID) (Order, bool, error)

	// Fills returns an account's fills with ordinals in the span, newest first.
	Fills(ctx context.Context, account bourse.AccountID, span Span) ([]Fill, error)

	// FillsIn returns an account's fills in a market, newest first.
	FillsIn(ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window) ([]Fill, error)

	// FillUpTo returns the highest ordinal of an account's fills up to a time, FillBefore of
	// its fills in a market's trades with lower numbers; zero if there is none.
	FillUpTo(ctx context.Context, account bourse.AccountID, t bourse.Time) (uint64, error)
	FillBefore(ctx context.Context, account bourse.AccountID, market bourse.MarketID, trade uint64) (uint64, error)

	// FillsOf returns the fills of an account's orders, oldest (lowest ordinal) first
	// across all orders.
	FillsOf(ctx context.Context, account bourse.AccountID, orders []bourse.OrderID) ([]Fill, error)

	// Amendments returns the amendments of an account's order by commands up to last, newest
	// (highest Seq) first, at most limit.
	Amendments(
		ctx context.Context, account bourse.AccountID, order bourse.OrderID, last bourse.Seq, limit int,
	) ([]Amendment, error)

	// Trades returns a market's trades with numbers in the span, newest first.
	Trades(ctx context.Context, market bourse.MarketID, span Span) ([]Trade, error)

	// Candles returns a series' candles with starts in [from, to], oldest first, at
	// most limit.
	Candles(ctx context.Context, series Series, from, to bourse.Time, limit int) ([]Candle, error)

	// CandleBefore returns the last candle that starts before a time; false if
	// there is none.
	CandleBefore(ctx context.Context, series Series, before bourse.Time) (Candle, bool, error)

	// FirstCandle returns the first candle of a series; false if there is none.
	FirstCandle(ctx context.Context, series Series) (Candle, bool, error)

	// Transfers returns the transfers to or from an account, newest (highest Seq, then
	// Index) first, after skipping skip of them.
	Transfers(ctx context.Context, account bourse.AccountID, skip, limit int) ([]Transfer, error)

	// Movements returns an account's movements with ordinals in the span, newest
	// (highest ordinal) first.
	Movements(ctx context.Context, account bourse.AccountID, span Span) ([]Movement, error)

	// MovementsIn returns an account's movements that pass a filter, newest first.
	MovementsIn(ctx context.Context, account bourse.AccountID, filter MovementFilter, w Window) ([]Movement, error)

	// Movement returns one movement of an account; false if there is none.
	Movement(ctx context.Context, account bourse.AccountID, id bourse.WalletID) (Movement, bool, error)

	// HasMovement reports whether an account has a movement with this id.
	HasMovement(ctx context.Context, id bourse.WalletID) (bool, error)

	// Entries returns entries of an account's ledger in one asset, whatever q.Assets and
	// q.From say, newest (highest place) first.
	Entries(ctx context.Context, q *LedgerQuery, asset bourse.AssetID) ([]Entry, error)

	// Notes returns the operators' notes, newest first, after skipping skip of them.
	Notes(ctx context.Context, skip, limit int) ([]Note, error)

	// Bulletins returns the bulletins behind a place, oldest first, at most limit.
	Bulletins(ctx context.Context, after BulletinPlace, limit int) ([]Bulletin, error)

	// Close releases the store.
	Close() error
}
