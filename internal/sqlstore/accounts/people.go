package accounts

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// KeyOnce returns the key that was requested under an idempotency name.
func (s *Store) KeyOnce(ctx context.Context, id bourse.AccountID, once bourse.ClientID) (account.KeyRow, bool, error) {
	const of = selectKeys + `WHERE account = $1 AND idempotency = $2`
	row, err := scanKey(s.db.Reads().QueryRowContext(ctx, of, int64(id), once.String()))
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, s.db.Wrap(err)
}

// AddSession stores a session.
func (s *Store) AddSession(ctx context.Context, row *account.SessionRow) error {
	const put = `INSERT INTO sessions (id, account, hash, agent, created, expires, last_used, salt, address)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET account = excluded.account,
		hash = excluded.hash, agent = excluded.agent, created = excluded.created, expires = excluded.expires,
		last_used = excluded.last_used, salt = excluded.salt, address = excluded.address`
	return s.exec(ctx, put, int64(row.ID), int64(row.Account), row.Hash[:], row.Agent,
		int64(row.Created), int64(row.Expires), int64(row.Used), row.Salt[:], row.Address)
}

// Used stores the last uses of sessions and keys.
func (s *Store) Used(
	ctx context.Context, sessions map[account.SessionID]bourse.Time, keys map[bourse.KeyID]bourse.Time,
) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for id, at := range sessions {
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET last_used = $1 WHERE id = $2`, int64(at),
				int64(id)); err != nil {
				return err
			}
		}
		for id, at := range keys {
			if _, err := tx.ExecContext(ctx, `UPDATE keys SET last_used = $1 WHERE id = $2`, int64(at),
				int64(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sessions passes every session to yield.
func (s *Store) Sessions(ctx context.Context, yield func(*account.SessionRow) error) error {
	const all = `SELECT id, account, hash, agent, created, expires, last_used, salt, address FROM sessions`
	return s.each(ctx, all, nil, func(r *sql.Rows) error {
		var row account.SessionRow
		var id, of int64
		var hash, salt []byte
		err := r.Scan(&id, &of, &hash, &row.Agent, &row.Created, &row.Expires, &row.Used, &salt, &row.Address)
		if err != nil {
			return s.db.Wrap(err)
		}
		// An id out of range matches nothing in the journal.
		row.ID, row.Account = account.SessionID(id), bourse.AccountID(of)
		copy(row.Hash[:], hash)
		copy(row.Salt[:], salt)
		return yield(&row)
	})
}

// AddActivity adds an entry, and deletes expired and excess ones. Failed attempts push out
// each other alone, because strangers make them. Ids rise with time, so
// the oldest entries of all accounts are found without a search; up to 100 expired
// entries are deleted at once, so that none stay for long.
func (s *Store) AddActivity(ctx context.Context, a *account.Activity, most int, since bourse.Time) error {
	const (
		insert = `INSERT INTO activity (account, failed, time, kind, address, agent, detail, ordinal)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 1 + coalesce((SELECT max(ordinal) ` + alikeActivity + `), 0))`
		old = `DELETE FROM activity WHERE id IN (SELECT id FROM activity ORDER BY id LIMIT 100) AND time < $1`
	)
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, insert, int64(a.Account), a.Failed(), int64(a.Time), a.Kind, a.Address, a.Agent,
			a.Detail); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, old, int64(since)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, trimActivity, int64(a.Account), a.Failed(), most)
		return err
	})
}

const (
	// alikeActivity selects the entries of an account that push out each other.
	alikeActivity = `FROM activity WHERE account = $1 AND failed = $2`
	// trimActivity deletes those beyond the newest $3. Their ordinals have no gaps, because the oldest ones go first.
	trimActivity = `DELETE ` + alikeActivity + ` AND ordinal <= (SELECT max(ordinal) ` + alikeActivity + `) - $3`
)

// ActivityOf returns an account's entries, newest first.
func (s *Store) ActivityOf(
	ctx context.Context, id bourse.AccountID, before uint64, limit int,
) ([]account.Activity, error) {
	const of = selectActivity + `account = $1 AND (id < $2 OR $2 = 0) ORDER BY id DESC LIMIT $3`
	return s.activities(ctx, of, int64(id), int64(before), limit)
}

const selectActivity = `SELECT id, account, time, kind, address, agent, detail FROM activity WHERE `

// LastActivities returns, for each of the accounts, its newest entry of one of the kinds. It reads one entry for
// each account and kind, because strangers fill an account's activities.
func (s *Store) LastActivities(
	ctx context.Context, ids []bourse.AccountID, kinds ...string,
) ([]account.Activity, error) {
	query, args := lastActivities(ids, kinds)
	return s.activities(ctx, query, args...)
}

// lastActivities returns the query of LastActivities. The index activity_of_kind begins the entries of an account and
// kind with the newest one; a condition on several kinds would read all entries of the account.
func lastActivities(ids []bourse.AccountID, kinds []string) (query string, args []any) {
	const newest = `SELECT a.id FROM activity a WHERE a.account = one.id AND a.kind = alike.kind ORDER BY -a.id LIMIT 1`
	query = `WITH one (id) AS (VALUES ` + rows(&args, "bigint", numbers(ids)) + `), ` +
		`alike (kind) AS (VALUES ` + rows(&args, "text", kinds) + `) ` +
		selectActivity + `id IN (SELECT max((` + newest + `)) FROM one CROSS JOIN alike GROUP BY one.id)`
	return query, args
}

// activities returns the entries of a query.
func (s *Store) activities(ctx context.Context, query string, args ...any) (list []account.Activity, err error) {
	err = s.each(ctx, query, args, func(r *sql.Rows) error {
		var a account.Activity
		err := r.Scan(&a.ID, &a.Account, &a.Time, &a.Kind, &a.Address, &a.Agent, &a.Detail)
		list = append(list, a)
		return err
	})
	return list, err
}

// exec runs one statement in a transaction.
func (s *Store) exec(ctx context.Context, statement string, args ...any) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// newestLogIns selects the distinct addresses of an account's newest $2 log-ins, of which the index activity_of_kind
// reads no others.
const newestLogIns = `SELECT address FROM (SELECT id, address FROM activity WHERE account = $1 AND kind = 'LOGIN' ORDER BY -id LIMIT $2) AS newest
	GROUP BY address ORDER BY max(id) DESC`

// LogIns returns the addresses of an account's newest log-ins.
func (s *Store) LogIns(ctx context.Context, id bourse.AccountID, limit int) (list []string, err error) {
	err = s.each(ctx, newestLogIns, []any{int64(id), limit}, func(r *sql.Rows) error {
		var address string
		err := r.Scan(&address)
		list = append(list, address)
		return err
	})
	return list, err
}
