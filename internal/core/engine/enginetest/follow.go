package enginetest

import (
	"fmt"
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// custodian is what the oracle knows of deposits and withdrawals. What becomes
// of them is the engine's word; what that does to balances is worked out here,
// from the statuses alone, and what it does to the exchange's own accounts from
// the transfers alone. So the two must meet.
type custodian struct {
	deposits    map[bourse.DepositID]bourse.Deposit
	withdrawals map[bourse.WalletID]bourse.Withdrawal
	// own is what own accounts have less what they owe, by wallet transfers.
	own map[holding]*big.Int
}

func newCustodian() custodian {
	return custodian{
		deposits: map[bourse.DepositID]bourse.Deposit{}, withdrawals: map[bourse.WalletID]bourse.Withdrawal{},
		own: map[holding]*big.Int{},
	}
}

// ownNet returns an own account's balance by wallet transfers, which may be below
// zero.
func (x *Oracle) ownNet(account bourse.AccountID, asset bourse.AssetID) *big.Int {
	key := holding{account, asset}
	if x.own[key] == nil {
		x.own[key] = new(big.Int)
	}
	return x.own[key]
}

// followed reports whether the oracle takes the engine's word for what a command
// brings about.
func followed(cmd *bourse.Command) bool {
	return cmd.Wallet != nil || cmd.Kind == bourse.CommandDefineNetwork || cmd.Kind == bourse.CommandDefineNetworkAsset
}

// Follow takes in what became of deposits and withdrawals. It returns what must
// not be: a deposit that is credited twice, a way out of a final status, a
// withdrawal of more than there is.
func (x *Oracle) Follow(ev *bourse.Events) error {
	for _, e := range ev.List {
		var err error
		switch e.Kind {
		case bourse.EventDeposit:
			err = x.followDeposit(&ev.Wallet.Deposits[e.At])
		case bourse.EventWithdrawal:
			err = x.followWithdrawal(&ev.Wallet.Withdrawals[e.At])
		case bourse.EventTransfer:
			x.followTransfer(&ev.Transfers[e.At])
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
	if was == bourse.WalletDone && is != bourse.WalletDone {
		return fmt.Errorf("deposit %d was credited and has status %d", d.Number, is)
	}
	if was != bourse.WalletDone && is == bourse.WalletDone {
		p := x.purse(d.Account, d.Asset)
		p.available.Add(&p.available, fromAmount(d.Amount))
	}
	x.deposits[d.Number] = *d
	return nil
}

func (x *Oracle) followWithdrawal(w *bourse.Withdrawal) error {
	was, known := x.withdrawals[w.ID]
	x.withdrawals[w.ID] = *w
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

// Deposits yields what came in, as it is now.
func (x *Oracle) Deposits(yield func(*bourse.Deposit) bool) { each(x.deposits, yield) }

// Withdrawals yields what went out or is to, as it is now.
func (x *Oracle) Withdrawals(yield func(*bourse.Withdrawal) bool) { each(x.withdrawals, yield) }

// each yields the entries whose ids count from one.
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
