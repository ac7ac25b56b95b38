package history

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// kind holds the differences between the kinds of database.
type kind struct {
	// fillsOf selects an account's ($1) fills of some orders ($2). ids encodes the orders
	// as a parameter.
	fillsOf string
	ids     func([]bourse.OrderID) any
}

// Store is a history.Store in a database.
type Store struct {
	db   sqlstore.Database
	kind kind
	// reads holds the queries, prepared on every reading connection.
	reads map[string]*sql.Stmt

	// Owned by the writing goroutine. cursor is the store's cursor as far as this process
	// knows.
	inserts inserts
	cursor  history.Cursor
	// drawing holds the latest candles.
	drawing map[candleID]*drawing
}

var _ history.Store = (*Store)(nil)

// Open opens the store in a file or at the URL of a PostgreSQL database, and creates it
// if missing. The errors are those of package sqlstore.
func Open(ctx context.Context, place string) (*Store, error) {
	open, k := openFile, inFile
	if sqlstore.IsURL(place) {
		open, k = openServer, onServer
	}
	db, err := open(ctx, place)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, kind: k, reads: map[string]*sql.Stmt{}, drawing: map[candleID]*drawing{}}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(db.Wrap(err), s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) (err error) {
	for _, query := range append(queries[:], s.kind.fillsOf) {
		//nolint:sqlclosecheck // it is closed with the database
		if s.reads[query], err = s.db.Reads().PrepareContext(ctx, query); err != nil {
			return err
		}
	}
	if err := s.inserts.prepare(ctx, s.db); err != nil {
		return err
	}
	return s.resume(ctx)
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Cursor returns the store's cursor.
func (s *Store) Cursor(ctx context.Context) (history.Cursor, error) {
	c, _, err := one(ctx, s, selectCursor, func(r scanner, c *history.Cursor) error {
		var chain []byte
		err := r.Scan(&c.Seq, &c.Time, &chain)
		copy(c.Chain[:], chain)
		return err
	})
	return c, err
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// list runs a query and returns its rows, each read by scan.
func list[T any](
	ctx context.Context, s *Store, query string, scan func(scanner, *T) error, args ...any,
) (found []T, err error) {
	rows, err := s.reads[query].QueryContext(ctx, args...)
	if err != nil {
		return nil, s.db.Wrap(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, s.db.Wrap(err)
		}
		found = append(found, row)
	}
	return found, s.db.Wrap(rows.Err())
}

// one runs a query for at most one row.
func one[T any](
	ctx context.Context, s *Store, query string, scan func(scanner, *T) error, args ...any,
) (T, bool, error) {
	rows, err := list(ctx, s, query, scan, args...)
	if err != nil || len(rows) == 0 {
		var none T
		return none, false, err
	}
	return rows[0], true, nil
}

// integer returns a count for a column. SQL integers end at 2^63-1; only the end of an
// open span exceeds that.
func integer[N ~uint64](n N) int64 { return int64(min(n, 1<<63-1)) }

// high and low are the columns of an amount.
func high(a bourse.Amount) int64 { return int64(a.Hi) }
func low(a bourse.Amount) int64  { return int64(a.Lo) }

// amount holds the columns of an amount.
type amount struct{ hi, lo int64 }

func (a amount) get() bourse.Amount { return bourse.Amount{Hi: uint64(a.hi), Lo: uint64(a.lo)} }
