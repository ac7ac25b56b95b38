package account

import (
	"context"
	"errors"
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

// Secured has the times since which an account, and its protection, are as they are.
type Secured struct {
	// Created is zero for an account without a person, and for one whose row is not the journal's.
	Created bourse.Time
	// Changed is the last change of password, address or factors. Its ID is zero if the account's
	// activities have none.
	Changed Activity
}

// SecuredAll returns the facts about accounts, by their ids. An account without facts is absent.
func (s *Service) SecuredAll(ctx context.Context, ids []bourse.AccountID) (map[bourse.AccountID]Secured, error) {
	rows, err := s.Store.AccountsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := map[bourse.AccountID]Secured{}
	for i := range rows {
		row, err := s.journaled(ctx, rows[i])
		if errors.Is(err, ErrNone) || errors.Is(err, ErrForged) {
			continue
		} else if err != nil {
			return nil, err
		}
		all[row.ID] = Secured{Created: row.Created}
	}

	changes, err := s.Store.LastActivities(
		ctx, ids, changedPassword, resetPassword, changedEmail, undidEmail, changedFactor, changedCases)
	for i := range changes {
		one := all[changes[i].Account]
		one.Changed = changes[i]
		all[changes[i].Account] = one
	}
	return all, err
}
