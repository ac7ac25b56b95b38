package wallet

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// payees are the withdrawals that a transaction pays, by ascending id, or its order to cold storage; none for sweeps
// and top-ups.
type payees []bourse.WalletID

func payeesOf(s *bourse.SignedTx) payees { return slices.Collect(s.Payees) }

// first names the transaction in logs; zero if it pays no withdrawal.
func (p payees) first() bourse.WalletID {
	if len(p) == 0 {
		return 0
	}
	return p[0]
}

// of reports whether a transaction is for one of them.
func (p payees) of(s *bourse.SignedTx) bool { return slices.ContainsFunc(p, s.Pays) }

// payer is whose withdrawal a transaction pays.
type payer struct {
	account bourse.AccountID
	tx      bourse.TxHash
}

// leave marks withdrawals that this pass leaves alone.
func (w *Worker) leave(marked map[bourse.WalletID]bool, to payees) {
	for _, id := range to {
		marked[id] = true
	}
}

// joins reports whether the withdrawals of a coin share transactions: those of the native coin of a network of outputs,
// once the exchange has the rules for it.
func (w *Worker) joins(k *coin) bool {
	shape := w.Network.Shape()
	return shape.Outputs && k != nil && k.ID == shape.Native && w.Board.Rules() >= bourse.RulesJoined
}

// transactions returns how many transactions a number of withdrawals take at least.
func (w *Worker) transactions(withdrawals int) int {
	if !w.joins(w.coins.native) {
		return withdrawals
	}
	return (withdrawals + w.most() - 1) / w.most()
}

// most returns how many withdrawals share a transaction at most.
func (w *Worker) most() int { return cmp.Or(w.Joined, bourse.MaxJoined) }

// room returns the most that one transaction of the native coin can spend now.
func (w *Worker) room() (room bourse.Amount) {
	if !w.joins(w.coins.native) {
		return room
	}
	free := slices.DeleteFunc(w.spendable(), func(in chain.Input) bool { return in.Coin != w.coins.native.ID })
	slices.SortFunc(free, chain.LargestFirst)
	for _, in := range free[:min(len(free), chain.MaxInputs)] {
		room = room.PlusOrMax(in.Amount)
	}
	return room
}

// payWith signs and broadcasts the first of unsigned withdrawals, with as many others as a transaction takes. It
// reports whether it paid any; otherwise they wait.
func (w *Worker) payWith(ctx context.Context, unsigned []bourse.Withdrawal, room bourse.Amount) (bool, error) {
	group := w.group(unsigned, room)
	for len(group) > 1 {
		p, to := w.joined(group)
		done, err := w.payTo(ctx, p, to)
		if !done && (!w.synced || w.costly) && len(w.instead(to...)) > 0 {
			w.leave(w.unmade, to) // as a whole: a smaller one might pass, and leave some behind
		}
		if done || err != nil || !w.synced || w.costly || w.refusals >= maxRefusals {
			return done, err
		}

		before := len(group)
		if group = slices.DeleteFunc(group, w.left); len(group) < before {
			continue
		}
		switch {
		case len(w.instead(to...)) > 0: // a replacement has all outputs of a joined one, so there is no second one
			w.leave(w.unmade, to)
			return false, nil
		case w.parted[to.first()]:
			group = group[:1]
		default:
			group = group[:len(group)/2]
		}
	}
	if len(group) == 0 {
		return false, nil
	}
	return w.pay(ctx, &group[0])
}

// forget unmarks the withdrawals that do not wait any more.
func forget(marked map[bourse.WalletID]bool, unsigned []bourse.Withdrawal) {
	for id := range marked {
		if !slices.ContainsFunc(unsigned, func(wd bourse.Withdrawal) bool { return wd.ID == id }) {
			delete(marked, id)
		}
	}
}

// left reports whether this pass leaves a withdrawal alone.
func (w *Worker) left(wd bourse.Withdrawal) bool { return w.waiting[wd.ID] || w.unmade[wd.ID] }

// group returns the withdrawals that the first unsigned one shares a transaction with, by ascending id. In the place of
// dropped transactions that is every one that they pay and that has no other, so that one replacement excludes them
// all.
func (w *Worker) group(unsigned []bourse.Withdrawal, room bourse.Amount) []bourse.Withdrawal {
	first := unsigned[0]
	if !w.joins(w.coins.byAsset[first.Asset]) {
		return unsigned[:1:1]
	}

	kin, instead := payees{first.ID}, len(w.instead(first.ID))
	if _, fits := w.fits(&first, first.Asset, room); instead == 0 && (w.single || !fits) {
		w.single = false
		return unsigned[:1:1] // before the others are looked at: each of many may not fit
	}
	for n := 0; instead > 0 && n < len(kin); n++ {
		for _, s := range w.instead(kin[n]) {
			for id := range s.Payees {
				if !slices.Contains(kin, id) {
					kin = append(kin, id)
				}
			}
		}
	}

	most := w.most()
	if instead > 0 {
		most = bourse.MaxJoined
	}
	var group []bourse.Withdrawal
	for _, wd := range unsigned {
		if w.left(wd) || len(group) == most {
			continue
		}
		fits := slices.Contains(kin, wd.ID)
		if instead == 0 {
			room, fits = w.fits(&wd, first.Asset, room)
		}
		if fits {
			group = append(group, wd)
		}
	}
	slices.SortFunc(group, func(p, q bourse.Withdrawal) int { return cmp.Compare(p.ID, q.ID) })
	return group
}

// fits reports whether a withdrawal may share a transaction that has room for more, and returns the room behind it. One
// to an address of the exchange could not be told from change, and goes alone.
func (w *Worker) fits(wd *bourse.Withdrawal, asset bourse.AssetID, room bourse.Amount) (bourse.Amount, bool) {
	amount, exact := w.coins.native.units(wd.Amount)
	left, enough := room.Sub(amount)
	alone := w.parted[wd.ID] || w.loners[wd.ID] || w.unexcluded[wd.ID]
	if !enough || !exact || alone || wd.Asset != asset || wd.Memo != "" || w.beyond(wd) || len(w.instead(wd.ID)) > 0 {
		return room, false
	}
	if _, ours := w.Network.Owner(wd.Address, wd.Memo); ours {
		return room, false
	}
	return left, true
}

// joined returns the payment of withdrawals, and their ids.
func (w *Worker) joined(group []bourse.Withdrawal) (*chain.Payment, payees) {
	k := w.coins.native
	var to payees
	var pays []chain.Pay
	for i := range group {
		amount, _ := k.units(group[i].Amount) // exact
		to = append(to, group[i].ID)
		pays = append(pays, chain.Pay{To: chain.Destination{Address: group[i].Address}, Coin: k.ID, Amount: amount})
	}
	return &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: k.ID, Amount: pays[0].Amount, To: pays[0].To, With: pays[1:], From: chain.IndexHot,
	}, to
}

// signJoined has a payment of several withdrawals signed; nil if the signer refuses. One that it refuses because of a
// withdrawal is left out of this pass. If it does not answer, one payment goes alone: it may be of a build that knows
// no joined ones.
func (w *Worker) signJoined(ctx context.Context, u chain.Unsigned, e *signer.Expect) *signer.Signed {
	signed, err := w.Signer.Sign(ctx, u, *e)
	if err == nil && signed.Record == e.Known+1 {
		return &signed
	}
	if err == nil {
		w.synced = false
		return nil
	}

	id := e.ID
	part := new(signer.PartError)
	isPart := errors.As(err, &part)
	if w.enlarged && !isPart && tooCostly(err) {
		w.dear = true
		return nil
	}
	w.refusals++
	switch {
	case errors.Is(err, signer.ErrCosts):
		w.costly = true
	case isPart:
		id = part.ID
		w.leavePart(e, part)
	case tooCostly(err) && len(w.instead(e.ID)) == 0:
		return nil // fewer are tried, at each pass: the log would have each of them each time
	}
	w.single = !refused(err) && !errors.Is(err, signer.ErrBehind)
	w.synced = w.synced && refused(err)
	w.complain(id, "the signer refuses", err.Error(),
		slog.String("kind", e.Kind.String()), slog.Uint64("xid", uint64(id)), slog.Int("joined", 1+len(e.With)))
	return nil
}

// leavePart leaves the withdrawal because of which the signer refuses a joined transaction out of this pass. If it is
// beyond a limit, so are those behind it that are as large, because the signer adds amounts up in their order. One
// before it may pass.
func (w *Worker) leavePart(e *signer.Expect, part *signer.PartError) {
	if errors.Is(part, signer.ErrRival) {
		w.leave(w.unexcluded, payees{part.ID})
	}
	if !errors.Is(part, signer.ErrLimit) {
		w.leave(w.unmade, payees{part.ID})
		return
	}
	w.leave(w.waiting, payees{part.ID})
	if !errors.Is(part, signer.ErrSpent) {
		return
	}

	all := append([]signer.Part{{ID: e.ID, Amount: e.Amount}}, e.With...)
	at := slices.IndexFunc(all, func(p signer.Part) bool { return p.ID == part.ID })
	if at < 0 {
		return
	}
	for _, p := range all[at+1:] {
		if !p.Amount.Less(all[at].Amount) {
			w.leave(w.waiting, payees{p.ID})
		}
	}
	if at == 0 { // no other amount was added to it
		w.spent[e.Coin] = e.Amount
	}
}

// PaysFrozen reports whether a signed withdrawal of a transaction is that of a frozen account, for which nothing more
// is signed, or none has it.
func (b *Board) PaysFrozen(s *bourse.SignedTx) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	known := false
	for id := range s.Payees {
		p := b.payers[id]
		if p.tx != s.Tx {
			continue
		}
		if known = true; b.frozen[p.account] {
			return true
		}
	}
	return !known
}

// payee returns the first withdrawal whose transaction is s; zero if there is none.
func (b *Board) payee(s *bourse.SignedTx) bourse.WalletID {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for id := range s.Payees {
		if b.payers[id].tx == s.Tx {
			return id
		}
	}
	return 0
}

// outrun reports whether a transaction that waits for a block, or is in one, excludes a dropped one.
func (b *Board) outrun(s *bourse.SignedTx) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, other := range b.networks[s.Network].signed {
		if other.Tx != s.Tx && len(other.Inputs) > 0 && other.Rivals(s) {
			return true
		}
	}
	return false
}
