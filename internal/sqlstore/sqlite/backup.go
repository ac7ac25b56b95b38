package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// Backup checks a file of a kind, and writes a consistent, durable copy of it to a new file. It
// changes nothing in the file, which writers and readers may have open.
func Backup(ctx context.Context, path, to string, application int32) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}

	f := &File{path: path}
	err = f.verify(ctx, application)
	if errors.Is(err, ErrFull) { // no space for the index of the log
		f.system = alone
		err = f.verify(ctx, application)
	}
	if err != nil {
		return err
	}
	return f.copyOut(ctx, to)
}

// verify returns an error unless a file is whole and of a kind.
func (f *File) verify(ctx context.Context, application int32) (err error) {
	db, err := f.connect(parameters(1024))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)

	var mark int32
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&mark); err != nil {
		return f.Wrap(err)
	}
	if mark != application {
		return f.Wrap(sqlstore.ErrForeign)
	}
	return f.checkBy(ctx, db)
}

// copyOut writes a consistent copy to a new file and makes it durable.
func (f *File) copyOut(ctx context.Context, to string) error {
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

// copyTo copies on a connection of its own, so that no writer or reader waits.
func (f *File) copyTo(ctx context.Context, to string) error {
	db, err := f.connect(parameters(1024))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return errors.Join(err, db.Close())
}
