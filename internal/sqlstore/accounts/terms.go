package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// AcceptTerms stores that an account accepted a version of the terms, the first time alone.
func (s *Store) AcceptTerms(ctx context.Context, a *account.Acceptance) error {
	const insert = `INSERT INTO accepted_terms (account, version, time, address) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account, version) DO NOTHING`
	return s.exec(ctx, insert, int64(a.Account), a.Version, int64(a.Time), a.Address)
}

// AcceptedTerms passes every account that accepted a version to yield.
func (s *Store) AcceptedTerms(ctx context.Context, version string, yield func(*account.Acceptance) error) error {
	const of = `SELECT account, version, time, address FROM accepted_terms WHERE version = $1`
	return s.each(ctx, of, []any{version}, func(r *sql.Rows) error {
		var a account.Acceptance
		var id int64
		if err := r.Scan(&id, &a.Version, &a.Time, &a.Address); err != nil {
			return s.db.Wrap(err)
		}
		a.Account = bourse.AccountID(id)
		return yield(&a)
	})
}
