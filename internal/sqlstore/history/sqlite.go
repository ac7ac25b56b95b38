package history

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

//go:embed migrations/sqlite/*.sql
var fileMigrations embed.FS

const (
	// application marks the file: "BoHi".
	application = 'B'<<24 | 'o'<<16 | 'H'<<8 | 'i'
	// cacheKiB is the writer's page cache: enough for the newest leaves of each
	// of some ten thousand accounts.
	cacheKiB = 64 << 10
	// foldEvery is after how many writes the log is folded into the file: so seldom
	// that a page that changes in many batches is written to the file once, and so
	// often that the log is read quickly by the start after a crash.
	foldEvery = 16
)

// inFile is what SQLite does in its own way.
var inFile = kind{
	// The planner would rather read all of the account's fills.
	fillsOf: `SELECT ` + fillColumns + ` FROM fills INDEXED BY fills_by_order
		WHERE account = $1 AND order_id IN (SELECT value FROM json_each($2)) ORDER BY ordinal`,
	ids: func(orders []bourse.OrderID) any {
		list, _ := json.Marshal(orders) // numbers cannot fail
		return string(list)
	},
}

func openFile(ctx context.Context, path string) (sqlstore.Database, error) {
	files, err := fs.Sub(fileMigrations, "migrations/sqlite")
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, path, sqlite.Options{
		Application: application, CacheKiB: cacheKiB, FoldEvery: foldEvery, Migrations: files,
	})
}
