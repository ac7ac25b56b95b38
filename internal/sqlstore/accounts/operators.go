package accounts

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// AddInvitation adds an operator's invitation.
func (s *Store) AddInvitation(ctx context.Context, i *operator.Invitation, now bourse.Time) error {
	const (
		clean  = `DELETE FROM operator_invitations WHERE email = $1 OR expires <= $2`
		insert = `INSERT INTO operator_invitations (code, email, name, inviter, role, reason, expires)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`
	)
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, clean, i.Email, int64(now)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insert, i.Code[:], i.Email, i.Name, int64(i.By), i.Role.String(),
			i.Reason, int64(i.Expires))
		return err
	})
}

// Invitation returns the invitation of a code.
func (s *Store) Invitation(ctx context.Context, code [32]byte) (i operator.Invitation, found bool, err error) {
	const one = `SELECT email, name, inviter, role, reason, expires FROM operator_invitations WHERE code = $1`
	err = s.each(ctx, one, []any{code[:]}, func(r *sql.Rows) error {
		found = true
		return scanInvitation(r, &i)
	})
	i.Code = code
	return i, found && err == nil, err
}

// TakeInvitation removes the invitation of a code and returns it.
func (s *Store) TakeInvitation(ctx context.Context, code [32]byte) (i operator.Invitation, found bool, err error) {
	const take = `DELETE FROM operator_invitations WHERE code = $1 RETURNING email, name, inviter, role, reason, expires`
	err = s.write(ctx, func(tx *sql.Tx) error {
		err := scanInvitation(tx.QueryRowContext(ctx, take, code[:]), &i)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	i.Code = code
	return i, found && err == nil, err
}

// scanInvitation reads the columns behind the code of an invitation.
func scanInvitation(r interface{ Scan(columns ...any) error }, i *operator.Invitation) error {
	var role string
	err := r.Scan(&i.Email, &i.Name, &i.By, &role, &i.Reason, &i.Expires)
	i.Role, _ = bourse.ParseOperatorRole(role) // the table has no other words
	return err
}

// AddOperator adds an operator's row.
func (s *Store) AddOperator(ctx context.Context, r *operator.Row) error {
	const insert = `INSERT INTO operators (token, email, name, credential, public_key, synced, salt, created, counter)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	return s.exec(ctx, insert, r.Token[:], r.Email, r.Name, r.Credential, r.PublicKey, r.Synced, r.Salt[:],
		int64(r.Created), int64(r.Counter))
}

// DropOperator removes an operator's row.
func (s *Store) DropOperator(ctx context.Context, token bourse.Token) error {
	return s.exec(ctx, `DELETE FROM operators WHERE token = $1`, token[:])
}

// UseOperator notes a use of an operator's passkey.
func (s *Store) UseOperator(ctx context.Context, token bourse.Token, counter uint32, now bourse.Time) (ok bool, err error) {
	const use = `UPDATE operators SET counter = $2, used = $3
		WHERE token = $1 AND (counter < $2 OR counter = 0 AND $2 = 0)`
	err = s.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, use, token[:], int64(counter), int64(now))
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		ok = n == 1
		return err
	})
	return ok && err == nil, err
}

// Operators returns the rows of all operators.
func (s *Store) Operators(ctx context.Context) (list []operator.Row, err error) {
	const all = `SELECT token, email, name, credential, public_key, synced, salt, created, counter
		FROM operators ORDER BY created, token`
	err = s.each(ctx, all, nil, func(r *sql.Rows) error {
		var row operator.Row
		var token, salt []byte
		err := r.Scan(&token, &row.Email, &row.Name, &row.Credential, &row.PublicKey, &row.Synced, &salt, &row.Created,
			&row.Counter)
		copy(row.Token[:], token)
		copy(row.Salt[:], salt)
		list = append(list, row)
		return err
	})
	return list, err
}
