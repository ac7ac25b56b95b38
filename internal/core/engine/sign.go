package engine

import "github.com/bourse-exchange/bourse"

// signed records a transaction of the exchange before it is sent. From here on its
// withdrawal cannot be canceled. A refused transaction must never be sent.
func (e *Engine) signed(asked *bourse.SignedTx, ev *bourse.Events) bourse.Reason {
	if e.network(asked.Network) == nil {
		return bourse.UnknownNetwork
	}

	n := e.custody.Network(asked.Network)
	if n.Stopped() {
		return bourse.WithdrawalsPaused
	}

	w := e.custody.Withdrawal(asked.Wallet)
	if asked.Kind == bourse.SignedWithdrawal {
		switch {
		case w == nil || w.Network != asked.Network || !w.Unsigned():
			return bourse.NotProcessing
		case e.account(w.Account).frozen:
			return bourse.AccountFrozen
		}
	}

	if asked.Kind == bourse.SignedCool && n.Cool.ID != asked.Wallet {
		return bourse.NotProcessing
	}
	if reason := n.CanSign(asked); reason != 0 {
		return reason
	}
	if asked.Kind == bourse.SignedWithdrawal && w.Signed &&
		!n.Supersedes(asked, uint64(e.terms(w.Network, w.Asset).Confirms)) {
		return bourse.InputTaken
	}

	s := *asked
	s.State, s.Reverted, s.Block, s.Time = bourse.SignedWaiting, false, bourse.BlockRef{}, e.now
	n.Sign(ev, &s)
	if asked.Kind == bourse.SignedWithdrawal {
		w.Tx, w.Signed, w.AtSigner = s.Tx, true, false
		e.custody.ChangedWithdrawal(ev, w)
		ev.Outcome.ID = uint64(w.ID)
	}
	if asked.Kind == bourse.SignedCool {
		n.Cool = bourse.CoolOrder{}
		n.Announce(ev)
		ev.Outcome.ID = uint64(s.Wallet)
	}
	return 0
}

// accepted records that a network accepted a transaction, and its withdrawals are done. The
// command may come late, or again.
func (e *Engine) accepted(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Network) == nil {
		return bourse.UnknownNetwork
	}
	s := e.custody.Network(cmd.Network).Signed(cmd.Tx)
	if s == nil || s.State == bourse.SignedDropped {
		return bourse.NotSigned
	}
	if s.State == bourse.SignedWaiting {
		s.State = bourse.SignedAccepted
		ev.AddSigned(s)
	}

	for _, w := range e.custody.PaidBy(s) {
		if w.Status == bourse.WalletProcessing && !w.Reverted {
			e.settleWithdrawal(w, ev)
		}
	}
	ev.Outcome.ID = uint64(s.Wallet)
	return 0
}

// replaceWithdrawal drops a withdrawal's transaction, so that another can be signed: an
// operator states that the first can never be mined.
func (e *Engine) replaceWithdrawal(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.ID)
	if w == nil {
		return bourse.WithdrawalNotFound
	}
	if w.Tx == (bourse.TxHash{}) {
		return bourse.NotSigned
	}
	if reason := e.giveUp(w, ev); reason != 0 {
		return reason
	}
	e.custody.ChangedWithdrawal(ev, w)
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// giveUp drops the transaction of a withdrawal, if any, unless it is mined and paid. The withdrawals that it joins need
// another one too.
func (e *Engine) giveUp(w *bourse.Withdrawal, ev *bourse.Events) bourse.Reason {
	n := e.custody.Network(w.Network)
	s := n.Signed(w.Tx)
	if s != nil && s.State != bourse.SignedMined {
		n.Drop(ev, s)
	} else if s != nil && !s.Reverted {
		return bourse.AlreadyMined
	}
	if s != nil {
		e.disjoin(s, w, ev)
	}
	w.Tx, w.Reverted = bourse.TxHash{}, false
	return 0
}

// disjoin takes a given up transaction from its withdrawals, but for one.
func (e *Engine) disjoin(s *bourse.SignedTx, from *bourse.Withdrawal, ev *bourse.Events) {
	for _, w := range e.custody.PaidBy(s) {
		if w != from {
			w.Tx, w.Reverted = bourse.TxHash{}, false
			e.custody.ChangedWithdrawal(ev, w)
			e.outdateTransaction(w.ID, ev)
		}
	}
}

// outdateTransaction marks the waiting acts about a withdrawal's transaction: a command about another withdrawal
// changed it.
func (e *Engine) outdateTransaction(id bourse.WalletID, ev *bourse.Events) {
	e.outdate(&bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}}, ev)
}

// releaseWithdrawal ends a withdrawal whose transaction can never be mined, and returns
// its money; or it drops a sweep or top-up.
func (e *Engine) releaseWithdrawal(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if cmd.ID == 0 {
		return e.releaseOther(cmd, ev)
	}

	w := e.custody.Withdrawal(cmd.ID)
	switch {
	case w == nil:
		return bourse.WithdrawalNotFound
	case !w.Signed:
		return bourse.NotSigned
	case w.Ending:
		return bourse.WithdrawalNotFound
	case w.Status == bourse.WalletDone && !e.ledger.Room(w.Asset, w.Fee):
		return bourse.Overflow
	}

	if reason := e.giveUp(w, ev); reason != 0 {
		return reason
	}
	ev.Outcome.ID = uint64(w.ID)
	if w.AtSigner {
		e.leaveToSigner(w, ev)
	} else {
		e.release(w, ev)
	}
	return 0
}

// release ends a withdrawal without a transaction, and returns its money.
func (e *Engine) release(w *bourse.Withdrawal, ev *bourse.Events) {
	if w.Status != bourse.WalletDone {
		e.giveBack(w, ev)
		return
	}

	for _, part := range [...]struct {
		from   bourse.AccountID
		amount bourse.Amount
	}{{bourse.AccountInTransit, w.Amount}, {bourse.AccountWithdrawalFees, w.Fee}} {
		if !part.amount.IsZero() {
			e.must(ev, bourse.Transfer{
				Kind: bourse.TransferRefund, From: part.from, To: w.Account, Asset: w.Asset, Amount: part.amount,
			})
		}
	}

	e.uncount(w, ev)
	w.Refunded = true
	e.custody.ChangedWithdrawal(ev, w)
	e.custody.ForgetWithdrawal(w)
}

func (e *Engine) releaseOther(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(cmd.Network)
	s := n.Signed(cmd.Tx)
	switch {
	case s == nil || s.Kind == bourse.SignedWithdrawal || s.State == bourse.SignedDropped:
		return bourse.NotSigned
	case s.State == bourse.SignedMined:
		return bourse.AlreadyMined
	}
	n.Drop(ev, s)
	return 0
}
