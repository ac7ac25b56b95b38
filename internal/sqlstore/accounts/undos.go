package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

const selectUndos = `SELECT account, email, code, expires, totp, totp_used FROM undos `

// UndosOf returns the ways back to an old address.
func (s *Store) UndosOf(ctx context.Context, email string) (map[bourse.AccountID]account.Undo, error) {
	undos := map[bourse.AccountID]account.Undo{}
	err := s.each(ctx, selectUndos+`WHERE email = $1`, []any{email}, func(r *sql.Rows) error {
		id, u, err := scanUndo(r)
		undos[id] = u
		return err
	})
	return undos, err
}

// undosOf returns the ways back of an account, oldest first.
func undosOf(ctx context.Context, tx *sql.Tx, id bourse.AccountID) (list []account.Undo, err error) {
	rows, err := tx.QueryContext(ctx, selectUndos+`WHERE account = $1 ORDER BY expires`, int64(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		_, u, err := scanUndo(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, rows.Err()
}

// setUndos writes the ways back of an account in place of those that it had.
func setUndos(ctx context.Context, tx *sql.Tx, id bourse.AccountID, list []account.Undo) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM undos WHERE account = $1`, int64(id)); err != nil {
		return err
	}
	const insert = `INSERT INTO undos (account, email, code, expires, totp, totp_used) VALUES ($1, $2, $3, $4, $5, $6)`
	for i := range list {
		u := &list[i]
		if _, err := tx.ExecContext(ctx, insert, int64(id), u.Email, u.Code[:], int64(u.Expires), u.TOTP, u.TOTPUsed); err != nil {
			return err
		}
	}
	return nil
}

func scanUndo(from scanner) (id bourse.AccountID, u account.Undo, err error) {
	var code []byte
	err = from.Scan(&id, &u.Email, &code, &u.Expires, &u.TOTP, &u.TOTPUsed)
	copy(u.Code[:], code)
	return id, u, err
}

// LogIns returns the addresses of an account's newest log-ins.
func (s *Store) LogIns(ctx context.Context, id bourse.AccountID, limit int) (list []string, err error) {
	const of = `SELECT address FROM activity WHERE account = $1 AND kind = 'LOGIN' GROUP BY address ORDER BY max(id) DESC LIMIT $2`
	err = s.each(ctx, of, []any{int64(id), limit}, func(r *sql.Rows) error {
		var address string
		err := r.Scan(&address)
		list = append(list, address)
		return err
	})
	return list, err
}
