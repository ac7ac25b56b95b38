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

// LastSecured returns the last change of an account's password, address or factors; false if its
// activities have none.
func (s *Service) LastSecured(ctx context.Context, id bourse.AccountID) (Activity, bool, error) {
	return s.Store.LastActivity(
		ctx, id, changedPassword, resetPassword, changedEmail, undidEmail, changedFactor, changedCases)
}
