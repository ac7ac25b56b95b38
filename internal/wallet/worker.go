package wallet

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Submit carries a command to the sequencer and waits for what became of it.
type Submit func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error)

// Options are what a worker is put together from.
type Options struct {
	ID      bourse.NetworkID
	Network chain.Network
	Signer  signer.Signer
	Board   *Board
	Listed  Lister
	Submit  Submit
	// Start is the first block that is read on a chain that was never read.
	Start uint64
	Log   *slog.Logger
}

// Worker talks with one network. Step belongs to one goroutine; Health and
// Limited may be called by anybody.
type Worker struct {
	Options
	coins *coins

	mu     sync.Mutex
	health chain.Health
	// limited is how many withdrawals waited for the signer's limits at the last look
	// at all of them.
	limited int

	// resent is the block at which what waits was broadcast again.
	resent bourse.BlockRef
	// fees are what payments cost at this step.
	fees map[chain.CoinID]chain.Fees
	// bound is what the hot wallet may not pay with, found out once in a step,
	// and decoded has the transactions that it follows from.
	bound   map[chain.CoinID]bourse.Amount
	decoded map[bourse.TxHash]chain.Decoded
	// givenUp are the transactions in whose place others are to be signed, of this
	// step.
	givenUp []bourse.SignedTx
	// spent is, by coin, the least amount that the signer refused at this step because
	// of what left in an hour or a day: more than that would be refused as well.
	spent map[chain.CoinID]bourse.Amount
	// said has what was logged about transactions, by hash, and withdrawals, by
	// id: they are tried again and again.
	said map[any]string
	// refused is a block that the exchange did not take in, with the head at
	// that time: it is not offered again before something changed.
	refused [2]bourse.BlockRef
	// troubled is the last thing that went wrong and was logged.
	troubled string
}

// NewWorker returns a worker; its network does not operate before the first
// Step.
func NewWorker(o Options) *Worker {
	return &Worker{Options: o, health: chain.Health{Reason: "not asked yet"}, said: map[any]string{}}
}

// Health returns what the network's health was at the last step.
func (w *Worker) Health() chain.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.health
}

// Limited returns how many withdrawals wait because the signer's limit of an hour or a
// day is reached.
func (w *Worker) Limited() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limited
}

// Step does a piece of work: a block, or what there is to send. It reports
// whether there may be more to do at once. An error is the exchange's own:
// trouble of the network is logged and shows in Health.
func (w *Worker) Step(ctx context.Context) (more bool, err error) {
	_, terms, assets := w.Listed.Listed(w.ID)
	w.coins = newCoins(w.Network.Shape(), terms, assets)
	w.fees, w.bound, w.spent = map[chain.CoinID]chain.Fees{}, nil, map[chain.CoinID]bourse.Amount{}
	health := w.ask(ctx)
	if health.Operating {
		if more, err = w.scan(ctx, &health); err == nil && !more {
			more, err = w.send(ctx, &health)
		}
		if trouble(err) {
			health.Operating, health.Reason = false, err.Error()
			more, err = false, nil
		}
	}
	w.tell(health)
	return more, err
}

// ask asks the network for its health.
func (w *Worker) ask(ctx context.Context) chain.Health {
	h, err := w.Network.Health(ctx)
	if err != nil {
		h.Operating, h.Reason = false, err.Error()
	}
	return h
}

// trouble reports whether an error is the network's.
func trouble(err error) bool { return errors.Is(err, chain.ErrSilent) || errors.Is(err, chain.ErrOdd) }

// tell publishes the health, and logs when it changes.
func (w *Worker) tell(h chain.Health) {
	w.mu.Lock()
	w.health = h
	w.mu.Unlock()
	if h.Reason == w.troubled {
		return
	}
	w.troubled = h.Reason
	if h.Operating {
		w.Log.Info("network operates", slog.Int("network", int(w.ID)))
	} else {
		w.Log.Warn("network does not operate", slog.Int("network", int(w.ID)), slog.String("reason", h.Reason))
	}
}

// complain logs what stands against a transaction or a withdrawal, once for each
// reason.
func (w *Worker) complain(about any, what, reason string, args ...any) {
	if w.said[about] != reason {
		w.said[about] = reason
		w.Log.Error("a payment is held up", append(args,
			slog.String("what", what), slog.Int("network", int(w.ID)), slog.String("reason", reason))...)
	}
}

// feesOf asks for what payments of a coin cost, once in a step.
func (w *Worker) feesOf(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	if f, asked := w.fees[coin]; asked {
		return f, nil
	}
	f, err := w.Network.Fees(ctx, coin)
	if err == nil {
		w.fees[coin] = f
	}
	return f, err
}

// submit carries a wallet command. It returns why the exchange said no, or zero.
func (w *Worker) submit(ctx context.Context, kind bourse.CommandKind, cmd *bourse.WalletCommand) (bourse.Reason, error) {
	out, err := w.Submit(ctx, &bourse.Command{Kind: kind, Wallet: cmd})
	return out.Reason, err
}
