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
		insert = `INSERT INTO operator_invitations (code, email, name, role, reason, expires)
			VALUES ($1, $2, $3, $4, $5, $6)`
	)
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, clean, i.Email, int64(now)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insert, i.Code[:], i.Email, i.Name, i.Role.String(), i.Reason, int64(i.Expires))
		return err
	})
}

// TakeInvitation removes the invitation of a code and returns it.
func (s *Store) TakeInvitation(ctx context.Context, code [32]byte) (i operator.Invitation, found bool, err error) {
	const take = `DELETE FROM operator_invitations WHERE code = $1 RETURNING email, name, role, reason, expires`
	err = s.write(ctx, func(tx *sql.Tx) error {
		var role string
		err := tx.QueryRowContext(ctx, take, code[:]).Scan(&i.Email, &i.Name, &role, &i.Reason, &i.Expires)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		i.Role, _ = bourse.ParseOperatorRole(role) // the table has no other words
		found = err == nil
		return err
	})
	i.Code = code
	return i, found && err == nil, err
}

// AddOperator adds an operator's row.
func (s *Store) AddOperator(ctx context.Context, r *operator.Row) error {
	const insert = `INSERT INTO operators (token, email, name, credential, public_key, salt, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`
	return s.exec(ctx, insert, r.Token[:], r.Email, r.Name, r.Credential, r.PublicKey, r.Salt[:], int64(r.Created))
}

// DropOperator removes an operator's row.
func (s *Store) DropOperator(ctx context.Context, token bourse.Token) error {
	return s.exec(ctx, `DELETE FROM operators WHERE token = $1`, token[:])
}

// Operators returns the rows of all operators.
func (s *Store) Operators(ctx context.Context) (list []operator.Row, err error) {
	const all = `SELECT token, email, name, credential, public_key, salt, created FROM operators ORDER BY created, token`
	err = s.each(ctx, all, nil, func(r *sql.Rows) error {
		var row operator.Row
		var token, salt []byte
		err := r.Scan(&token, &row.Email, &row.Name, &row.Credential, &row.PublicKey, &salt, &row.Created)
		copy(row.Token[:], token)
		copy(row.Salt[:], salt)
		list = append(list, row)
		return err
	})
	return list, err
}
