package accounts

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres"
)

// Reader looks at the accounts on a server, from which another program serves. It neither creates
// nor upgrades their tables: that program may be an older one.
type Reader struct{ db *postgres.Reader }

// OpenReader opens a Reader of the accounts at the URL of a PostgreSQL database. It fails if they
// cannot be read.
func OpenReader(ctx context.Context, url string) (*Reader, error) {
	db, err := postgres.OpenReader(url, postgres.Options{Schema: schema, Away: errAway})
	if err != nil {
		return nil, err
	}
	r := &Reader{db}
	if err := r.Reach(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Reach returns an error unless the accounts can be read.
func (r *Reader) Reach(ctx context.Context) error {
	var highest int64
	const read = `SELECT coalesce(max(incarnation), 0) FROM fence`
	return r.db.Wrap(r.db.Reads().QueryRowContext(ctx, read).Scan(&highest))
}

// Close closes the connections.
func (r *Reader) Close() error { return r.db.Close() }
