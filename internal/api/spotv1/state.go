package spotv1

import (
	"context"

	"github.com/bourse-exchange/bourse"
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
	return seq, succeed(func(out *wire.Writer) {
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
	return seq, succeed(func(out *wire.Writer) { s.writeFills(out, fills) }), nil
}

// OrdersState returns all open orders of an account, in one page.
func (s *Spot) OrdersState(who bourse.AccountID) (seq uint64, body []byte) {
	orders, seq := s.View.EveryOpenOrder(who)
	catalogue := s.View.Catalogue()
	return seq, succeed(func(out *wire.Writer) {
		out.Name("orders")
		out.Array()
		for i := range orders {
			writeOpenOrder(out, catalogue.Markets[orders[i].Market], &orders[i])
		}
		out.EndArray()
	})
}

// lastPage returns the span of the newest page of a list.
func lastPage(count uint64) history.Span {
	return history.Span{First: count - min(count, pageSize) + 1, Last: count}
}

// succeed returns the body of a successful answer.
func succeed(fields func(*wire.Writer)) []byte {
	out := wire.NewWriter(nil)
	out.Object()
	out.Bool("success", true)
	fields(out)
	out.EndObject()
	return out.Bytes()
}
