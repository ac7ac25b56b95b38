package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// stop stops the parts in the reverse order of their start: the intake closes, commands
// taken before get their answers, another node of a cluster takes the lead, the follower writes its rows,
// and the journal is sealed. why is the cause of the end.
func (n *Node) stop(ctx context.Context, why error, stopTraders func(), servers ...stoppable) error {
	n.Log.Info("stopping")
	n.ready.Store(false)
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()

	n.refuse(sequencer.Orders, stopping, errStopping)
	n.refuse(sequencer.Cancels, stopping, errStopping)
	stopTraders()
	if err := n.settle(ctx); err != nil {
		return err
	}

	n.handOver(ctx, why)
	n.drainNodes(ctx)
	n.streams.Close(ctx)
	n.botStreams.Close()
	for _, s := range servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // clients that did not end in time
		}
	}
	n.stopLine()
	n.running.Wait()

	if err := n.follower.Finish(ctx); err != nil {
		n.Log.Warn("history is behind; it catches up at the next start", slog.Any("error", err))
	}
	if err := n.log.Close(); err != nil {
		return fmt.Errorf("sealing the journal: %w", err)
	}

	n.stopHeads(ctx)
	n.Log.Info("stopped", slog.Uint64("last_seq", uint64(n.sequencer.Applied())))
	return nil
}

// settle waits until every command taken has its outcome.
func (n *Node) settle(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !n.sequencer.Idle() {
		select {
		case err := <-n.failed:
			return err
		case <-ctx.Done():
			return errors.New("stopping took too long; the journal has everything that was acknowledged")
		case <-tick.C:
		}
	}
	return nil
}
