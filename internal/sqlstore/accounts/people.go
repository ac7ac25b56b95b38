package accounts

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// ChangePerson writes what change makes of an account's address and person.
func (s *Store) ChangePerson(ctx context.Context, id bourse.AccountID, change func(*account.AccountRow) error) error {
	const update = `UPDATE accounts SET email = $1, password = $2, totp = $3, totp_used = $4, totp_step = $5, cases = $6
		WHERE id = $7`
	err := s.write(ctx, func(tx *sql.Tx) error {
		row, err := scanAccount(tx.QueryRowContext(ctx, selectAccounts+`WHERE id = $1`, int64(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return account.ErrNone
		}
		if err == nil {
			row.Undos, err = undosOf(ctx, tx, id)
		}
		if err != nil {
			return err
		}

		undos := slices.Clone(row.Undos)
		if err := change(&row); err != nil {
			return err
		}
		if !reflect.DeepEqual(undos, row.Undos) {
			if err := setUndos(ctx, tx, id, row.Undos); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, update, row.Email, row.Password, row.TOTP, row.TOTPUsed, row.TOTPStep,
			row.Cases.String(), int64(id))
		return err
	})
	if s.db.IsDuplicate(err) {
		return account.ErrTaken
	}
	return err
}

// KeyOnce returns the key that was asked for under a name.
func (s *Store) KeyOnce(ctx context.Context, id bourse.AccountID, once bourse.ClientID) (account.KeyRow, bool, error) {
	const of = selectKeys + `WHERE account = $1 AND idempotency = $2`
	row, err := scanKey(s.db.Reads().QueryRowContext(ctx, of, int64(id), once.String()))
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, s.db.Wrap(err)
}

// AddSession writes a session.
func (s *Store) AddSession(ctx context.Context, row *account.SessionRow) error {
	const insert = `INSERT INTO sessions (id, account, hash, agent, created, expires, last_used) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	return s.exec(ctx, insert, int64(row.ID), int64(row.Account), row.Hash[:], row.Agent,
		int64(row.Created), int64(row.Expires), int64(row.Used))
}

// EndSessions removes sessions.
func (s *Store) EndSessions(ctx context.Context, ids []account.SessionID) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = $1`, int64(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Used writes when sessions and keys were last used.
func (s *Store) Used(ctx context.Context, sessions map[account.SessionID]bourse.Time, keys map[bourse.KeyID]bourse.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for id, at := range sessions {
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET last_used = $1 WHERE id = $2`, int64(at), int64(id)); err != nil {
				return err
			}
		}
		for id, at := range keys {
			if _, err := tx.ExecContext(ctx, `UPDATE keys SET last_used = $1 WHERE id = $2`, int64(at), int64(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sessions hands every session to yield.
func (s *Store) Sessions(ctx context.Context, yield func(*account.SessionRow) error) error {
	const all = `SELECT id, account, hash, agent, created, expires, last_used FROM sessions`
	return s.each(ctx, all, nil, func(r *sql.Rows) error {
		var row account.SessionRow
		var hash []byte
		err := r.Scan(&row.ID, &row.Account, &hash, &row.Agent, &row.Created, &row.Expires, &row.Used)
		if err != nil {
			return s.db.Wrap(err)
		}
		copy(row.Hash[:], hash)
		return yield(&row)
	})
}

// AddActivity writes an entry, and drops those that are kept no longer. Ids rise
// with time, so the oldest entries of all accounts are found without a search; so
// many go at once that none stay behind for long.
func (s *Store) AddActivity(ctx context.Context, a *account.Activity, most int, since bourse.Time) error {
	const (
		insert = `INSERT INTO activity (account, time, kind, address, agent, detail) VALUES ($1, $2, $3, $4, $5, $6)`
		old    = `DELETE FROM activity WHERE id IN (SELECT id FROM activity ORDER BY id LIMIT 100) AND time < $1`
		beyond = `DELETE FROM activity WHERE account = $1 AND id <=
			(SELECT id FROM activity WHERE account = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`
	)
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, insert, int64(a.Account), int64(a.Time), a.Kind, a.Address, a.Agent, a.Detail); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, old, int64(since)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, beyond, int64(a.Account), most)
		return err
	})
}

// ActivityOf returns an account's entries, newest first.
func (s *Store) ActivityOf(ctx context.Context, id bourse.AccountID, before uint64, limit int) ([]account.Activity, error) {
	const of = `SELECT id, account, time, kind, address, agent, detail FROM activity
		WHERE account = $1 AND (id < $2 OR $2 = 0) ORDER BY id DESC LIMIT $3`
	var list []account.Activity
	err := s.each(ctx, of, []any{int64(id), int64(before), limit}, func(r *sql.Rows) error {
		var a account.Activity
		err := r.Scan(&a.ID, &a.Account, &a.Time, &a.Kind, &a.Address, &a.Agent, &a.Detail)
		list = append(list, a)
		return err
	})
	return list, err
}

// exec writes with one statement.
func (s *Store) exec(ctx context.Context, statement string, args ...any) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}
