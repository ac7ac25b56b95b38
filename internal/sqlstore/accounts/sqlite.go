package accounts

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

//go:embed migrations/sqlite/*.sql
var fileMigrations embed.FS

// application marks the file: "BoAc".
const application = 'B'<<24 | 'o'<<16 | 'A'<<8 | 'c'

// foldAt is how long the log may become before it is folded into the file, in
// bytes.
const foldAt = 4 << 20

// openFile opens a file, and checks all of it.
func openFile(ctx context.Context, path string) (sqlstore.Database, error) {
	return checked(ctx, path)
}

func checked(ctx context.Context, path string) (*sqlite.File, error) {
	files, err := fs.Sub(fileMigrations, "migrations/sqlite")
	if err != nil {
		return nil, err
	}
	f, err := sqlite.Open(ctx, path, sqlite.Options{
		Application: application, Durable: true, CacheKiB: 4096, FoldAt: foldAt, Migrations: files,
	})
	if err != nil {
		return nil, err
	}
	if err := f.Check(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Backup writes a consistent, durable copy of a store in a file to a new file.
func Backup(ctx context.Context, from, to string) error {
	f, err := checked(ctx, from)
	if err != nil {
		return err
	}
	return errors.Join(f.Copy(ctx, to), f.Close())
}
