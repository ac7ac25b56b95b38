package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

const (
	// patience is how long, in milliseconds, a statement waits for another
	// connection's lock.
	patience = 5000
	// logLimit is what is kept of the log's file after it was folded in, in bytes;
	// pacedLogLimit where that is done at a pace.
	logLimit      = 4 << 20
	pacedLogLimit = 512 << 20
	// readers is how many connections read: more would only wait for each other,
	// since answers come from the page cache.
	readers = 4
	// alone is the system of SQLite that keeps the index of the log in memory: no file
	// of it takes room, and no other process may open the database meanwhile.
	alone = "unix-excl"
)

// Options say what kind of file it is and how it is kept.
type Options struct {
	// Application marks files of this kind (SQLite's application_id).
	Application int32
	// Durable makes every transaction durable before its commit returns.
	// Without it the newest ones can be lost in a crash, and nothing else.
	Durable bool
	// CacheKiB is the page cache of the writer; each reader has an eighth.
	CacheKiB int
	// FoldAt is how long the log may become before it is folded into the file, in
	// bytes.
	FoldAt int64
	// FoldEvery, in place of FoldAt, is after how many writes the log is folded, which
	// is then done at a pace: for a file that much is written to, by nobody but this
	// File, and that is not Durable.
	FoldEvery int
	// Migrations holds the numbered SQL files that make the tables.
	Migrations fs.FS
}

// File is an open file.
type File struct {
	// Writer has one connection, Reader has several, which cannot write.
	Writer, Reader *sql.DB
	path           string
	// system is SQLite's system of files that it was opened with; empty for the usual.
	system string
	foldAt int64
	// pace is nil unless the log is folded at a pace.
	pace *pace
}

var _ sqlstore.Database = (*File)(nil)

// Open opens a file, and makes it if there is none. On a disk without room for the index
// of the log it keeps other processes out until Close. The errors are those of package
// sqlstore and of the system, with the path in their text.
func Open(ctx context.Context, path string, o Options) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeFile(path); err != nil {
		return nil, err
	}

	f, err := open(ctx, path, "", &o)
	if errors.Is(err, ErrFull) {
		f, err = open(ctx, path, alone, &o)
	}
	return f, err
}

func open(ctx context.Context, path, system string, o *Options) (*File, error) {
	f := &File{path: path, system: system, foldAt: o.FoldAt}
	err := f.claim(ctx, o.Application)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, Explain(err))
	}
	if f.Writer, err = f.connect(o.writer()); err != nil {
		return nil, err
	}
	f.Writer.SetMaxOpenConns(1)
	if err := sqlstore.Migrate(ctx, goose.DialectSQLite3, f.Writer, o.Migrations); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, Explain(err)), f.Writer.Close())
	}

	if f.Reader, err = f.connect(o.reader()); err != nil {
		return nil, errors.Join(err, f.Writer.Close())
	}
	f.Reader.SetMaxOpenConns(readers)
	f.Reader.SetMaxIdleConns(readers)
	if o.FoldEvery == 0 {
		return f, nil
	}
	if f.pace, err = newPace(path, o.FoldEvery); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// makeFile makes an empty file that others cannot read; the log takes its mode
// from it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return f.Close()
}

// connect returns connections to the file.
func (f *File) connect(parameters url.Values) (*sql.DB, error) {
	if f.system != "" {
		parameters.Set("vfs", f.system)
	}
	return connect(f.path, parameters)
}

func connect(path string, parameters url.Values) (*sql.DB, error) {
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + parameters.Encode()
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func parameters(cacheKiB int, more ...string) url.Values {
	return url.Values{
		"_busy_timeout": {strconv.Itoa(patience)},
		"_pragma": append([]string{
			"cache_size(" + strconv.Itoa(-cacheKiB) + ")", "temp_store(memory)", "trusted_schema(off)",
		}, more...),
	}
}

func (o *Options) writer() url.Values {
	limit := logLimit
	if o.FoldEvery > 0 {
		limit = pacedLogLimit
	}
	p := parameters(o.CacheKiB, "foreign_keys(on)", "wal_autocheckpoint(0)",
		"journal_size_limit("+strconv.Itoa(limit)+")")
	p.Set("_journal_mode", "WAL")
	p.Set("_txlock", "immediate")
	p.Set("_synchronous", "NORMAL")
	if o.Durable {
		p.Set("_synchronous", "FULL")
	}
	return p
}

func (o *Options) reader() url.Values {
	p := parameters(o.CacheKiB / 8)
	p.Set("_query_only", "on")
	return p
}

// claim marks a file that is empty as one of our kind, and refuses any other one
// that is not marked so. It does that before write-ahead mode is switched on,
// which changes a file.
func (f *File) claim(ctx context.Context, application int32) error {
	db, err := f.connect(parameters(1024))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = claimWith(ctx, db, application)
	return errors.Join(err, db.Close())
}

func claimWith(ctx context.Context, db *sql.DB, application int32) error {
	var mark int32
	var tables int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&mark); err != nil {
		return err
	}
	if mark == application {
		return nil
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if mark != 0 || tables != 0 {
		return sqlstore.ErrForeign
	}
	_, err := db.ExecContext(ctx, "PRAGMA application_id = "+strconv.Itoa(int(application)))
	return err
}

// Reads returns the connections that read.
func (f *File) Reads() *sql.DB { return f.Reader }

// Patient returns a context that nothing ends: a write takes less than a second,
// and watching for the end of one costs with every statement.
func (f *File) Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithoutCancel(ctx), func() {}
}

// Inserter returns what puts rows into a table. A statement that fails leaves
// what it did so far (OR FAIL), because the transaction undoes it anyway; else
// SQLite would keep notes to undo each statement alone.
func (f *File) Inserter(ctx context.Context, t sqlstore.Table) (sqlstore.Inserter, error) {
	verb := "INSERT OR FAIL INTO "
	if t.Key > 0 {
		verb = "INSERT OR REPLACE INTO "
	}
	return sqlstore.NewStatements(ctx, f.Writer, len(t.Columns), sqlstore.Syntax{
		Into:      verb + t.Name + " (" + strings.Join(t.Columns, ", ") + ") VALUES ",
		Parameter: func(int) string { return "?" },
	})
}

// Write runs do in a transaction of the writer, and keeps the log short.
func (f *File) Write(ctx context.Context, do func(*sql.Tx) error) error {
	if f.pace != nil {
		return f.writePaced(ctx, do)
	}
	if err := sqlstore.Transact(ctx, f.Writer, do); err != nil {
		return f.Wrap(err)
	}
	// It is written: if the log cannot be folded now it grows, that is all, and the
	// next write says what is wrong.
	if size, err := f.LogSize(); err == nil && size >= f.foldAt {
		_ = f.Fold(ctx)
	}
	return nil
}

func (f *File) writePaced(ctx context.Context, do func(*sql.Tx) error) error {
	p := f.pace
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.failed != nil {
		return p.failed
	}
	if err := sqlstore.Transact(ctx, f.Writer, do); err != nil {
		return f.Wrap(err)
	}
	if p.writes++; p.writes >= p.every {
		_ = p.fold(ctx, f.Writer) // it is written: the next write says what is wrong
	} else {
		p.grew()
	}
	return nil
}

// Fold folds the log into the file and gives its space back, unless a reader is
// in the way; then a later call does. At a pace it keeps the space.
func (f *File) Fold(ctx context.Context) error {
	if f.pace != nil {
		f.pace.writing.Lock()
		defer f.pace.writing.Unlock()
		return f.Wrap(f.pace.fold(ctx, f.Writer))
	}
	_, err := f.Writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return f.Wrap(err)
}

// LogSize returns the length of the log in bytes.
func (f *File) LogSize() (int64, error) {
	info, err := os.Stat(f.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Check reads the whole file; ErrDamaged if it is not sound.
func (f *File) Check(ctx context.Context) error {
	var said string
	if err := f.Writer.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return f.Wrap(err)
	}
	if said != "ok" {
		return fmt.Errorf("%s: %w: %s", f.path, sqlstore.ErrDamaged, said)
	}
	return nil
}

// Copy writes a consistent copy to a new file and makes it durable. Writing and
// reading go on beside it.
func (f *File) Copy(ctx context.Context, to string) error {
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	if err := f.copyTo(ctx, to); err != nil {
		return errors.Join(f.Wrap(err), out.Close(), os.Remove(to))
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// Replace puts a file, which nobody has open, in the place of another one, which
// nobody may have open either, and makes that durable.
func Replace(ctx context.Context, path, by string) error {
	if err := idle(ctx, path); err != nil {
		return err
	}
	for _, old := range [...]string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(by, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// idle reports whether somebody has a file open.
func idle(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	p := parameters(1024, "locking_mode(exclusive)")
	p.Set("_busy_timeout", "0")
	db, err := connect(path, p)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err = db.ExecContext(ctx, "BEGIN EXCLUSIVE; ROLLBACK"); err != nil {
		err = fmt.Errorf("%s is in use: %w", path, Explain(err))
	}
	return errors.Join(err, db.Close())
}

// copyTo copies by a connection of its own, which keeps nobody waiting.
func (f *File) copyTo(ctx context.Context, to string) error {
	db, err := f.connect(parameters(1024))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return errors.Join(err, db.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Wrap adds the path to an error of the file, and what it means.
func (f *File) Wrap(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%s: %w", filepath.Base(f.path), Explain(err))
}

// Close folds the log in and closes the file.
func (f *File) Close() error {
	if f.pace == nil {
		return errors.Join(f.Reader.Close(), f.Wrap(f.Writer.Close()))
	}
	f.pace.writing.Lock()
	defer f.pace.writing.Unlock()
	if f.pace.failed != nil {
		return f.pace.failed // to close the writer would remove the log
	}
	return errors.Join(f.Reader.Close(), f.Wrap(f.Writer.Close()), f.pace.close())
}
