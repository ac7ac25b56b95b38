package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// asking notes that the signer is about to be asked for a withdrawal's transaction.
func (e *Engine) asking(id bourse.WalletID, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(id)
	switch {
	case w == nil || !w.Unsigned():
		return bourse.NotProcessing
	case e.custody.Network(w.Network).Stopped():
		return bourse.WithdrawalsPaused
	case e.account(w.Account).frozen:
		return bourse.AccountFrozen
	}
	ev.Outcome.ID = uint64(id)
	if !w.AtSigner {
		w.AtSigner = true
		e.custody.ChangedWithdrawal(ev, w)
	}
	return 0
}

// record takes over the next entry of the signer's record. Its transaction pays its
// withdrawal from here on, whatever has happened since the signer was asked: bytes that
// are signed cannot be taken back. If the state has no room for it, because its inputs are
// gone or its nonce is used, it counts as dropped, and a replacement must exclude it.
func (e *Engine) record(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	asked := cmd.Signed
	if e.network(asked.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(asked.Network)
	if !n.Follows(cmd.Record) {
		return bourse.RecordOutOfOrder
	}

	n.TakeOver(cmd.Record, cmd.Chain)
	s := *asked
	s.State, s.Reverted, s.Block, s.Time = bourse.SignedWaiting, false, bourse.BlockRef{}, e.now
	if asked.Kind == bourse.SignedWithdrawal {
		ev.Outcome.ID = uint64(asked.Wallet)
		e.recordWithdrawal(n, &s, ev)
	} else if asked.Kind == bourse.SignedCool {
		e.recordCool(n, &s, ev)
	} else if n.CanSign(&s) == 0 {
		n.Sign(ev, &s)
	} else {
		e.keep(n, &s, ev)
	}
	n.Announce(ev)
	return 0
}

func (e *Engine) recordWithdrawal(n *custody.Network, s *bourse.SignedTx, ev *bourse.Events) {
	known := n.Signed(s.Tx)
	w := e.custody.Withdrawal(s.Wallet)
	switch {
	case known != nil && known.State != bourse.SignedDropped:
		return // recorded by a build that did not follow the signer's record
	case w == nil && e.custody.Allotted(s.Wallet) && e.rules < bourse.RulesRecorded:
		return // over long ago: only such a build left its entry behind
	}

	asked, all := e.askedFor(n, s)
	usable := true
	if !all {
		e.halt(n, bourse.HaltUnknownSigned, ev)
		for id := range s.Payees {
			usable = e.custody.UseUp(id) && usable
		}
	}

	free := true
	for _, w := range asked {
		w.AtSigner, w.Ending, w.Signed, w.Approved = false, false, true, true
		if w.Status != bourse.WalletDone {
			e.custody.Undelay(w)
			w.Status = bourse.WalletProcessing
		}
		free = free && w.Tx == bourse.TxHash{}
	}

	switch {
	case !usable:
	case all && free && n.CanSign(s) == 0 && n.Supersedes(s, uint64(e.terms(n.Network, asked[0].Asset).Confirms)):
		n.Sign(ev, s)
		for _, w := range asked {
			w.Tx = s.Tx
		}
	default:
		e.keep(n, s, ev)
	}
	for _, w := range asked {
		e.custody.ChangedWithdrawal(ev, w)
	}
	for _, p := range s.Joined {
		e.outdateTransaction(p.Wallet, ev)
	}
}

// askedFor returns the withdrawals of a transaction for which the signer was asked, and whether they are all of them.
// Those of a joined one are of one asset, and it has their amounts.
func (e *Engine) askedFor(n *custody.Network, s *bourse.SignedTx) (asked []*bourse.Withdrawal, all bool) {
	all = true
	for id := range s.Payees {
		w := e.custody.Withdrawal(id)
		fits := w != nil && w.Network == n.Network && w.AtSigner &&
			(len(s.Joined) == 0 || s.Share(id) == w.Amount && (len(asked) == 0 || asked[0].Asset == w.Asset))
		if fits {
			asked = append(asked, w)
		}
		all = all && fits
	}
	return asked, all
}

// keep puts a transaction on record that must not be sent. If a block was taken in with it before the record
// told of it, it was posted as a stranger's: it pays its withdrawal from here on, or moves money between addresses
// of the exchange. A top-up that was taken for a deposit is none then, unless it is credited already: a credited one
// stays the treasury's loss. The halt stays, for an operator to look.
func (e *Engine) keep(n *custody.Network, s *bourse.SignedTx, ev *bourse.Events) {
	m := n.Keep(ev, s)
	if m == nil {
		return
	}
	if sums, fit := custody.Sums(&bourse.BlockEffect{Txs: []bourse.TxEffect{*m.TxEffect}}); !fit || !e.room(sums) {
		return
	}
	moves := s.Kind != bourse.SignedWithdrawal
	if moves && e.credited(n, m) {
		return
	}
	if e.ours(n, m, ev) {
		if moves {
			e.disown(n, m, ev)
		}
		e.unpost(m, ev)
		m.Postings = nil
		e.mineOurs(n, m, ev)
		ev.AddSigned(s)
	}
}

// credited reports whether a transaction brought a deposit that is credited.
func (e *Engine) credited(n *custody.Network, m *custody.Mined) bool {
	return slices.ContainsFunc(m.Inflows, func(o bourse.Inflow) bool {
		d := n.Deposit(m.Hash, o.Index)
		return d != nil && d.Status == bourse.WalletDone
	})
}

// disown cancels the deposits that a transaction was believed to bring. None of them is credited.
func (e *Engine) disown(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	for i := range m.Inflows {
		if d := n.Deposit(m.Hash, m.Inflows[i].Index); d != nil && d.Mined {
			e.undeposit(n, d, ev)
			d.Status, d.Done = bourse.WalletCanceled, e.now
			e.custody.ChangedDeposit(ev, d)
		}
	}
}

// leaveToSigner asks for the end of a withdrawal that is at the signer: it is pending until the
// signer has answered.
func (e *Engine) leaveToSigner(w *bourse.Withdrawal, ev *bourse.Events) {
	w.Ending = true
	if w.Status != bourse.WalletDone {
		e.custody.Undelay(w)
		w.Status = bourse.WalletPendingCancel
	}
	e.custody.ChangedWithdrawal(ev, w)
}

// voided ends a withdrawal for which the signer will sign nothing more.
func (e *Engine) voided(id bourse.WalletID, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(id)
	if w == nil || !w.Ending {
		return bourse.NotProcessing
	}
	if w.Status == bourse.WalletDone && !e.ledger.Room(w.Asset, w.Fee) {
		return bourse.Overflow
	}
	ev.Outcome.ID = uint64(id)
	w.AtSigner, w.Ending = false, false
	e.release(w, ev)
	return 0
}
