package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// scan takes in the next block, or takes back one that left the chain. It
// reports whether it did anything.
func (w *Worker) scan(ctx context.Context, health *chain.Health) (bool, error) {
	state := w.Board.State(w.ID)
	next := w.Start
	known := state.Tip != (bourse.BlockRef{})
	if known {
		next = state.Tip.Height + 1
		if state.Part > 0 {
			next = state.Tip.Height // its other parts are missing
		}
	}
	if health.Head.Height < next {
		return w.compare(ctx, &state, health)
	}
	b, err := w.Network.Block(ctx, next)
	switch {
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
	if w.refused == [2]bourse.BlockRef{b.BlockRef, health.Head} {
		return false, fmt.Errorf("%w: block %d was refused", chain.ErrOdd, b.Height)
	}
	refused, err := w.takeIn(ctx, b, &state)
	if refused != 0 {
		w.refused = [2]bourse.BlockRef{b.BlockRef, health.Head}
		return false, fmt.Errorf("%w: block %d: %s", chain.ErrOdd, b.Height, refused)
	}
	return err == nil, err
}

// compare looks, when there is no next block, whether the last one is still the
// chain's. A node whose head lies lower is behind: that proves nothing.
func (w *Worker) compare(ctx context.Context, state *bourse.NetworkState, health *chain.Health) (bool, error) {
	if state.Tip == (bourse.BlockRef{}) || health.Head.Height != state.Tip.Height || health.Head.Hash == state.Tip.Hash {
		return false, nil
	}
	return w.rewind(ctx, state)
}

// rewind takes back the last block, if the network itself says that another one
// is at its height.
func (w *Worker) rewind(ctx context.Context, state *bourse.NetworkState) (bool, error) {
	b, err := w.Network.Block(ctx, state.Tip.Height)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		return false, nil
	case err != nil:
		return false, err
	case b.Height != state.Tip.Height || b.Hash == state.Tip.Hash:
		return false, fmt.Errorf("%w: the block above %d has another parent", chain.ErrOdd, state.Tip.Height)
	}
	if state.Halted == bourse.HaltDeepReorg {
		return false, fmt.Errorf("%w: the chain changed deeper than is remembered", chain.ErrOdd)
	}
	w.Log.Warn("a block left the chain", slog.Int("network", int(w.ID)), slog.Uint64("height", state.Tip.Height),
		slog.String("hash", w.Network.FormatHash(state.Tip.Hash)))
	reason, err := w.submit(ctx, bourse.CommandRewind, &bourse.WalletCommand{Network: w.ID, Height: state.Tip.Height - 1})
	if err == nil && reason != 0 {
		return false, fmt.Errorf("%w: taking back block %d: %s", chain.ErrOdd, state.Tip.Height, reason)
	}
	return err == nil, err
}

// takeIn makes commands of a block: one, or several parts of a large one. It
// returns why one was refused.
func (w *Worker) takeIn(ctx context.Context, b *chain.Block, state *bourse.NetworkState) (bourse.Reason, error) {
	w.Network.Watch(w.Board.Accounts())
	txs, err := w.ours(b)
	if err != nil {
		return 0, err
	}
	parts := split(txs)
	for i := state.Part; int(i) < len(parts); i++ {
		block := &bourse.Block{
			Network: w.ID, BlockRef: b.BlockRef, Parent: b.Parent, Time: max(b.Time, 0),
			ByOutput: w.Network.Shape().Outputs, Part: i, More: int(i) < len(parts)-1, Txs: parts[i],
		}
		reason, err := w.submit(ctx, bourse.CommandBlock, &bourse.WalletCommand{Block: block})
		if err != nil || reason != 0 {
			return reason, err
		}
	}
	return 0, nil
}

// ours returns what the transactions of a block do to the exchange's addresses.
func (w *Worker) ours(b *chain.Block) ([]bourse.Tx, error) {
	var list []bourse.Tx
	for i := range b.Txs {
		tx := bourse.Tx{Hash: b.Txs[i].Hash}
		if err := w.taken(&b.Txs[i], &tx); err != nil {
			return nil, err
		}
		if err := w.given(&b.Txs[i], &tx); err != nil {
			return nil, err
		}
		if len(tx.Taken)+len(tx.Outputs) > 0 {
			list = append(list, tx)
		}
	}
	return list, nil
}

// taken adds what a transaction takes from addresses of ours.
func (w *Worker) taken(from *chain.Tx, tx *bourse.Tx) error {
	for i := range from.Taken {
		t := &from.Taken[i]
		owner, ours := w.Network.Owner(t.Address, "")
		k := w.coins.byID[t.Coin]
		if !ours || k == nil {
			continue
		}
		amount, fits := k.ledger(t.Amount)
		if !fits {
			return fmt.Errorf("%w: an amount that cannot be counted", chain.ErrOdd)
		}
		tx.Taken = append(tx.Taken, bourse.Taken{Address: owner.At, Asset: k.asset.ID, Amount: amount})
		if t.Spent != (chain.Outpoint{}) {
			tx.Spent = append(tx.Spent, t.Spent)
		}
	}
	return nil
}

// given adds what a transaction gives to addresses of ours.
func (w *Worker) given(from *chain.Tx, tx *bourse.Tx) error {
	for i := range from.Given {
		g := &from.Given[i]
		owner, ours := w.Network.Owner(g.Address, g.Memo)
		k := w.coins.byID[g.Coin]
		if !ours || k == nil || g.Amount.IsZero() {
			continue
		}
		amount, fits := k.ledger(g.Amount)
		if !fits {
			return fmt.Errorf("%w: an amount that cannot be counted", chain.ErrOdd)
		}
		tx.Outputs = append(tx.Outputs, bourse.Output{
			Index: g.Index, Asset: k.asset.ID, Amount: amount, Owner: account(owner), Address: owner.At,
			Memo: g.Memo[:min(len(g.Memo), bourse.MaxMemo)],
		})
	}
	return nil
}

// account returns the account that an owner is in the ledger; zero for nobody.
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

// split divides a block's transactions into parts that fit a command; there is at
// least one part. A transaction stays whole unless it is too large alone.
func split(txs []bourse.Tx) [][]bourse.Tx {
	parts := [][]bourse.Tx{nil}
	entries := 0
	for _, tx := range txs {
		for _, piece := range pieces(tx) {
			n := size(&piece)
			if entries+n > bourse.MaxBlockEntries {
				parts, entries = append(parts, nil), 0
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], piece)
			entries += n
		}
	}
	return parts
}

func size(tx *bourse.Tx) int { return 1 + len(tx.Taken) + len(tx.Spent) + len(tx.Outputs) }

// pieces divides a transaction with very many outputs, a payout of somebody's
// that reaches hundreds of customers.
func pieces(tx bourse.Tx) []bourse.Tx {
	const most = bourse.MaxBlockEntries / 2
	var list []bourse.Tx
	for size(&tx) > bourse.MaxBlockEntries && len(tx.Outputs) > most {
		list = append(list, bourse.Tx{Hash: tx.Hash, Outputs: tx.Outputs[:most]})
		tx.Outputs = tx.Outputs[most:]
	}
	return append(list, tx)
}
