package node

import (
	"context"
	"log/slog"
	"time"
)

// remoteStore is a database on a server.
type remoteStore struct {
	name string
	// ask makes a small query; answered is called when it succeeds.
	ask      func(context.Context) error
	answered func()
	away     bool
}

// pollStores polls the databases on servers, and confirms rows of accounts that the
// journal decided about. It has a goroutine of its own, because a server may hang.
func (n *Node) pollStores(ctx context.Context) error {
	return every(ctx, time.Second, func() {
		for _, s := range n.remote {
			n.poll(ctx, s)
		}
		if err := n.accounts.Confirm(ctx); err != nil && ctx.Err() == nil {
			n.Log.Error("the store of accounts lags behind the journal", slog.Any("error", err))
		}
	})
}

// poll queries a database, and logs when it goes away and when it is back.
func (n *Node) poll(ctx context.Context, s *remoteStore) {
	asked, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := s.ask(asked)
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		s.answered()
		if s.away {
			n.Log.Info("a database is back", slog.String("store", s.name))
		}
	case !s.away:
		n.Log.Error("a database is away; trading goes on", slog.String("store", s.name), slog.Any("error", err))
	}
	s.away = err != nil
}
