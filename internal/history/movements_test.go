package history_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// chain is a network of accounts that carries the first asset, and what the
// exchange does there.
type chain struct {
	blocks []bourse.BlockRef
	made   uint64
	// txs are all deposits there ever were; mined says in which block each is.
	txs   []bourse.TxEffect
	mined []uint64
	// nonce is the next one; signed are the transactions of the exchange.
	nonce  uint64
	signed []bourse.TxHash
}

// hash returns a name that nothing else has.
func (c *chain) hash() bourse.TxHash {
	c.made++
	return bourse.TxHash{1, byte(c.made), byte(c.made >> 8), byte(c.made >> 16)}
}

func chainOpening() []bourse.Command {
	return []bourse.Command{
		{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{Symbol: "NET", Name: "network", Enabled: true}},
		{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &bourse.NetworkAsset{
			Asset: 1, Network: 1, Precision: 12, Confirms: 2, MinDeposit: bourse.Units(2), FeeMax: bourse.Units(100), Enabled: true,
		}},
	}
}

// walletCommand makes up a command of the wallet; some are refused.
func (r *rig) walletCommand(account bourse.AccountID) bourse.Command {
	c := bourse.Command{Account: account, Wallet: &bourse.WalletCommand{Network: 1}}
	w := c.Wallet
	some := bourse.WalletID(1 + r.all.lastMovement - min(r.all.lastMovement, r.rng.Uint64N(25)))
	switch n := r.rng.IntN(20); {
	case n < 6:
		c.Kind = bourse.CommandWithdraw
		w.Withdraw = &bourse.Withdraw{
			Network: 1, Asset: 1, Amount: bourse.Units(1 + r.rng.Uint64N(9)), Fee: bourse.Units(r.rng.Uint64N(9)), Address: "outside",
		}
		if r.rng.IntN(3) == 0 {
			w.Withdraw.Internal = bourse.AccountID(1 + r.rng.IntN(accounts))
		}
	case n < 7 && r.rng.IntN(2) == 0:
		return bourse.Command{Kind: bourse.CommandSecureAccount, Account: account, Hold: bourse.Time(r.rng.IntN(10)) * bourse.Second}
	case n < 7:
		c.Kind, w.Withdraw = bourse.CommandTransfer, &bourse.Withdraw{
			Asset: 1, Amount: bourse.Units(1 + r.rng.Uint64N(9)), Internal: bourse.AccountID(1 + r.rng.IntN(accounts)),
			Message: bourse.Token{byte(some)},
		}
	case n < 8:
		c.Kind, w.ID = bourse.CommandCancelWithdrawal, some
		for _, m := range r.all.movements {
			if m.ID == some {
				c.Account = m.Account
			}
		}
	case n < 12:
		c.Kind = bourse.CommandBlock
		w.Block = r.block(account)
	case n < 13 && len(r.chain.blocks) > 1:
		r.chain.rewind()
		c.Kind, w.Height = bourse.CommandRewind, r.chain.blocks[len(r.chain.blocks)-1].Height
	case n < 16:
		c.Kind, w.Signed = bourse.CommandSigned, &bourse.SignedTx{
			Network: 1, Kind: bourse.SignedWithdrawal, Wallet: some, Tx: r.chain.hash(), Raw: []byte{1}, Nonce: r.chain.nonce,
		}
	case n < 18 && len(r.chain.signed) > 0:
		c.Kind, w.Tx = bourse.CommandAccepted, r.chain.signed[max(0, len(r.chain.signed)-1-r.rng.IntN(4))]
	case r.rng.IntN(2) == 0:
		c.Kind, w.ID = bourse.CommandReleaseWithdrawal, some
		w.Network = 0
	default:
		c.Kind, c.On = bourse.CommandPauseWithdrawals, r.rng.IntN(4) == 0
	}
	return c
}

// block puts a block on the chain: with new deposits, and with some that left it.
func (r *rig) block(account bourse.AccountID) *bourse.BlockEffect {
	c := &r.chain
	b := &bourse.BlockEffect{Network: 1, BlockRef: bourse.BlockRef{Height: 1, Hash: c.hash()}}
	if last := len(c.blocks) - 1; last >= 0 {
		b.Height, b.Parent = c.blocks[last].Height+1, c.blocks[last].Hash
	}
	c.blocks = append(c.blocks, b.BlockRef)
	if r.rng.IntN(2) == 0 {
		c.txs = append(c.txs, bourse.TxEffect{Hash: c.hash(), Inflows: []bourse.Inflow{
			{Asset: 1, Amount: bourse.Units(1 + r.rng.Uint64N(9)), Owner: account, Address: uint32(account)},
		}})
		c.mined = append(c.mined, 0)
	}
	for i := range c.txs {
		if c.mined[i] == 0 && (i == len(c.txs)-1 || r.rng.IntN(4) == 0) {
			b.Txs, c.mined[i] = append(b.Txs, c.txs[i]), b.Height
		}
	}
	return b
}

// rewind takes the last block from the chain.
func (c *chain) rewind() {
	gone := c.blocks[len(c.blocks)-1].Height
	c.blocks = c.blocks[:len(c.blocks)-1]
	for i := range c.mined {
		if c.mined[i] == gone {
			c.mined[i] = 0
		}
	}
}

// move keeps what an event says of a movement, and what the engine signed.
func (n *naive) move(cmd *bourse.Command, e bourse.Event, ev *bourse.Events) {
	var m history.Movement
	if e.Kind == bourse.EventDeposit {
		d := &ev.Wallet.Deposits[e.At]
		m = history.Movement{
			Account: d.Account, Ordinal: d.Ordinal, ID: d.ID, Kind: history.MovementDeposit, Network: d.Network,
			Asset: d.Asset, Amount: d.Amount, Status: d.Status, Memo: d.Memo, Tx: d.Tx, Mined: d.Mined,
			Height: d.Block.Height, Target: d.Target, Other: d.From, Created: d.Created, Done: d.Done,
		}
		if d.From != 0 && d.Network == 0 {
			m.Kind, m.Party, m.Message = history.MovementTransferIn, d.By, d.Message
		}
	} else {
		w := &ev.Wallet.Withdrawals[e.At]
		m = history.Movement{
			Account: w.Account, Ordinal: w.Ordinal, ID: w.ID, Kind: history.MovementWithdrawal, Network: w.Network,
			Asset: w.Asset, Amount: w.Amount, Fee: w.Fee, Status: w.Status, Address: w.Address, Memo: w.Memo, Tx: w.Tx,
			Other: w.Deposit, Refunded: w.Refunded, Created: w.Created, Done: w.Done,
		}
		if w.Network == 0 {
			m.Kind, m.Party, m.Message = history.MovementTransferOut, w.Internal, w.Message
		}
	}
	if m.Status == bourse.WalletDone || m.Kind != history.MovementDeposit && m.Status == bourse.WalletCanceled {
		m.Seq = cmd.Seq
	}
	n.lastMovement = max(n.lastMovement, uint64(m.ID))
	at := slices.IndexFunc(n.movements, func(o history.Movement) bool { return o.ID == m.ID })
	if at < 0 {
		n.movements = append(n.movements, m)
	} else {
		n.movements[at] = m
	}
}

func (r *rig) checkMovements(t *testing.T, account bourse.AccountID, skip, limit int) bool {
	t.Helper()
	var filter history.MovementFilter
	if r.rng.IntN(2) == 0 {
		filter = history.MovementFilter{
			Asset: bourse.AssetID(r.rng.IntN(2)), Network: bourse.NetworkID(r.rng.IntN(2)), Of: r.someOf(),
		}
		if r.rng.IntN(2) == 0 {
			filter.From, filter.To = r.past(), r.past()
		}
		if r.rng.IntN(2) == 0 {
			filter.Before = bourse.WalletID(1 + r.rng.Uint64N(r.all.lastMovement+2))
		}
	}
	list, err := r.reader.WalletTransactions(context.Background(), account, filter, skip, limit)
	if r.busy(t, err) {
		return false
	}
	id := bourse.WalletID(1 + r.rng.Uint64N(r.all.lastMovement+2))
	m, found, err := r.reader.WalletTransaction(context.Background(), account, id)
	if r.busy(t, err) {
		return false
	}
	one := page(r.all.movements, 0, 1, func(m history.Movement) bool { return m.Account == account && m.ID == id })
	if found != (len(one) == 1) || found && m != one[0] {
		t.Fatalf("movement %d of account %d: %+v %v, want %+v", id, account, m, found, one)
	}
	if all := r.all.movements; len(all) > 0 && !r.checkCredited(t, account, all[r.rng.IntN(len(all))].Tx) {
		return false
	}
	about := fmt.Sprintf("movements %+v of account %d, skip %d, limit %d", filter, account, skip, limit)
	sameRows(t, about, list, page(r.all.movements, skip, limit, func(m history.Movement) bool {
		return m.Account == account && filter.Passes(&m)
	}), equal)
	return true
}

// checkCredited asks whether a transaction brought an account a deposit that was credited.
func (r *rig) checkCredited(t *testing.T, account bourse.AccountID, tx bourse.TxHash) bool {
	t.Helper()
	list, err := r.reader.Credited(context.Background(), account, 1, 1, map[bourse.TxHash]bool{tx: true})
	if r.busy(t, err) {
		return false
	}
	got := list[tx]
	want := slices.ContainsFunc(r.all.movements, func(m history.Movement) bool {
		return m.Account == account && m.Tx == tx && m.Kind == history.MovementDeposit && m.Status == bourse.WalletDone &&
			m.Network == 1
	})
	if got != want {
		t.Fatalf("%x of account %d was credited: %t, want %t", tx, account, got, want)
	}
	return true
}

// someOf returns a set of kinds and statuses: all, or a few.
func (r *rig) someOf() (s history.MovementSet) {
	if r.rng.IntN(3) == 0 {
		return 0
	}
	for range 1 + r.rng.IntN(3) {
		s = s.With(history.MovementKind(1+r.rng.IntN(4)), bourse.WalletStatus(1+r.rng.IntN(5)))
	}
	return s
}

// readMovements reads an account's movements: none is missing, and what is over
// stays over.
func (w *watcher) readMovements(account bourse.AccountID) {
	ctx := context.Background()
	count := w.r.view.Movements(account)
	skip := w.rng.IntN(int(min(count, 20)) + 1)
	list, err := w.r.reader.WalletTransactions(ctx, account, history.MovementFilter{}, skip, 40)
	if w.failed("movements", err) {
		return
	}
	ordinals := make([]uint64, len(list))
	for i := range list {
		ordinals[i] = list[i].Ordinal
		w.learnMovement(&list[i])
	}
	if len(list) > 0 {
		id := list[w.rng.IntN(len(list))].ID
		m, found, err := w.r.reader.WalletTransaction(ctx, account, id)
		if !w.failed("movement", err) && !found {
			w.t.Errorf("movement %d is gone", id)
		} else if found {
			w.learnMovement(&m)
		}
	}
	w.dense(fmt.Sprint("movements of account ", account), ordinals, count, skip)
	filter := history.MovementFilter{Of: history.MovementSet(0).With(history.MovementWithdrawal, bourse.WalletDone)}
	list, err = w.r.reader.WalletTransactions(ctx, account, filter, 0, 200)
	if w.failed("withdrawals that are done", err) {
		return
	}
	done := map[bourse.WalletID]bool{}
	for i := range list {
		done[list[i].ID] = true
		w.learnMovement(&list[i])
		if !filter.Passes(&list[i]) || i > 0 && list[i].Ordinal >= list[i-1].Ordinal {
			w.t.Errorf("movement %+v at %d", list[i], i)
		}
	}
	for id, m := range w.moved {
		if m.Account == account && filter.Passes(&m) && !done[id] && len(list) < 200 {
			w.t.Errorf("withdrawal %d was done and is not listed", id)
		}
	}
}

// learnMovement holds a movement against what was seen of it before.
func (w *watcher) learnMovement(m *history.Movement) {
	was := w.moved[m.ID]
	if was.Seq > m.Seq || was.Seq > 0 && was.Status != m.Status || was.Ordinal != m.Ordinal && was.ID != 0 {
		w.t.Errorf("movement %+v was %+v", *m, was)
	}
	w.moved[m.ID] = *m
}
