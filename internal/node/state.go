package node

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// streamState returns the state of a stream for a client that resumes it: what its REST
// endpoint would answer.
func (n *Node) streamState(ctx context.Context, t feed.Topic) (s stream.State, err error) {
	switch t.Kind {
	case feed.Book:
		s.Seq, s.Body = n.spot.BookState(t.Market)
	case feed.Trades:
		s.Seq, s.Body, err = n.spot.TradesState(ctx, t.Market)
	case feed.OwnOrders:
		s.Seq, s.Body = n.spot.OrdersState(t.Account)
	case feed.OwnTrades:
		s.Seq, s.Body, err = n.spot.FillsState(ctx, t.Account)
	default:
		bourse.Impossible("topic of kind %d has no state of its own", t.Kind)
	}
	return s, err
}
