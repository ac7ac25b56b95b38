package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
)

// OrderType is the type of an order.
type OrderType string

// The types of orders.
const (
	LimitOrder            OrderType = "LIMIT"
	MarketOrder           OrderType = "MARKET"
	StopLimitOrder        OrderType = "STOP_LIMIT"
	StopMarketOrder       OrderType = "STOP_MARKET"
	TakeProfitLimitOrder  OrderType = "TAKE_PROFIT_LIMIT"
	TakeProfitMarketOrder OrderType = "TAKE_PROFIT_MARKET"
)

// TimeInForce says how long an order stands.
type TimeInForce string

// The times in force.
const (
	GTC TimeInForce = "GTC"
	FOK TimeInForce = "FOK"
	IOC TimeInForce = "IOC"
)

// Status is the status of an order. Only [Client.OrderByClientID] returns Rejected.
type Status string

// The statuses of orders.
const (
	Open     Status = "OPEN"
	Filled   Status = "FILLED"
	Canceled Status = "CANCELED"
	Killed   Status = "KILLED"
	Rejected Status = "REJECTED"
)

// Role is an order's part in a trade.
type Role string

// The roles.
const (
	Maker Role = "MAKER"
	Taker Role = "TAKER"
)

// RespType selects when a new order is answered.
type RespType string

// The types of responses.
const (
	// RespNone answers once the order is on disk. A rejection is no error then.
	RespNone RespType = "NONE"
	// RespACK answers once the order is accepted or rejected.
	RespACK RespType = "ACK"
	// RespResult answers once all effects of the order are done, with its status then.
	RespResult RespType = "RESULT"
)

// SelfTrade selects the outcome for two orders of one account that meet.
type SelfTrade string

// The modes. An order without one has its market's mode.
const (
	SelfTradeAllow  SelfTrade = "none"
	CancelNewest    SelfTrade = "cancel_newest"
	CancelOldest    SelfTrade = "cancel_oldest"
	CancelBothSides SelfTrade = "cancel_both"
	Decrement       SelfTrade = "decrement"
)

// NewOrder is an order to be placed. Fields that its type does not take stay empty.
type NewOrder struct {
	Pair        string
	Side        Side
	Type        OrderType
	TimeInForce TimeInForce
	// Price is the limit, in the quote asset.
	Price Decimal
	// Amount is in the base asset, Total in the quote asset.
	Amount Decimal
	Total  Decimal
	// Stop is the price that triggers a STOP_LIMIT order.
	Stop Decimal
	// RespType is RespResult if it is empty.
	RespType RespType
	// ClientID is the client's own name for the order, of 1 to 36 characters of
	// A-Z a-z 0-9 . _ : -. A request that comes again with the same name and the same fields
	// is answered with the first outcome and places nothing.
	ClientID  string
	PostOnly  bool
	SelfTrade SelfTrade
}

func (o *NewOrder) fields() fields {
	f := fields{
		"pair": o.Pair, "side": o.Side, "type": o.Type, "time_in_force": o.TimeInForce,
		"resp_type": cmp.Or(o.RespType, RespResult),
	}
	if o.PostOnly {
		f["post_only"] = true
	}
	return f.text("price", string(o.Price)).text("amount", string(o.Amount)).text("total", string(o.Total)).
		text("stop", string(o.Stop)).text("client_id", o.ClientID).text("stp", string(o.SelfTrade))
}

// Placed is the answer to a new order. It is zero for RespNone.
type Placed struct {
	OrderID uint64 `json:"obid"`
	// Status is Open for RespACK, even if the order has ended since.
	Status Status `json:"status"`
	// Filled is the traded amount, in the base asset; empty for RespACK.
	Filled Decimal `json:"filled"`
	// ClientID is set for an order of a list.
	ClientID string `json:"client_id"`
}

// Place sends an order once. After ErrOutcomeUnknown the order may exist:
// [Client.OrderByClientID] tells, or the same request again, if it has a ClientID.
func (c *Client) Place(ctx context.Context, o *NewOrder) (Placed, error) {
	return change[Placed](ctx, c, "/spot/open_orders/new", o.fields())
}

// PlaceOnce places an order exactly once: it repeats the request until an answer comes, however
// often the connection breaks, or the context ends. It gives an order without a ClientID a random
// one, in o. The exchange keeps the id of an order for a day after the order's end.
func (c *Client) PlaceOnce(ctx context.Context, o *NewOrder) (Placed, error) {
	o.ClientID = nameOf(o.ClientID)
	return once(ctx, func() (Placed, error) { return c.Place(ctx, o) })
}

// nameOf returns a client id, or a random one for an empty one.
func nameOf(id string) string {
	if id == "" {
		return rand.Text()
	}
	return id
}

// mostPause bounds the pauses between two attempts.
const mostPause = 5 * time.Second

// once repeats a request with a client id until its outcome is known. The outcome of the first
// attempt stays unknown if the edge refuses a later one.
func once[A any](ctx context.Context, request func() (A, error)) (A, error) {
	var unknown error // of the first attempt that may have been carried out
	for wait := leastPause; ; wait = min(2*wait, mostPause) {
		answer, err := request()
		switch {
		case errors.Is(err, ErrOutcomeUnknown):
			if unknown == nil {
				unknown = err
			}
		case errors.As(err, new(*unsentError)), unknown != nil && passes(err):
		case unknown != nil && isOfEdge(err):
			return answer, fmt.Errorf("%w: %w", unknown, err)
		default:
			return answer, err
		}

		if pause(ctx, wait) != nil {
			if unknown != nil {
				err = unknown
			}
			return answer, err
		}
	}
}

// Amendment changes an open order. What stays empty keeps the order's value. Amount counts what
// the order has filled.
type Amendment struct {
	Price  Decimal
	Amount Decimal
}

func (a Amendment) of(order fields) fields {
	return order.text("price", string(a.Price)).text("amount", string(a.Amount))
}

// Amend changes an open order that names a price in one step, or leaves it as it is. Less amount keeps the order's
// place; more amount or another price loses it, and the order may trade at once. After
// ErrOutcomeUnknown the same request may be sent again: it changes nothing twice.
func (c *Client) Amend(ctx context.Context, orderID uint64, a Amendment) (Placed, error) {
	return change[Placed](ctx, c, "/spot/open_orders/amend", a.of(fields{"obid": orderID}))
}

// AmendByClientID changes the open order with a client id.
func (c *Client) AmendByClientID(ctx context.Context, clientID string, a Amendment) (Placed, error) {
	return change[Placed](ctx, c, "/spot/open_orders/amend", a.of(fields{"client_id": clientID}))
}

// Replaced is what became of a replacement.
type Replaced struct {
	// Canceled is nil if the cancel was made, and the exchange's refusal if it was not.
	Canceled error
	// Rejected is nil if the order was accepted, which Placed then tells.
	Rejected error
	Placed   Placed
}

// part is the answer of a part of a request.
type part struct {
	Success     bool
	Error, Code string
}

func (p *part) refusal(path string) error {
	if p.Success {
		return nil
	}
	return &Error{Path: path, Status: http.StatusOK, Code: p.Code, Message: p.Error}
}

// Replace cancels an order and places another one, in one step. If the cancel is refused, the
// order is placed with anyway alone; otherwise the refusal is the error. After ErrOutcomeUnknown
// the same request may be sent again if the order has a ClientID.
func (c *Client) Replace(ctx context.Context, orderID uint64, o *NewOrder, anyway bool) (Replaced, error) {
	mode := "stop_on_failure"
	if anyway {
		mode = "allow_failure"
	}
	const path = "/spot/open_orders/replace"
	a, err := change[struct {
		Cancel part
		Order  struct {
			part
			Placed
		}
	}](ctx, c, path, fields{"cancel": fields{"obid": orderID}, "order": o.fields(), "mode": mode})
	if err != nil {
		return Replaced{}, err
	}
	return Replaced{a.Cancel.refusal(path), a.Order.refusal(path), a.Order.Placed}, nil
}

// BatchRequest is a part of a batch: an order to place, or one to cancel by its id or its client
// id.
type BatchRequest struct {
	Place          *NewOrder
	Cancel         uint64
	CancelClientID string
}

func (r *BatchRequest) fields() fields {
	switch {
	case r.Place != nil:
		return fields{"place": r.Place.fields()}
	case r.CancelClientID != "":
		return fields{"cancel": fields{"client_id": r.CancelClientID}}
	}
	return fields{"cancel": fields{"obid": r.Cancel}}
}

// BatchResult is what became of a part of a batch.
type BatchResult struct {
	// Err is nil if the part was carried out, and the exchange's refusal if it was not.
	Err error
	// Placed is the order of a part that placed one.
	Placed Placed
}

// Batch places and cancels up to 50 orders in one step, in their order. The error is that of the
// whole; each part has its own. After ErrOutcomeUnknown the same request may be sent again if each
// order has a ClientID.
func (c *Client) Batch(ctx context.Context, requests []BatchRequest) ([]BatchResult, error) {
	list := make([]fields, len(requests))
	for i := range requests {
		list[i] = requests[i].fields()
	}
	const path = "/spot/open_orders/batch"
	a, err := change[struct {
		Results []struct {
			part
			Placed
		}
	}](ctx, c, path, fields{"requests": list})
	if err != nil {
		return nil, err
	}

	results := make([]BatchResult, len(a.Results))
	for i := range a.Results {
		results[i] = BatchResult{a.Results[i].refusal(path), a.Results[i].Placed}
	}
	return results, nil
}

// Cancel cancels an order. The error is ErrOrderNotFound if the order is unknown or done.
func (c *Client) Cancel(ctx context.Context, orderID uint64) error {
	_, err := change[nothing](ctx, c, "/spot/open_orders/cancel", fields{"obid": orderID})
	return err
}

// CancelByClientID cancels the open order with a client id. The error is ErrOrderNotFound if
// there is none.
func (c *Client) CancelByClientID(ctx context.Context, clientID string) error {
	_, err := change[nothing](ctx, c, "/spot/open_orders/cancel", fields{"client_id": clientID})
	return err
}

// CancelAll cancels the open orders of a market, or all if pair is empty, and returns their ids.
func (c *Client) CancelAll(ctx context.Context, pair string) ([]uint64, error) {
	a, err := change[struct{ Obids []uint64 }](ctx, c, "/spot/open_orders/cancel_all", fields{}.text("filter_pair", pair))
	return a.Obids, err
}

// CancelAfter arms a switch that cancels the open orders of a market, or all if pair is empty,
// once d has passed, rounded up to seconds. Each call sets the switch anew and returns its time;
// zero disarms it.
func (c *Client) CancelAfter(ctx context.Context, pair string, d time.Duration) (Time, error) {
	f := fields{"seconds": int64((d + time.Second - 1) / time.Second)}.text("pair", pair)
	a, err := change[struct{ Expires Time }](ctx, c, "/spot/open_orders/cancel_after", f)
	return a.Expires, err
}

// Order is an order of the account at the time of the answer.
type Order struct {
	OrderID     uint64      `json:"obid"`
	ClientID    string      `json:"client_id"`
	Pair        string      `json:"pair"`
	Base        string      `json:"base"`
	Quote       string      `json:"quote"`
	Time        Time        `json:"time"`
	Side        Side        `json:"side"`
	Type        OrderType   `json:"type"`
	TimeInForce TimeInForce `json:"time_in_force"`
	Price       Decimal     `json:"price"`
	// Cap is the worst price that an order which buys an amount behind a stop pays, if its type
	// names no price.
	Cap    Decimal `json:"cap"`
	Amount Decimal `json:"amount"`
	Total  Decimal `json:"total"`
	Stop   Decimal `json:"stop"`
	// Filled is the traded amount, in the base asset; empty while a stop waits.
	Filled Decimal `json:"filled"`
	// Prevented is what self-trade prevention took, in the base asset; empty for nothing.
	Prevented Decimal `json:"prevented"`
	// PricePrecision is the market's number of decimals of prices.
	PricePrecision uint8 `json:"quote_prec"`
	// ListID is the list of the order; zero for none.
	ListID uint64 `json:"list_id"`
	// Status is empty in the list of open orders.
	Status Status `json:"status"`
	// Reason is the code of a rejection, such as INSUF_FUNDS.
	Reason string `json:"reason"`
	// Trades are the order's fills, oldest first; empty in the list of open orders.
	Trades []Fill `json:"trades"`
	// Amendments are the last 50, newest first, of Client.Order and Client.OrderByClientID.
	Amendments []Amended `json:"amendments"`
}

// Amended is an amendment that was made: the new terms of an order, and the old ones.
type Amended struct {
	Time      Time    `json:"time"`
	Price     Decimal `json:"price"`
	Amount    Decimal `json:"amount"`
	OldPrice  Decimal `json:"old_price"`
	OldAmount Decimal `json:"old_amount"`
	// AmendmentID rises from one amendment to the next.
	AmendmentID uint64 `json:"amendment_id"`
}

// Fill is the account's side of a trade, from [Client.Fills], an [Order] or the stream MyTrades.
type Fill struct {
	// TradeID is the market's number of the trade. Both sides have it: pair, TradeID and Role
	// together name a fill.
	TradeID uint64 `json:"trade_id"`
	OrderID uint64 `json:"obid"`
	// Pair and Side are empty in the trades of an order.
	Pair string `json:"pair"`
	Side Side   `json:"side"`
	Time Time   `json:"time"`
	// Price and Total are in the quote asset, Amount is in the base asset.
	Price  Decimal `json:"price"`
	Amount Decimal `json:"amount"`
	Total  Decimal `json:"total"`
	// Fee is in the asset received: base for a buy, quote for a sale.
	Fee  Decimal `json:"fee"`
	Role Role    `json:"role"`
}

// Past selects orders or fills. The zero Past selects all.
type Past struct {
	Pair string
	// From and To bound the times of rows, in whole seconds, both included.
	From, To time.Time
}

func (p *Past) fields() fields {
	return fields{"offset": 0}.text("filter_pair", p.Pair).seconds("from", p.From).seconds("to", p.To)
}

// OpenOrders lists the open orders of a market, or all if pair is empty, newest first. An order
// that ends while later pages are read may hide another: follow MyOrders for a list that stays
// whole.
func (c *Client) OpenOrders(ctx context.Context, pair string) iter.Seq2[Order, error] {
	f := fields{}.text("filter_pair", pair)
	return pages(func(offset int) ([]Order, error) {
		f["offset"] = offset
		a, err := read[struct{ Orders []Order }](ctx, c, "/spot/open_orders", f)
		return a.Orders, err
	})
}

// Orders lists the account's orders, open ones included, newest first.
func (c *Client) Orders(ctx context.Context, which Past) iter.Seq2[Order, error] {
	return begun(func() iter.Seq2[Order, error] {
		f, last := which.fields(), uint64(0)
		list := pages(func(int) ([]Order, error) {
			a, err := read[struct{ Orders []Order }](ctx, c, "/spot/orders_history", f.number("after", last))
			return a.Orders, err
		})
		return filtered(list, func(o *Order) bool {
			last = o.OrderID
			return true
		})
	})
}

// Fills lists the account's fills, newest first, without those made while it is read. With a pair,
// far pages cost less.
func (c *Client) Fills(ctx context.Context, which Past) iter.Seq2[Fill, error] {
	return begun(func() iter.Seq2[Fill, error] {
		f, last := which.fields(), map[string]*reached{}
		list := pages(func(offset int) ([]Fill, error) {
			if at := last[which.Pair]; at != nil {
				f["after"], f["after_obid"] = at.trade, at.order
			} else {
				f["offset"] = offset
			}
			a, err := read[struct{ Trades []Fill }](ctx, c, "/spot/trades_history", f)
			return a.Trades, err
		})
		return filtered(list, func(row *Fill) bool {
			if last[row.Pair] == nil {
				last[row.Pair] = &reached{trade: ^uint64(0)}
			}
			return last[row.Pair].pass(row)
		})
	})
}

// reached is the position of a list of fills in one market.
type reached struct {
	// trade and order name the last fill listed: both fills of a trade may be the account's.
	trade uint64
	order uint64
	// roles has the roles of the trade's listed fills, one behind the other.
	roles string
}

// pass reports whether a fill comes behind the listed ones, and advances to it.
func (r *reached) pass(row *Fill) bool {
	if row.TradeID < r.trade {
		r.trade, r.order, r.roles = row.TradeID, row.OrderID, string(row.Role)
		return true
	}
	if row.TradeID > r.trade || strings.Contains(r.roles, string(row.Role)) {
		return false
	}
	r.order = row.OrderID
	r.roles += string(row.Role)
	return true
}

// Order returns an order of the account.
func (c *Client) Order(ctx context.Context, orderID uint64) (Order, error) {
	a, err := read[struct{ Order Order }](ctx, c, "/spot/order", fields{"obid": orderID})
	return a.Order, err
}

// Amendments returns the next 50 amendments of an order behind an AmendmentID, newest first.
func (c *Client) Amendments(ctx context.Context, orderID, after uint64) ([]Amended, error) {
	a, err := read[struct{ Order Order }](ctx, c, "/spot/order", fields{"obid": orderID, "after_amendment": after})
	return a.Order.Amendments, err
}

// OrderByClientID returns the latest order with a client id. A rejected order has the status
// Rejected and a Reason.
func (c *Client) OrderByClientID(ctx context.Context, clientID string) (Order, error) {
	a, err := read[struct{ Order Order }](ctx, c, "/spot/order", fields{"client_id": clientID})
	return a.Order, err
}

// Fees are an account's fees in a market.
type Fees struct {
	// Level is the account's fee level.
	Level int `json:"level"`
	// Maker and Taker are in percent of the amount received.
	Maker Decimal `json:"maker_fee"`
	Taker Decimal `json:"taker_fee"`
}

// Fees returns the account's fees in a market, or in the default one if pair is empty.
func (c *Client) Fees(ctx context.Context, pair string) (Fees, error) {
	return read[Fees](ctx, c, "/spot/user_fees", fields{}.text("pair", pair))
}
