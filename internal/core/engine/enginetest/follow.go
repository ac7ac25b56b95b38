package enginetest

import (
	"fmt"
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// custodian is the oracle's state of deposits and withdrawals. It takes their statuses
// from the engine, and derives the customers' balances from the statuses alone and the
// exchange's own accounts from the transfers alone. So the two must agree.
type custodian struct {
	deposits    map[bourse.DepositID]bourse.Deposit
	withdrawals map[bourse.WalletID]bourse.Withdrawal
	// delayed maps withdrawals to the time before which they must not leave.
	delayed map[bourse.WalletID]bourse.Time
	// own maps own accounts to has minus owes, by wallet transfers.
	own map[holding]*big.Int
}

func newCustodian() custodian {
	return custodian{
		deposits: map[bourse.DepositID]bourse.Deposit{}, withdrawals: map[bourse.WalletID]bourse.Withdrawal{},
		delayed: map[bourse.WalletID]bourse.Time{},
		own:     map[holding]*big.Int{},
	}
}

// ownNet returns an own account's balance by wallet transfers. It may be negative.
func (x *Oracle) ownNet(account bourse.AccountID, asset bourse.AssetID) *big.Int {
	key := holding{account, asset}
	if x.own[key] == nil {
		x.own[key] = new(big.Int)
	}
	return x.own[key]
}

// followed reports whether the oracle takes the effects of a command from the engine.
func followed(cmd *bourse.Command) bool {
	return cmd.Wallet != nil || cmd.Kind == bourse.CommandDefineNetwork || cmd.Kind == bourse.CommandDefineNetworkAsset
}

// ofCustody reports whether a transfer belongs to a deposit or a withdrawal.
func ofCustody(t *bourse.Transfer) bool { return t.Kind >= bourse.TransferDeposit }

// Follow applies the engine's changes of deposits and withdrawals. It returns an error
// for an impossible one: a deposit credited twice, or beyond what one node alone credits, a change of a final status, a
// withdrawal of more than is held, or one that left before its time.
func (x *Oracle) Follow(at bourse.Time, ev *bourse.Events) error {
	x.now = at
	x.turnDay()
	for _, e := range ev.List {
		var err error
		switch e.Kind {
		case bourse.EventDeposit:
			err = x.followDeposit(&ev.Wallet.Deposits[e.At])
		case bourse.EventWithdrawal:
			err = x.followWithdrawal(&ev.Wallet.Withdrawals[e.At])
		case bourse.EventTransfer:
			if t := &ev.Transfers[e.At]; ofCustody(t) {
				x.followTransfer(t)
			}
		default: // moves no money
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Oracle) followDeposit(d *bourse.Deposit) error {
	was, is := x.deposits[d.Number].Status, d.Status
	if x.deposits[d.Number].OverAlone && !d.OverAlone && !d.Admitted || d.OverAlone && is == bourse.WalletDone {
		return fmt.Errorf("deposit %d is beyond what one node alone credits, and no operator admitted it", d.Number)
	}
	if was == bourse.WalletDone && is != bourse.WalletDone {
		return fmt.Errorf("deposit %d was credited and has status %d", d.Number, is)
	}
	if was != bourse.WalletDone && is == bourse.WalletDone {
		if err := x.followLimit(d); err != nil {
			return err
		}
		p := x.purse(d.Account, d.Asset)
		p.available.Add(&p.available, fromAmount(d.Amount))
	}
	x.deposits[d.Number] = *d
	return nil
}

func (x *Oracle) followWithdrawal(w *bourse.Withdrawal) error {
	was, known := x.withdrawals[w.ID]
	if err := x.followCounted(&was, w, known); err != nil {
		return err
	}
	x.withdrawals[w.ID] = *w
	if delete(x.delayed, w.ID); w.NotBefore != 0 {
		x.delayed[w.ID] = w.NotBefore
	}

	p := x.purse(w.Account, w.Asset)
	total := fromAmount(w.Amount)
	total.Add(total, fromAmount(w.Fee))
	if !known {
		p.available.Sub(&p.available, total)
		p.held.Add(&p.held, total)
		was.Status = bourse.WalletPending
	}

	final := was.Status == bourse.WalletDone || was.Status == bourse.WalletCanceled
	switch {
	case final && w.Status != was.Status:
		return fmt.Errorf("withdrawal %d had status %d and has %d", w.ID, was.Status, w.Status)
	case (w.Status == bourse.WalletDone || w.Status == bourse.WalletProcessing) && was.NotBefore > x.now &&
		!was.Signed && !was.AtSigner:
		return fmt.Errorf("withdrawal %d left before its time", w.ID)
	case !final && w.Status == bourse.WalletDone:
		p.held.Sub(&p.held, total)
	case !final && w.Status == bourse.WalletCanceled:
		p.held.Sub(&p.held, total)
		p.available.Add(&p.available, total)
	case w.Refunded && !was.Refunded:
		p.available.Add(&p.available, total)
	}

	if p.available.Sign() < 0 || p.held.Sign() < 0 {
		return fmt.Errorf("withdrawal %d is of more than there is", w.ID)
	}
	return nil
}

// due reports whether a delayed withdrawal may leave now.
func (x *Oracle) due() bool {
	for _, at := range x.delayed {
		if at <= x.now {
			return true
		}
	}
	return false
}

func (x *Oracle) followTransfer(t *bourse.Transfer) {
	if !t.From.IsCustomer() {
		from := x.ownNet(t.From, t.Asset)
		from.Sub(from, fromAmount(t.Amount))
	}
	if !t.To.IsCustomer() {
		to := x.ownNet(t.To, t.Asset)
		to.Add(to, fromAmount(t.Amount))
	}
}

// Deposits yields the deposits in their current state.
func (x *Oracle) Deposits(yield func(*bourse.Deposit) bool) { each(x.deposits, yield) }

// Withdrawals yields the withdrawals in their current state.
func (x *Oracle) Withdrawals(yield func(*bourse.Withdrawal) bool) { each(x.withdrawals, yield) }

// each yields the entries by ascending id, from one.
func each[ID ~uint64, E any](entries map[ID]E, yield func(*E) bool) {
	for id, left := ID(1), len(entries); left > 0; id++ {
		e, there := entries[id]
		if !there {
			continue
		}
		if left--; !yield(&e) {
			return
		}
	}
}
