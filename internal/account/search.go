package account

import (
	"context"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Search returns the accounts whose address begins with a text and whose id is above after, by
// ascending id, at most limit. An empty text selects all. An account whose row is not the journal's
// has no address.
func (s *Service) Search(ctx context.Context, begins string, after bourse.AccountID, limit int) ([]Account, error) {
	rows, err := s.Store.AccountsLike(ctx, strings.ToLower(begins), after, limit)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []Account
	for i := range rows {
		row := &rows[i]
		f := s.facts.account(row.ID)
		if f == nil {
			continue
		}
		one := Account{ID: row.ID, Frozen: f.frozen}
		if s.facts.has(row) {
			one.Email, one.Created = row.Email, row.Created
		}
		list = append(list, one)
	}
	return list, nil
}

// securing are the kinds of activities that changed how an account's holder is known.
var securing = map[string]bool{
	changedPassword: true, resetPassword: true, changedEmail: true, undidEmail: true, changedFactor: true, changedCases: true,
}

// LastSecured returns the last change of an account's password, address or factors among its newest
// activities; false if there is none.
func (s *Service) LastSecured(ctx context.Context, id bourse.AccountID) (Activity, bool, error) {
	const newest = 100
	list, err := s.Store.ActivityOf(ctx, id, 0, newest)
	if err != nil {
		return Activity{}, false, err
	}
	for i := range list {
		if securing[list[i].Kind] {
			return list[i], true, nil
		}
	}
	return Activity{}, false, nil
}
