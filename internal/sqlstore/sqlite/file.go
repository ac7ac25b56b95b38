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
	// patience is the wait of a statement for another connection's lock, in milliseconds.
	patience = 5000
	// logLimit is the size to which the log's file is cut after a fold, in bytes;
	// pacedLogLimit applies to a paced fold.
	logLimit      = 4 << 20
	pacedLogLimit = 512 << 20
	// logSuffix is the suffix of the log's file name.
	logSuffix = "-wal"
	// readers is the number of reading connections. More would wait for each other, since
	// answers come from the page cache.
	readers = 4
	// alone is the SQLite VFS that keeps the index of the log in memory: the index takes
	// no disk space, and no other process may open the database meanwhile.
	alone = "unix-excl"
)

// Options describe a file's kind and upkeep.
type Options struct {
	// Application marks files of this kind (SQLite's application_id).
	Application int32
	// Durable makes every transaction durable before its commit returns. Without it a
	// crash can lose the newest transactions, and nothing else.
	Durable bool
	// CacheKiB is the page cache of the writer; each reader has an eighth.
	CacheKiB int
	// FoldAt is the length of the log, in bytes, at which it is folded into the file.
	FoldAt int64
	// FoldEvery, in place of FoldAt, is the number of writes between paced folds. It
	// suits a file with many writes, written only by this File, and not Durable.
	FoldEvery int
	// Migrations holds the numbered SQL files that create the tables, in migrations/sqlite.
	Migrations fs.FS
}

// File is an open database file.
type File struct {
	// Writer has one connection, Reader has several read-only ones.
	Writer, Reader *sql.DB
	path           string
	// system is the SQLite VFS of the file; empty for the default.
	system string
	folder folder
}

var _ sqlstore.Database = (*File)(nil)

// Open opens a file, and creates it if missing. On a disk without space for the index of
// the log it keeps other processes out until Close. The errors are those of package
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
	f := &File{path: path, system: system}
	err := f.claim(ctx, o.Application)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, Explain(err))
	}
	if f.Writer, err = f.connect(o.writer()); err != nil {
		return nil, err
	}
	f.Writer.SetMaxOpenConns(1)
	f.folder = &checkpoints{writer: f.Writer, log: path + logSuffix, at: o.FoldAt}
	if err := sqlstore.Migrate(ctx, goose.DialectSQLite3, f.Writer, o.Migrations, "migrations/sqlite"); err != nil {
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
	p, err := newPace(path, f.Writer, o.FoldEvery)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.folder = p
	return f, nil
}

// makeFile creates an empty file that other users cannot read. The log inherits its mode.
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

// claim marks an empty file with the application id, and refuses any other file without
// it. It runs before write-ahead mode is switched on, which changes a file.
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

// Reads returns the reading connections.
func (f *File) Reads() *sql.DB { return f.Reader }

// Patient returns a context without end: a write takes less than a second, and a context
// with an end costs time in every statement.
func (f *File) Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithoutCancel(ctx), func() {}
}

// Inserter returns an Inserter for a table. A failed statement keeps its partial effect
// (OR FAIL), because the transaction undoes it anyway; otherwise SQLite would keep a
// journal for each statement.
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

// Write runs do in a transaction of the writer, and folds the log if it is due.
func (f *File) Write(ctx context.Context, do func(*sql.Tx) error) error {
	return f.folder.write(ctx, func() error { return f.Wrap(sqlstore.Transact(ctx, f.Writer, do)) })
}

// Fold folds the log into the file and returns its space, unless a reader prevents it;
// then a later call does. A paced fold keeps the space.
func (f *File) Fold(ctx context.Context) error { return f.Wrap(f.folder.fold(ctx)) }

// LogSize returns the length of the log in bytes.
func (f *File) LogSize() (int64, error) {
	info, err := os.Stat(f.path + logSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Check reads the whole file and returns ErrDamaged if it is damaged.
func (f *File) Check(ctx context.Context) error { return f.checkBy(ctx, f.Writer) }

func (f *File) checkBy(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return f.Wrap(err)
	}
	if said != "ok" {
		return fmt.Errorf("%s: %w: %s", f.path, sqlstore.ErrDamaged, said)
	}
	return nil
}

// Replace replaces a file by another one and makes that durable. Neither may be open.
func Replace(ctx context.Context, path, by string) error {
	if err := idle(ctx, path); err != nil {
		return err
	}
	for _, old := range [...]string{path, path + logSuffix, path + "-shm"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(by, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// idle returns an error if a file is open elsewhere.
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

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Wrap adds the path to an error of the file, and its class.
func (f *File) Wrap(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%s: %w", filepath.Base(f.path), Explain(err))
}

// Close folds the log and closes the file.
func (f *File) Close() error {
	return f.folder.close(func() error { return errors.Join(f.Reader.Close(), f.Wrap(f.Writer.Close())) })
}
