package spotv1

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// The functions below return the answers of endpoints for clients that resume a stream,
// each with the number of the last message of the stream that it includes.

// BookState returns all levels of a market.
func (s *Spot) BookState(market bourse.MarketID) (seq uint64, body []byte) {
	e := s.books.read(s.View, s.View.Catalogue().Markets[market], allLevels)
	return e.seq, e.whole
}

// TradesState returns a market's last trades.
func (s *Spot) TradesState(ctx context.Context, market bourse.MarketID) (seq uint64, body []byte, err error) {
	seq = s.View.LastTrade(market)
	trades, err := s.History.TradesSpan(ctx, market, lastPage(seq))
	if err != nil {
		return 0, nil, err
	}
	return seq, api.SucceedV1(func(out *wire.Writer) {
		s.writeTrades(out, s.View.Catalogue().Markets[market], trades)
	}), nil
}

// FillsState returns an account's last trades.
func (s *Spot) FillsState(ctx context.Context, who bourse.AccountID) (seq uint64, body []byte, err error) {
	_, seq = s.View.Counts(who)
	fills, err := s.History.FillsSpan(ctx, who, lastPage(seq))
	if err != nil {
		return 0, nil, err
	}
	return seq, api.SucceedV1(func(out *wire.Writer) { s.writeFills(out, fills) }), nil
}

// ordersTogether bounds the open orders that are copied while trading waits.
const ordersTogether = 256

// OrdersState returns all open orders of an account, in one page. It copies ordersTogether at a
// time: the later ones may include changes after seq.
func (s *Spot) OrdersState(who bourse.AccountID) (seq uint64, body []byte) {
	room := make([]bourse.Order, ordersTogether)
	orders, seq := s.View.OpenOrdersBelow(who, ^bourse.OrderID(0), room)
	return seq, api.SucceedV1(func(out *wire.Writer) {
		out.Name("orders")
		out.Array()
		for len(orders) > 0 {
			catalogue := s.View.Catalogue() // newer than the orders, so it has their markets
			for i := range orders {
				writeOpenOrder(out, catalogue, &orders[i])
			}
			orders, _ = s.View.OpenOrdersBelow(who, orders[len(orders)-1].ID, room)
		}
		out.EndArray()
	})
}

// lastPage returns the span of the newest page of a list.
func lastPage(count uint64) history.Span {
	return history.Span{First: count - min(count, pageSize) + 1, Last: count}
}
