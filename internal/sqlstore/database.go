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

// The errors that say what is wrong with a database.
var (
	// ErrForeign: it is not of this kind.
	ErrForeign = errors.New("file of another kind")
	// ErrNewer: a newer program made it.
	ErrNewer = errors.New("made by a newer program")
	// ErrDamaged: it is not what was written.
	ErrDamaged = errors.New("damaged file")
)

// Database is one store's place in a database. Any goroutine may call it, but for
// what an Inserter does.
type Database interface {
	// Reads returns the connections that read; they cannot write.
	Reads() *sql.DB
	// Patient returns a context for one write: however the caller's ends, it ends
	// when a write has taken too long.
	Patient(ctx context.Context) (context.Context, context.CancelFunc)
	// Write runs do in a transaction. One runs at a time.
	Write(ctx context.Context, do func(*sql.Tx) error) error
	// Inserter returns what puts rows into a table.
	Inserter(ctx context.Context, t Table) (Inserter, error)
	// IsDuplicate reports whether an error says that a row is there already.
	IsDuplicate(err error) bool
	// Wrap adds to an error where it happened, and what it means to us.
	Wrap(err error) error
	// Close lets go of the database.
	Close() error
}

// Kind is a kind of store: how its database is opened in a file, and in a schema
// of a server.
type Kind struct {
	// Schema is where it is on a server.
	Schema string
	File   func(ctx context.Context, path string) (Database, error)
	Server func(ctx context.Context, url, schema string) (Database, error)
}

// Table is a table that rows are put into.
type Table struct {
	Name    string
	Columns []string
	// Key is how many of the first columns name a row that a new one takes the
	// place of; zero where that cannot happen.
	Key int
}

// Inserter puts rows into a table: those that were added since Begin are there
// after Flush. Values are int64, string, []byte or nil.
type Inserter interface {
	// Begin begins the rows of a transaction.
	Begin(ctx context.Context, tx *sql.Tx)
	Add(ctx context.Context, values ...any) error
	Flush(ctx context.Context) error
}

// IsURL reports whether a text names a PostgreSQL database rather than a file.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Migrate brings the tables up to what this program knows.
func Migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS) error {
	p, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	has, knows, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if has > knows {
		return fmt.Errorf("%w: its tables have version %d, this program knows %d", ErrNewer, has, knows)
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
		// One that its context has ended, or whose connection broke, is gone already.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return errors.Join(err, undo)
		}
		return err
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) {
		return errors.Join(ctx.Err(), err) // which of the two is said is chance
	}
	return err
}
