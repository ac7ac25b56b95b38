package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// AddOperatorKey adds an operator's key.
func (s *Store) AddOperatorKey(ctx context.Context, k *operator.Key) error {
	const (
		clean  = `DELETE FROM operator_keys WHERE expires <= $1`
		insert = `INSERT INTO operator_keys (operator, name, scope, addresses, created, expires, hash, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`
	)
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, clean, int64(k.Created)); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, insert, int64(k.Operator), k.Name, k.Scope.String(), joinAddresses(k.Addresses),
			int64(k.Created), int64(k.Expires), k.Hash[:], k.MAC[:]).Scan(&k.ID)
	})
}

// operatorKeys reads all columns of operators' keys.
const operatorKeys = `SELECT id, operator, name, scope, addresses, created, expires, used, hash, mac FROM operator_keys `

// OperatorKey returns the key with a hash.
func (s *Store) OperatorKey(ctx context.Context, hash [32]byte) (k operator.Key, found bool, err error) {
	err = s.each(ctx, operatorKeys+`WHERE hash = $1`, []any{hash[:]}, func(r *sql.Rows) error {
		found = true
		return scanOperatorKey(r, &k)
	})
	return k, found && err == nil, err
}

// OperatorKeys returns all keys of operators.
func (s *Store) OperatorKeys(ctx context.Context) (list []operator.Key, err error) {
	err = s.each(ctx, operatorKeys+`ORDER BY id`, nil, func(r *sql.Rows) error {
		var k operator.Key
		err := scanOperatorKey(r, &k)
		list = append(list, k)
		return err
	})
	return list, err
}

// scanOperatorKey reads a key. Malformed scopes and addresses are read as none, and the MAC shows it.
func scanOperatorKey(r *sql.Rows, k *operator.Key) error {
	var scope, addresses string
	var hash, mac []byte
	err := r.Scan(&k.ID, &k.Operator, &k.Name, &scope, &addresses, &k.Created, &k.Expires, &k.Used, &hash, &mac)
	k.Scope, _ = operator.ParseKeyScope(scope)
	k.Addresses, _ = splitAddresses(addresses)
	copy(k.Hash[:], hash)
	copy(k.MAC[:], mac)
	return err
}

// UseOperatorKey notes the time of a key's use.
func (s *Store) UseOperatorKey(ctx context.Context, id operator.KeyID, now bourse.Time) error {
	return s.exec(ctx, `UPDATE operator_keys SET used = $2 WHERE id = $1`, int64(id), int64(now))
}

// DropOperatorKey removes an operator's key.
func (s *Store) DropOperatorKey(ctx context.Context, id operator.KeyID) error {
	return s.exec(ctx, `DELETE FROM operator_keys WHERE id = $1`, int64(id))
}

// DropOperatorKeys removes the keys of an operator.
func (s *Store) DropOperatorKeys(ctx context.Context, id bourse.OperatorID) error {
	return s.exec(ctx, `DELETE FROM operator_keys WHERE operator = $1`, int64(id))
}
