package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// scan takes in the next block, or rewinds one that left the chain. It reports whether it
// did either.
func (w *Worker) scan(ctx context.Context, health *chain.Health) (bool, error) {
	state := w.Board.State(w.ID)
	next := w.Start
	known := state.Tip != (bourse.BlockRef{})
	if known {
		next = state.Tip.Height + 1
		if state.Part > 0 {
			next = state.Tip.Height // the remaining parts of the tip
		}
	}
	if state.Part > 0 && state.Tip.Height > w.Start {
		return w.takeBack(ctx, &state) // its parts come from one reading
	}
	if health.Head.Height < next {
		return w.compare(ctx, &state, health)
	}

	// Before the block is read: an adapter leaves out what touches none of the addresses that it knows.
	if err := w.watch(ctx); err != nil {
		return false, err
	}
	b, err := w.Network.Block(ctx, next)
	switch {
	case errors.Is(err, chain.ErrNoBlock) && w.old:
		w.reuse = 0 // the network is asked for its health before anything is signed
		return true, nil
	case errors.Is(err, chain.ErrNoBlock):
		return false, nil
	case err != nil:
		return false, err
	case b.Height != next:
		return false, fmt.Errorf("%w: block %d for %d", chain.ErrOdd, b.Height, next)
	case state.Part > 0 && b.BlockRef != state.Tip:
		return w.rewind(ctx, &state)
	case known && state.Part == 0 && b.Parent != state.Tip.Hash:
		return w.rewind(ctx, &state)
	}
	if err := w.named(b, &state); err != nil {
		return false, err
	}
	if w.refused == [2]bourse.BlockRef{b.BlockRef, health.Head} {
		return false, fmt.Errorf("%w: block %d was refused", chain.ErrOdd, b.Height)
	}

	refused, err := w.takeIn(ctx, b, &state)
	if refused != 0 {
		w.refused = [2]bourse.BlockRef{b.BlockRef, health.Head}
		return false, fmt.Errorf("%w: block %d: %s", chain.ErrOdd, b.Height, refused)
	}
	if err == nil && b.Uncalled {
		w.Log.Warn("a block could not be traced in time: what contracts paid in it is credited to nobody",
			slog.Int("network", int(w.ID)), slog.Uint64("height", b.Height), slog.String("hash", w.Network.FormatHash(b.Hash)))
	}
	return err == nil, err
}

// watch makes all accounts known to the network, some at a time: to derive a million addresses takes minutes, and a
// stop does not wait for them.
func (w *Worker) watch(ctx context.Context) error {
	const most = 4096
	for last := w.Board.Accounts(); ; {
		w.watched = min(last, w.watched+most)
		w.Network.Watch(w.watched)
		if err := ctx.Err(); err != nil || w.watched == last {
			return err
		}
	}
}

// compare rewinds if the head is another block at the tip's height. A lower head proves
// nothing: the node may be behind.
func (w *Worker) compare(ctx context.Context, state *bourse.NetworkState, health *chain.Health) (bool, error) {
	if state.Tip == (bourse.BlockRef{}) || health.Head.Height != state.Tip.Height || health.Head.Hash == state.Tip.Hash {
		return false, nil
	}
	return w.rewind(ctx, state)
}

// rewind takes the tip back if the network's block at its height is another one. The network is asked for its health
// first: its node may be of another chain by now.
func (w *Worker) rewind(ctx context.Context, state *bourse.NetworkState) (bool, error) {
	if w.old {
		w.reuse = 0
		return true, nil
	}
	b, err := w.Network.Block(ctx, state.Tip.Height)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		return false, nil
	case err != nil:
		return false, err
	case b.Height != state.Tip.Height || b.Hash == state.Tip.Hash:
		return false, fmt.Errorf("%w: the block above %d has another parent", chain.ErrOdd, state.Tip.Height)
	}
	if state.Halted == bourse.HaltDeepReorg || state.Halted != 0 && w.deep == state.Tip {
		return false, w.tooDeep(state)
	}

	w.Log.Warn("a block left the chain", slog.Int("network", int(w.ID)), slog.Uint64("height", state.Tip.Height),
		slog.String("hash", w.Network.FormatHash(state.Tip.Hash)))
	return w.takeBack(ctx, state)
}

// takeBack takes the tip back. One of which only some parts were taken in is read anew: a node that could trace it then,
// and cannot now, divides it into other parts, and deposits between two parts would be lost or come twice. The first block
// of all cannot be taken back.
func (w *Worker) takeBack(ctx context.Context, state *bourse.NetworkState) (bool, error) {
	reason, err := w.submit(ctx, bourse.CommandRewind,
		&bourse.WalletCommand{Network: w.ID, Height: state.Tip.Height - 1})
	switch {
	case err == nil && reason == bourse.RewindTooDeep:
		w.deep = state.Tip
		return false, w.tooDeep(state)
	case err == nil && reason != 0:
		return false, fmt.Errorf("%w: taking back block %d: %s", chain.ErrOdd, state.Tip.Height, reason)
	}
	return err == nil, err
}

// tooDeep is the trouble of a network whose oldest remembered block left the chain.
func (w *Worker) tooDeep(state *bourse.NetworkState) error {
	return fmt.Errorf("%w: the chain changed deeper than is remembered: its block %d is not %s, below which no "+
		"block is remembered; connect nodes whose chain has that block or, if nobody has it any more, have operators follow the "+
		"chain (network follow)", chain.ErrOdd, state.Tip.Height, w.Network.FormatHash(state.Tip.Hash))
}

// takeIn submits a block in one or several parts. It returns the reason of a refusal, or
// zero.
func (w *Worker) takeIn(ctx context.Context, b *chain.Block, state *bourse.NetworkState) (bourse.Reason, error) {
	parts := split(w.ours(b))
	if err := w.disclaim(ctx, parts, b, state); err != nil {
		return 0, err
	}
	if !counts(b, state) {
		w.believe(parts[min(int(state.Part), len(parts)):]) // the journal has counted those below
	}
	for i := state.Part; int(i) < len(parts); i++ {
		block := &bourse.BlockEffect{
			Network: w.ID, BlockRef: b.BlockRef, Parent: b.Parent, Time: max(b.Time, 0),
			ByOutput: w.Network.Shape().Outputs, Part: i, More: int(i) < len(parts)-1, Txs: w.knownCold(parts[i]),
		}
		reason, err := w.submit(ctx, bourse.CommandBlock, &bourse.WalletCommand{Block: block})
		if err != nil || reason != 0 {
			return reason, err
		}
	}
	return 0, nil
}

// ours returns the effects of a block's transactions on the exchange's addresses. An amount beyond the
// ledger's bound is left out, and stays on its address: a token's contract may log any amount, and a block
// that is refused is never passed.
func (w *Worker) ours(b *chain.Block) (list []bourse.TxEffect) {
	for i := range b.Txs {
		tx := bourse.TxEffect{Hash: b.Txs[i].Hash}
		w.taken(&b.Txs[i], &tx)
		w.given(&b.Txs[i], &tx)
		if len(tx.Outflows)+len(tx.Inflows) > 0 {
			list = append(list, tx)
		}
	}
	return list
}

// taken adds a transaction's outflows from own addresses.
func (w *Worker) taken(from *chain.Tx, tx *bourse.TxEffect) {
	for i := range from.Debits {
		t := &from.Debits[i]
		owner, ours := w.Network.Owner(t.Address, "")
		k := w.coins.byID[t.Coin]
		if !ours || k == nil {
			continue
		}
		amount, fits := k.ledger(t.Amount)
		if !fits {
			continue
		}
		tx.Outflows = append(tx.Outflows, bourse.Outflow{Address: owner.At, Asset: k.asset.ID, Amount: amount})
		if t.Spent != (chain.Outpoint{}) {
			tx.Spent = append(tx.Spent, t.Spent)
		}
	}
}

// given adds a transaction's inflows to own addresses.
func (w *Worker) given(from *chain.Tx, tx *bourse.TxEffect) {
	for i := range from.Credits {
		g := &from.Credits[i]
		owner, ours := w.Network.Owner(g.Address, g.Memo)
		k := w.coins.byID[g.Coin]
		if !ours || k == nil || g.Amount.IsZero() {
			continue
		}
		amount, fits := k.ledger(g.Amount)
		if !fits {
			continue
		}
		in := bourse.Inflow{
			Index: g.Index, Asset: k.asset.ID, Amount: amount, Owner: account(owner), Address: owner.At,
			Memo: g.Memo[:min(len(g.Memo), bourse.MemoBound(w.Board.Rules()))],
		}
		if !w.Network.Shape().Outputs {
			in.Index = w.Board.Index(w.ID, from.Hash, &in)
		}
		tx.Inflows = append(tx.Inflows, in)
	}
}

// account returns an owner's account; zero for none.
func account(o chain.Owner) bourse.AccountID {
	switch o.Kind {
	case chain.OwnerCustomer:
		return bourse.AccountID(o.Index)
	case chain.OwnerTreasury:
		return bourse.AccountTreasury
	case chain.OwnerNobody:
	}
	return 0
}

// split divides a block's transactions into parts that fit a command, at least one. Only
// a transaction too large for a part is divided.
func split(txs []bourse.TxEffect) [][]bourse.TxEffect {
	parts := [][]bourse.TxEffect{nil}
	entries := 0
	for _, tx := range txs {
		for _, piece := range pieces(tx) {
			n := piece.Entries()
			if entries+n > bourse.MaxBlockEntries {
				parts, entries = append(parts, nil), 0
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], piece)
			entries += n
		}
	}
	return parts
}

// pieces divides a transaction with too many inflows, such as another exchange's payout
// to hundreds of customers.
func pieces(tx bourse.TxEffect) []bourse.TxEffect {
	const most = (bourse.MaxBlockEntries - 1) / 2 // with long memos each counts twice
	var list []bourse.TxEffect
	for tx.Entries() > bourse.MaxBlockEntries && len(tx.Inflows) > most {
		list = append(list, bourse.TxEffect{Hash: tx.Hash, Inflows: tx.Inflows[:most]})
		tx.Inflows = tx.Inflows[most:]
	}
	return append(list, tx)
}
