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

// Submit sends a command to the sequencer and waits for its outcome.
type Submit func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error)

// Options configure a worker.
type Options struct {
	ID      bourse.NetworkID
	Network chain.Network
	Signer  signer.Signer
	Board   *Board
	Listed  Lister
	Submit  Submit
	// Start is the first block to read on a new chain.
	Start uint64
	// Stuck is the number of blocks after which a waiting transaction is overdue, and is outbid; zero for never.
	Stuck uint64
	// Outputs is the number of outputs that payments can spend below which the change of payments is split, at most
	// MaxOutputs; zero for never. More are made while more withdrawals wait.
	Outputs int
	// Joined bounds the withdrawals that share a transaction, but for one in the place of others, at most
	// [bourse.MaxJoined]; zero for that many.
	Joined int
	// Bands bound the hot wallet's balances of some assets.
	Bands map[bourse.AssetID]Band
	// Alone bounds the deposits of a UTC day that one node alone credits, by asset; an asset that is not there has
	// none. Nil is no bound.
	Alone map[bourse.AssetID]bourse.Amount
	// Credited finds deposits that were credited before the chain began anew. Without it those of such a chain are
	// parked.
	Credited Credited
	Log      *slog.Logger
}

// Worker connects to one network. Step belongs to one goroutine; Health, AwaitsRecord, Limited, Overdue,
// Stranded, Cooling, ColdMoves, Draft, FromCold and Purse are safe for concurrent use.
type Worker struct {
	Options
	coins *coins

	mu     sync.Mutex
	health chain.Health
	// heard is true once the journal has had all that the signer signed, and awaits from a halt until then; see
	// [Worker.unheard].
	heard, awaits bool
	// limited is the number of withdrawals that waited for the signer's limits, or for
	// approvals, at the last full pass.
	limited int
	// overdue is the number of transactions that have waited for Stuck blocks, and of sweeps and top-ups that were
	// given up without another one in their place.
	overdue int
	// stranded are the withdrawals that only an operator ends.
	stranded []bourse.WalletID
	// cooling is why the open order to cold storage waits.
	cooling string

	// seen is the network's last answer about its health, which counts for reuse more steps. It is old if this step did
	// not ask for it.
	seen  chain.Health
	reuse int
	old   bool
	// watched is the last account that the network was made to watch.
	watched uint32
	// synced is true while the journal has all that the signer signed.
	synced bool
	// apart is the signer's refusal of this exchange, until it tells its record; see [Worker.part].
	apart string
	// resent is the head at which accepted transactions were last broadcast again.
	resent bourse.BlockRef
	// waits are the transactions in no block, if Stuck is set.
	waits map[bourse.TxHash]wait
	// since are the tips at which the given up sweeps and top-ups were first seen without another one in their place.
	since map[bourse.TxHash]uint64
	// fees caches the cost of payments for this step.
	fees map[chain.CoinID]chain.Fees
	// bound is the part of the hot wallet's balance that is not available, computed once
	// a step; decoded caches the transactions behind it.
	bound   map[chain.CoinID]bourse.Amount
	decoded map[bourse.TxHash]chain.Decoded
	// givenUp are the dropped transactions that withdrawals of this step replace.
	givenUp []bourse.SignedTx
	// pinned are outputs that released transactions spend which cannot be outbid at the tip pinnedAt. The node is not
	// asked about them again before the next block.
	pinned   map[bourse.Outpoint]bool
	pinnedAt bourse.BlockRef
	// aside are outputs of released transactions that one payment cannot afford to outbid.
	aside map[bourse.Outpoint]bool
	// asked is the number of withdrawals that waited for a transaction at the begin of this step, and change the change
	// of the payments that wait for a block.
	asked  int
	change map[bourse.TxHash][]chain.Pay
	// enlarged is true if the payment has more inputs or outputs of change than it needs, dear if the signer found it
	// too costly, and plain makes payments without them.
	enlarged, dear, plain bool
	// spent is, by coin, the least amount that exceeded one of the signer's limits in this
	// step. Larger amounts would be refused as well.
	spent map[chain.CoinID]bourse.Amount
	// waiting are the withdrawals that the signer's limits refused in this pass over all of them, for want
	// of approvals too. A pass takes several steps, so that blocks are read in between.
	waiting map[bourse.WalletID]bool
	// unmade are the withdrawals of this pass that the node could not make, as for a contract that refuses them.
	unmade map[bourse.WalletID]bool
	// supplanted are the withdrawals whose given up transaction has another one in its place on the chain, with the tip
	// at which that was first seen.
	supplanted map[bourse.WalletID]uint64
	// unexcluded are the withdrawals for which the signer signs nothing, because a given up transaction of theirs is
	// not excluded.
	unexcluded map[bourse.WalletID]bool
	// refusals counts both of this step.
	refusals int
	// onChain are the nonces for which the chain waits, by address, asked once a step.
	onChain map[uint32]uint64
	// parted are the withdrawals of this pass that go alone because a joined payment of them could not be made. loners
	// could not be made alone either.
	parted, loners map[bourse.WalletID]bool
	// single is true if the next payment is of one withdrawal, because the signer did not answer about a joined one.
	single bool
	// costly is true if the signer's limit on costs refused a payment of this step.
	costly bool
	// said holds the last logged reason by transaction hash and withdrawal id, because
	// payments are retried at every step.
	said map[any]string
	// refused is the last refused block, with the head at that time: it is not submitted
	// again before the head changes.
	refused [2]bourse.BlockRef
	// deep is the tip that the journal last refused to take back, because no block below it is remembered. As long as a
	// halt lasts it is not asked again: each refusal is a command.
	deep bourse.BlockRef
	// undropped is the tip at which the journal last refused to give up an excluded transaction.
	undropped bourse.BlockRef
	// troubled is the last logged reason of not operating.
	troubled string
}

// NewWorker returns a worker. Its network does not operate before the first Step.
func NewWorker(o Options) *Worker {
	return &Worker{Options: o, health: chain.Health{Reason: "not asked yet"}, said: map[any]string{},
		waiting: map[bourse.WalletID]bool{}, unmade: map[bourse.WalletID]bool{},
		parted: map[bourse.WalletID]bool{}, loners: map[bourse.WalletID]bool{},
		unexcluded: map[bourse.WalletID]bool{}, aside: map[bourse.Outpoint]bool{}}
}

// Health returns the network's health at the last step.
func (w *Worker) Health() chain.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.health
}

// Limited returns the number of withdrawals that wait for one of the signer's limits, or for
// approvals.
func (w *Worker) Limited() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limited
}

// Overdue returns the number of transactions that wait in no block for too long, and of stranded withdrawals.
func (w *Worker) Overdue() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.overdue + len(w.stranded)
}

// Step takes in one block or sends payments. It reports whether the next step may have
// work at once. An error is the exchange's own: the network's errors are logged and show
// in Health.
func (w *Worker) Step(ctx context.Context) (more bool, err error) {
	_, terms, assets := w.Listed.Listed(w.ID)
	w.coins = newCoins(w.Network.Shape(), terms, assets)
	w.fees, w.bound, w.costly, w.onChain = map[chain.CoinID]chain.Fees{}, nil, false, map[uint32]uint64{}
	w.spent, w.refusals = map[chain.CoinID]bourse.Amount{}, 0
	if tip := w.Board.State(w.ID).Tip; tip != w.pinnedAt || w.pinned == nil {
		w.pinned, w.pinnedAt = map[bourse.Outpoint]bool{}, tip
	}
	if err := w.hear(ctx); err != nil {
		return false, err
	}
	if err := w.dropExcluded(ctx); err != nil {
		return false, err
	}
	health := w.ask(ctx)
	if w.apart != "" {
		health.Operating, health.Reason = false, w.apart
	}
	if w.misplaced() {
		health.Operating, health.Reason = false, otherCold
	}
	if w.unheard() {
		health.Operating, health.Reason = false, recordFirst
	}
	if health.Operating {
		if more, err = w.scan(ctx, &health); err == nil && !more {
			more, err = w.send(ctx, &health)
		}
		if trouble(err) {
			health.Operating, health.Reason = false, err.Error()
			more, err = false, nil
		}
	}
	if !more {
		w.reuse = 0
	}
	w.tell(health)
	return more, err
}

// ask asks the network for its health. While blocks are read that are below the last known head, it is asked once for
// some of them: each follows from the one before, and the question takes a node longer than a block.
func (w *Worker) ask(ctx context.Context) chain.Health {
	const blocks = 20
	if w.reuse > 0 && w.seen.Head.Height > w.Board.State(w.ID).Tip.Height {
		w.reuse--
		w.old = true
		return w.seen
	}
	h, err := w.Network.Health(ctx)
	if err != nil {
		h.Operating, h.Reason = false, err.Error()
	}
	w.seen, w.reuse, w.old = h, blocks, false
	return h
}

// trouble reports whether the network caused an error.
func trouble(err error) bool { return errors.Is(err, chain.ErrSilent) || errors.Is(err, chain.ErrOdd) }

// tell publishes the health and logs its changes.
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

// maxSaid bounds the reasons that are remembered, some 300 bytes each. Customers cancel withdrawals that are held up
// and make others.
const maxSaid = 10_000

// complain logs the reason why a transaction or withdrawal is held up, once for each
// reason.
func (w *Worker) complain(about any, what, reason string, args ...any) {
	if w.said[about] != reason {
		if len(w.said) >= maxSaid {
			clear(w.said)
		}
		w.said[about] = reason
		w.Log.Error("a payment is held up", append(args,
			slog.String("what", what), slog.Int("network", int(w.ID)), slog.String("reason", reason))...)
	}
}

// feesOf returns the cost of payments of a coin, queried once a step.
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

// submit submits a wallet command. It returns the reason of a refusal, or zero.
func (w *Worker) submit(
	ctx context.Context, kind bourse.CommandKind, cmd *bourse.WalletCommand,
) (bourse.Reason, error) {
	out, err := w.Submit(ctx, &bourse.Command{Kind: kind, Wallet: cmd})
	return out.Reason, err
}
