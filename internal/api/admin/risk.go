package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
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

// risks finds the facts about withdrawals, those of an account once.
type risks struct {
	*Server
	known map[bourse.AccountID]riskAnswer
	done  map[done]map[destination]bool
}

// done names the withdrawals of an account to a network.
type done struct {
	account bourse.AccountID
	network bourse.NetworkID
}

// destination is where a withdrawal goes.
type destination struct{ address, memo string }

func (s *Server) newRisks() *risks {
	return &risks{s, map[bourse.AccountID]riskAnswer{}, map[done]map[destination]bool{}}
}

// of returns the facts about a withdrawal.
func (r *risks) of(ctx context.Context, w *bourse.Withdrawal) (*riskAnswer, error) {
	facts, known := r.known[w.Account]
	if !known {
		var err error
		if facts, err = r.account(ctx, w.Account); err != nil {
			return nil, err
		}
		r.known[w.Account] = facts
	}
	went, err := r.destinations(ctx, done{w.Account, w.Network})
	facts.NewAddress = !went[destination{w.Address, w.Memo}]
	return &facts, err
}

// account returns the facts about an account.
func (r *risks) account(ctx context.Context, id bourse.AccountID) (facts riskAnswer, err error) {
	who, _, err := r.Accounts.ByID(ctx, id)
	if err != nil {
		return facts, err
	}
	facts.AccountCreated = who.Created.Seconds()
	changed, found, err := r.Accounts.LastSecured(ctx, id)
	if found {
		facts.Changed, facts.Change = changed.Time.Seconds(), changed.Kind
	}
	if until := r.Accounts.HeldUntil(id); until > r.View.Now() {
		facts.HeldUntil = until.Seconds()
	}
	return facts, err
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
