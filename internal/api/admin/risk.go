package admin

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/history"
)

// riskAnswer are facts about a withdrawal that help to decide about it.
type riskAnswer struct {
	// NewAddress is set if none of the account's last withdrawals to the network that were done went
	// to the address, with the memo: that of a custodian is the address of all its customers.
	NewAddress bool `json:"new_address"`
	// AccountCreated is zero for an account without a person.
	AccountCreated int64 `json:"account_created"`
	// Changed is the time of the last change of password, address or factors, and Change its kind;
	// absent if the account's activities have none.
	Changed int64  `json:"changed,omitzero"`
	Change  string `json:"change,omitempty"`
	// HeldUntil is the end of the account's hold of withdrawals; absent without one.
	HeldUntil int64 `json:"held_until,omitzero"`
}

// risks finds the facts about withdrawals.
type risks struct {
	*Server
	// accounts has the facts about the accounts of the withdrawals.
	accounts map[bourse.AccountID]account.Secured
	// done has the destinations of an account's last withdrawals to a network.
	done map[done]map[destination]bool
}

// done names the withdrawals of an account to a network.
type done struct {
	account bourse.AccountID
	network bourse.NetworkID
}

// destination is where a withdrawal goes.
type destination struct{ address, memo string }

// newRisks returns the risks of those of the withdrawals that wait for an approval.
func (s *Server) newRisks(ctx context.Context, list []bourse.Withdrawal) (*risks, error) {
	var ids []bourse.AccountID
	for i := range list {
		if undecided(&list[i]) {
			ids = append(ids, list[i].Account)
		}
	}
	r := &risks{Server: s, done: map[done]map[destination]bool{}}
	if len(ids) == 0 {
		return r, nil
	}

	slices.Sort(ids)
	var err error
	r.accounts, err = s.Accounts.SecuredAll(ctx, slices.Compact(ids))
	return r, err
}

// of returns the facts about a withdrawal.
func (r *risks) of(ctx context.Context, w *bourse.Withdrawal) (*riskAnswer, error) {
	went, err := r.destinations(ctx, done{w.Account, w.Network})
	if err != nil {
		return nil, err
	}
	secured := r.accounts[w.Account]
	facts := &riskAnswer{NewAddress: !went[destination{w.Address, w.Memo}], AccountCreated: secured.Created.Seconds()}
	if changed := &secured.Changed; changed.ID != 0 {
		facts.Changed, facts.Change = changed.Time.Seconds(), changed.Kind
	}
	if until := r.Accounts.HeldUntil(w.Account); until > r.View.Now() {
		facts.HeldUntil = until.Seconds()
	}
	return facts, nil
}

// destinations returns those of the last withdrawals that were done.
func (r *risks) destinations(ctx context.Context, of done) (map[destination]bool, error) {
	if list, known := r.done[of]; known {
		return list, nil
	}
	const last = 200
	filter := history.MovementFilter{
		Network: of.network, Of: history.MovementSet(0).With(history.MovementWithdrawal, bourse.WalletDone),
	}
	rows, err := r.History.WalletTransactions(ctx, of.account, filter, 0, last)
	if err != nil {
		return nil, err
	}
	list := map[destination]bool{}
	for i := range rows {
		list[destination{rows[i].Address, rows[i].Memo}] = true
	}
	r.done[of] = list
	return list, nil
}
