package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// NameKey sets the name of a key.
func (s *Store) NameKey(ctx context.Context, id bourse.KeyID, name string) error {
	return s.exec(ctx, `UPDATE keys SET name = $1 WHERE id = $2`, name, int64(id))
}

// AddKeyChange adds a pending change of a key.
func (s *Store) AddKeyChange(ctx context.Context, c *account.KeyChange) error {
	const insert = `INSERT INTO key_changes (salt, id, name, scopes, addresses, expires) VALUES ($1, $2, $3, $4, $5, $6)`
	return s.exec(ctx, insert, c.Salt[:], int64(c.ID), c.Name, c.Scopes.String(), joinAddresses(c.Addresses),
		int64(c.Expires))
}

// DropKeyChange removes a pending change.
func (s *Store) DropKeyChange(ctx context.Context, c *account.KeyChange) error {
	return s.exec(ctx, `DELETE FROM key_changes WHERE salt = $1`, c.Salt[:])
}

// KeyChanges passes every pending change to yield.
func (s *Store) KeyChanges(ctx context.Context, yield func(*account.KeyChange) error) error {
	const all = `SELECT salt, id, name, scopes, addresses, expires FROM key_changes`
	return s.each(ctx, all, nil, func(r *sql.Rows) error {
		var c account.KeyChange
		var salt []byte
		var scopes, addresses string
		err := r.Scan(&salt, &c.ID, &c.Name, &scopes, &addresses, &c.Expires)
		if err != nil {
			return s.db.Wrap(err)
		}
		copy(c.Salt[:], salt)
		c.Scopes, c.Addresses = readTerms(scopes, addresses)
		return yield(&c)
	})
}

// changeKey applies a key's last confirmed change and drops its pending ones.
func changeKey(ctx context.Context, tx *sql.Tx, c *account.KeyChange) error {
	const update = `UPDATE keys SET name = $1, scopes = $2, addresses = $3, expires = $4, salt = $5 WHERE id = $6`
	_, err := tx.ExecContext(ctx, update, c.Name, c.Scopes.String(), joinAddresses(c.Addresses), int64(c.Expires),
		c.Salt[:], int64(c.ID))
	if err != nil {
		return err
	}
	return dropChanges(ctx, tx, c.ID)
}

// dropChanges removes the pending changes of a key.
func dropChanges(ctx context.Context, tx *sql.Tx, id bourse.KeyID) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM key_changes WHERE id = $1`, int64(id))
	return err
}
