package history

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

//go:embed migrations/sqlite/*.sql
var fileMigrations embed.FS

const (
	// application marks the file: "BoHi".
	application = 'B'<<24 | 'o'<<16 | 'H'<<8 | 'i'
	// cacheKiB is the writer's page cache: room for the newest leaves of some ten
	// thousand accounts.
	cacheKiB = 64 << 10
	// foldEvery is the number of writes between folds of the log: enough that a page that
	// changes in many batches is written to the file once, and few enough that a start
	// after a crash reads the log quickly.
	foldEvery = 16
)

// inFile holds the queries of SQLite.
var inFile = kind{
	// The planner would otherwise read all of the account's fills.
	fillsOf: `SELECT ` + fillColumns + ` FROM fills INDEXED BY fills_by_order
		WHERE account = $1 AND order_id IN (SELECT value FROM json_each($2)) ORDER BY ordinal`,
	ids: func(orders []bourse.OrderID) any {
		list, _ := json.Marshal(orders) // numbers cannot fail
		return string(list)
	},
}

func openFile(ctx context.Context, path string) (sqlstore.Database, error) {
	return sqlite.Open(ctx, path, sqlite.Options{
		Application: application, CacheKiB: cacheKiB, FoldEvery: foldEvery, Migrations: fileMigrations,
	})
}
