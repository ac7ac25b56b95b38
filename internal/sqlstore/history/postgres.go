package history

import (
	"context"
	"embed"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres"
)

//go:embed migrations/postgres/*.sql
var serverMigrations embed.FS

// Schema holds the tables and the views for readers.
const Schema = "bourse_history"

// errAway is a client's answer while the server is unavailable.
var errAway = bourse.Errorf(bourse.CodeUnavailable, "History is away")

// onServer holds the queries of PostgreSQL.
var onServer = kind{
	// The planner would otherwise read all of the account's fills.
	fillsOf: `WITH asked AS MATERIALIZED (SELECT ` + fillColumns + ` FROM fills WHERE order_id = ANY($2))
		SELECT ` + fillColumns + ` FROM asked WHERE account = $1 ORDER BY ordinal`,
	ids: func(orders []bourse.OrderID) any {
		list := make([]int64, len(orders))
		for i, id := range orders {
			list[i] = integer(id)
		}
		return list
	},
}

func openServer(ctx context.Context, url string) (sqlstore.Database, error) {
	return openSchema(ctx, url, Schema)
}

func openSchema(ctx context.Context, url, schema string) (sqlstore.Database, error) {
	return postgres.Open(ctx, url, postgres.Options{Schema: schema, Away: errAway, Migrations: serverMigrations})
}

// Kind opens the history's databases for a move.
var Kind = sqlstore.Kind{Schema: Schema, File: openFile, Server: openSchema}

// Drop removes the store at a URL.
func Drop(ctx context.Context, url string) error { return postgres.Drop(ctx, url, Schema) }
