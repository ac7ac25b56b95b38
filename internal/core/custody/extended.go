package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// extended reports whether an open withdrawal has what the plain form of the state
// cannot say beside it.
func extended(w *bourse.Withdrawal) bool {
	return w.NotBefore != 0 || w.Once.Given() || w.Message != bourse.Token{}
}

// Extended reports whether the state needs the extended form.
func (c *Custody) Extended() bool {
	for _, w := range c.withdrawals {
		if w.Transfer() || extended(w) {
			return true
		}
	}
	return len(c.keyed.byName) > 0
}

// WriteExtended writes what the extended form adds behind what Write wrote.
func (c *Custody) WriteExtended(w *state.Writer) {
	var list []*bourse.Withdrawal
	for _, d := range sorted(c.withdrawals) {
		if extended(d) {
			list = append(list, d)
		}
	}
	w.Uint64(uint64(len(list)))
	for _, d := range list {
		w.Uint64(uint64(d.ID))
		w.Uint64(uint64(d.NotBefore))
		w.Bytes(d.Once.Key[:])
		w.Bytes(d.Once.Body[:])
		w.Bytes(d.Message[:])
	}
	c.keyed.write(w, func(r *request[bourse.RequestHash, bourse.RequestHash]) {
		w.Bytes(r.name[:])
		w.Bytes(r.asked[:])
	})
}

// readExtended restores what WriteExtended wrote.
func (x *reader) readExtended() {
	last := bourse.WalletID(0)
	for n := x.r.Count(64); n > 0 && x.r.Err() == nil; n-- {
		id, before := bourse.WalletID(x.r.Uint64()), bourse.Time(x.r.Uint64())
		var once bourse.Once
		var message bourse.Token
		x.r.Bytes(once.Key[:])
		x.r.Bytes(once.Body[:])
		x.r.Bytes(message[:])
		w := x.withdrawals[id]
		if !x.want(id > last && w != nil && w.Open()) {
			return
		}
		last = id
		w.NotBefore, w.Once, w.Message = before, once, message
		cmd := bourse.Command{Kind: kindOf(&w.Withdraw), Account: w.Account, Wallet: &bourse.WalletCommand{Withdraw: &w.Withdraw}}
		x.want(cmd.Check() == nil && before <= maxTime && (before == 0 || w.Status == bourse.WalletPending) && extended(w))
		x.delay(w)
		x.sort(w)
	}
	readRequests(x, &x.keyed, 53, func(r *request[bourse.RequestHash, bourse.RequestHash]) bool {
		x.r.Bytes(r.name[:])
		x.r.Bytes(r.asked[:])
		return r.account.IsCustomer() && r.account <= x.in.Accounts
	}, func(r *request[bourse.RequestHash, bourse.RequestHash], w *bourse.Withdrawal) bool {
		return w.Once == bourse.Once{Key: r.name, Body: r.asked}
	})
}

// kindOf returns the kind of the command that asks for a withdrawal.
func kindOf(w *bourse.Withdraw) bourse.CommandKind {
	if w.Transfer() {
		return bourse.CommandTransfer
	}
	return bourse.CommandWithdraw
}
