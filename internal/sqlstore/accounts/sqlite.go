package accounts

import (
	"context"
	"embed"
	"errors"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

//go:embed migrations/sqlite/*.sql
var fileMigrations embed.FS

// application marks the file: "BoAc".
const application = 'B'<<24 | 'o'<<16 | 'A'<<8 | 'c'

// foldAt is the length of the log, in bytes, at which it is folded into the file.
const foldAt = 4 << 20

// openFile opens and fully checks a file.
func openFile(ctx context.Context, path string) (sqlstore.Database, error) {
	f, err := sqlite.Open(ctx, path, sqlite.Options{
		Application: application, Durable: true, CacheKiB: 4096, FoldAt: foldAt, Migrations: fileMigrations,
	})
	if err != nil {
		return nil, err
	}
	if err := f.Check(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Backup writes a consistent, durable copy of a file store to a new file. It does not upgrade the
// tables: the program that serves from them may be an older one.
func Backup(ctx context.Context, from, to string) error {
	return sqlite.Backup(ctx, from, to, application)
}
