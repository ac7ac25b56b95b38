package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"
)

// The reasons to refuse a database.
var (
	// ErrForeign: the database is of another kind.
	ErrForeign = errors.New("file of another kind")
	// ErrNewer: a newer program created it.
	ErrNewer = errors.New("made by a newer program")
	// ErrOlder: an older program created it, with tables that this one does not read.
	ErrOlder = errors.New("made by Bourse 0.1.0 or older, whose databases this program does not read: " +
		"go on with the program that made it, or begin without it (docs/upgrade.md)")
	// ErrDamaged: the content is not as written.
	ErrDamaged = errors.New("damaged file")
)

// Database is one store's database. It is safe for concurrent use, except for its
// Inserters.
type Database interface {
	// Reads returns the read-only connections.
	Reads() *sql.DB
	// Patient returns a context for one write. It ignores the end of the caller's and
	// ends when the write takes too long.
	Patient(ctx context.Context) (context.Context, context.CancelFunc)
	// Write runs do in a transaction. Writes are serialised.
	Write(ctx context.Context, do func(*sql.Tx) error) error
	// Inserter returns an Inserter for a table.
	Inserter(ctx context.Context, t Table) (Inserter, error)
	// IsDuplicate reports whether an error is a violation of a unique key.
	IsDuplicate(err error) bool
	// Wrap adds the location to an error, and its class in this package.
	Wrap(err error) error
	// Close closes all connections.
	Close() error
}

// Kind is a kind of store. File opens its database in a file, Server in a schema of a
// server.
type Kind struct {
	// Schema is its schema on a server.
	Schema string
	File   func(ctx context.Context, path string) (Database, error)
	Server func(ctx context.Context, url, schema string) (Database, error)
}

// Table is a table to insert rows into.
type Table struct {
	Name    string
	Columns []string
	// Key is the number of leading columns that identify a row, which a new row replaces;
	// zero if rows are never replaced.
	Key int
}

// Inserter inserts rows into a table. Rows added since Begin are in the table after
// Flush. Values are int64, string, []byte or nil.
type Inserter interface {
	// Begin starts the rows of a transaction.
	Begin(ctx context.Context, tx *sql.Tx)
	Add(ctx context.Context, values ...any) error
	Flush(ctx context.Context) error
}

// IsURL reports whether text is the URL of a PostgreSQL database rather than a file.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Migrate upgrades the tables to this program's version with the numbered SQL files in a
// folder. It refuses tables older than its first migration: versions below 10 were those
// of Bourse 0.1.0 and older.
func Migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS, folder string) error {
	files, err := fs.Sub(files, folder)
	if err != nil {
		return err
	}

	p, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	has, knows, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	switch first := p.ListSources()[0].Version; {
	case has > knows:
		return fmt.Errorf("%w: its tables have version %d, this program knows %d", ErrNewer, has, knows)
	case has > 0 && has < first:
		return fmt.Errorf("%w: its tables have version %d, this program begins with %d", ErrOlder, has, first)
	}

	if has < knows {
		_, err = p.Up(ctx)
	}
	return err
}

// Transact runs do in a transaction of db.
func Transact(ctx context.Context, db interface {
	BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error)
}, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// A transaction is already gone if its context ended or its connection broke.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return errors.Join(err, undo)
		}
		return err
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) {
		return errors.Join(ctx.Err(), err) // the driver reports either of the two
	}
	return err
}
