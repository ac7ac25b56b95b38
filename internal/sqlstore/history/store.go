package history

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// application marks the file: "BoHi".
	application = 'B'<<24 | 'o'<<16 | 'H'<<8 | 'i'
	// cacheKiB is the writer's page cache: enough for the newest leaf of each
	// of some ten thousand accounts.
	cacheKiB = 32 << 10
	// foldAt is how long the log may become before it is folded into the file, in
	// bytes: long enough that a page that changes in many batches is written to
	// the file once.
	foldAt = 64 << 20
)

// Store is a history.Store in a file.
type Store struct {
	file *sqlite.File
	// reads are the queries, prepared for every reading connection.
	reads map[string]*sql.Stmt

	// Of the writing goroutine.
	inserts inserts
	cursor  history.Cursor
	// drawing are the candles that were changed last.
	drawing map[candleID]*drawing
}

var _ history.Store = (*Store)(nil)

// Open opens the store in a file, which it makes if there is none. The errors are
// those of package sqlite.
func Open(ctx context.Context, path string) (*Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	file, err := sqlite.Open(ctx, path, sqlite.Options{
		Application: application, CacheKiB: cacheKiB, Migrations: files,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, reads: map[string]*sql.Stmt{}, drawing: map[candleID]*drawing{}}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(file.Wrap(err), s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) (err error) {
	for _, query := range queries {
		//nolint:sqlclosecheck // it is closed with the database
		if s.reads[query], err = s.file.Reader.PrepareContext(ctx, query); err != nil {
			return err
		}
	}
	if err := s.inserts.prepare(ctx, s.file.Writer); err != nil {
		return err
	}
	s.cursor, err = s.Cursor(ctx)
	return err
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// Cursor returns how far the store has come.
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

// list runs a query and returns its rows; scan reads one.
func list[T any](ctx context.Context, s *Store, query string, scan func(scanner, *T) error, args ...any) (found []T, err error) {
	rows, err := s.reads[query].QueryContext(ctx, args...)
	if err != nil {
		return nil, s.file.Wrap(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, s.file.Wrap(err)
		}
		found = append(found, row)
	}
	return found, s.file.Wrap(rows.Err())
}

// one runs a query for at most one row.
func one[T any](ctx context.Context, s *Store, query string, scan func(scanner, *T) error, args ...any) (T, bool, error) {
	rows, err := list(ctx, s, query, scan, args...)
	if err != nil || len(rows) == 0 {
		var none T
		return none, false, err
	}
	return rows[0], true, nil
}

// integer returns a count as a column holds it; SQLite counts to 2^63-1, and so
// does everything that is counted here but the end of an open span.
func integer[N ~uint64](n N) int64 { return int64(min(n, 1<<63-1)) }

// high and low are the columns of an amount.
func high(a bourse.Amount) int64 { return int64(a.Hi) }
func low(a bourse.Amount) int64  { return int64(a.Lo) }

// amount reads the columns of an amount.
type amount struct{ hi, lo int64 }

func (a amount) get() bourse.Amount { return bourse.Amount{Hi: uint64(a.hi), Lo: uint64(a.lo)} }
