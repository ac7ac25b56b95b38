package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

const (
	// handOverWithin bounds the time for which HandOver waits. A leader whose heir does not answer goes on after 400 ms.
	handOverWithin = time.Second
	// transferAttempts is the number of attempts to find a node that can take over, one every two heartbeats.
	transferAttempts = 10
)

// errNoHandOver means that the chosen node did not lead within handOverWithin.
var errNoHandOver = errors.New("no other node has begun to lead")

// Transfer asks for another leader, and returns its number: the one that is given, or for zero that of the voter
// that lacks the fewest entries. From then on this node takes no commands, until the other one leads or an election's
// time has passed. Commands taken before are committed and answered.
func (n *Node) Transfer(ctx context.Context, number uint64) (to uint64, err error) {
	id := uint64(0)
	if number != 0 {
		m := n.Config().Newest(number)
		if m == nil {
			return 0, fmt.Errorf("the cluster has no node %d", number)
		}
		id = m.Node
	}

	for range transferAttempts {
		err = n.Log.reach(func(l *raftlog.Log) error {
			to, err = l.Transfer(id)
			return err
		})
		if !errors.Is(err, raftlog.ErrNoHeir) {
			break
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-n.after(4 * TickEvery):
		}
	}
	switch {
	case errors.Is(err, journal.ErrNotLeader):
		return 0, ErrNotLeader
	case err != nil && number != 0:
		return 0, fmt.Errorf("node %d cannot lead: %w", number, err)
	case err != nil:
		return 0, fmt.Errorf("no other node can lead: %w", err)
	default:
		return Number(to), nil
	}
}

// HandOver lets another node lead, and returns once it does: a leader that ends leaves no time without one. The caller
// keeps receiving the log's notices meanwhile.
func (n *Node) HandOver(ctx context.Context) error {
	if _, err := n.Transfer(ctx, 0); err != nil {
		return err
	}
	select {
	case <-n.Log.Deposed():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.after(handOverWithin):
		return errNoHandOver
	}
}
