package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// streamState returns the state of a stream for a client that resumes it: the answer of its
// REST endpoint.
func (n *Node) streamState(ctx context.Context, t feed.Topic) (s stream.State, err error) {
	switch t.Kind {
	case feed.Book, feed.PacedBook:
		s.Seq, s.Body = n.spot.BookState(t.Market)
	case feed.Trades:
		s.Seq, s.Body, err = n.spot.TradesState(ctx, t.Market)
	case feed.OwnOrders:
		s.Seq, s.Body = n.spot.OrdersState(t.Account)
	case feed.OwnTrades:
		s.Seq, s.Body, err = n.spot.FillsState(ctx, t.Account)
	case feed.OwnBalances:
		s.Seq, s.Body = n.wallet.BalancesState(t.Account)
	case feed.OwnTransfers:
		s.Seq, s.Body, err = n.wallet.TransfersState(ctx, t.Account)
	default:
		bourse.Impossible("topic of kind %d has no state of its own", t.Kind)
	}
	return s, err
}

// rowPatience bounds the time for a transfer's row: rows of other accounts' transfers wait for
// it.
const rowPatience = time.Second

// transferRow writes a row of the list of transactions for a stream.
func (n *Node) transferRow(w *wire.Writer, m *history.Movement) error {
	ctx, cancel := context.WithTimeout(context.Background(), rowPatience)
	defer cancel()
	err := n.wallet.Row(ctx, w, m)
	if err != nil {
		n.Log.Error("the row of a transfer cannot be made, so its stream is reset", slog.Any("error", err))
	}
	return err
}
