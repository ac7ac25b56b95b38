package spotv1

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/lock"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// pageSize is the number of rows in a page.
const pageSize = 50

// Sequencer sequences commands.
type Sequencer interface {
	// Do submits a command and waits for its outcome.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
	// DoTogether submits commands as a batch and waits for their outcomes.
	DoTogether(ctx context.Context, commands []bourse.Command) ([]sequencer.Result, error)
}

// Spot implements the interface.
type Spot struct {
	View      *view.View
	History   *history.Reader
	Sequencer Sequencer
	// PublicURL is the exchange's address for clients, without a trailing slash.
	PublicURL string
	// DefaultPair is the market that clients show first.
	DefaultPair bourse.Pair

	books books
	// walking serializes, per account, the orders that may walk the book.
	walking lock.Accounts
}

// Endpoints returns the endpoints of the interface.
func (s *Spot) Endpoints() []api.Endpoint {
	read, trade := account.ScopeRead, account.ScopeTrade
	return []api.Endpoint{
		{Path: "/markets", Fields: marketsFields, Compress: true, Answer: s.markets},
		{Path: "/markets_ex", Fields: marketsFields, Compress: true, Answer: s.marketsEx},
		{Path: "/orderbook", Fields: orderbookFields, Compress: true, Answer: s.orderbook},
		{Path: "/trades", Fields: tradesFields, Compress: true, Answer: s.trades},
		{Path: "/candlestick", Fields: candlestickFields, Compress: true, Answer: s.candlestick},
		{Path: "/config", Answer: s.config},
		{Path: "/time", Answer: s.time},
		{Path: "/limits", OptionalKey: true, Answer: s.limits},
		{Path: "/open_orders", Scope: read, Fields: openOrdersFields, Compress: true, Answer: s.openOrders},
		{Path: "/orders_history", Scope: read, Fields: pastFields, Compress: true, Answer: s.ordersHistory},
		{Path: "/trades_history", Scope: read, Fields: tradesHistoryFields, Compress: true, Answer: s.tradesHistory},
		{Path: "/order", Scope: read, Fields: orderFields, Answer: s.order},
		{Path: "/order_lists", Scope: read, Fields: orderListsFields, Answer: s.orderList},
		{Path: "/user_fees", Scope: read, Fields: userFeesFields, Answer: s.userFees},
		{
			Path: "/open_orders/new", Scope: trade, Class: api.Orders, Fields: newOrderFields, Repeatable: "client_id",
			Answer: s.newOrder,
		},
		{Path: "/open_orders/amend", Scope: trade, Class: api.Orders, Fields: amendFields, Answer: s.amend},
		{Path: "/open_orders/batch", Scope: trade, Class: api.Orders, Fields: batchFields, Answer: s.batch},
		{Path: "/open_orders/replace", Scope: trade, Class: api.Orders, Fields: replaceFields, Answer: s.replace},
		{Path: "/order_lists/new", Scope: trade, Class: api.Orders, Fields: newListFields, Answer: s.newList},
		{Path: "/order_lists/cancel", Scope: trade, Class: api.Cancels, Fields: cancelListFields, Answer: s.cancelList},
		{Path: "/open_orders/cancel", Scope: trade, Class: api.Cancels, Fields: cancelFields, Answer: s.cancel},
		{Path: "/open_orders/cancel_all", Scope: trade, Class: api.Cancels, Fields: cancelAllFields, Answer: s.cancelAll},
		{
			Path: "/open_orders/cancel_after", Scope: trade, Class: api.Cancels, Fields: cancelAfterFields,
			Answer: s.cancelAfter,
		},
	}
}

// market returns the market of a pair, or nil.
func (s *Spot) market(pair bourse.Pair) *bourse.Market { return s.View.Catalogue().Market(pair) }

// page reads the required offset of a list and its optional market.
func (s *Spot) page(c *api.Call) (skip int, filter *bourse.Market) {
	c.Require("offset")
	skip = c.Offset()
	return skip, c.OptionalPair("filter_pair", s.market)
}

// pastFields are the fields of lists of the past.
var pastFields = api.Fields{"offset", "filter_pair", "after", "from", "to"}

// past reads a query of a list of the past. count is the length of the list without
// bounds: rows of one market that are skipped cost more than others.
func (s *Spot) past(c *api.Call, count uint64) *history.ListQuery {
	skip, filter := s.page(c)
	q := &history.ListQuery{Market: id(filter), Before: c.ID("after"), Skip: skip, Limit: pageSize}
	q.From, q.To = c.Period()
	if filter != nil && c.Err() == nil {
		c.ChargeSkipped(skip, count)
	}
	return q
}
