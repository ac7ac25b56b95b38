package accounts

import (
	"context"
	"embed"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres"
)

//go:embed migrations/postgres/*.sql
var serverMigrations embed.FS

// schema holds the tables.
const schema = "bourse_accounts"

// errAway is a client's answer while the server is unavailable.
var errAway = bourse.Errorf(bourse.CodeUnavailable, "Accounts are away; try again later")

// Kind opens the accounts' databases for a move.
var Kind = sqlstore.Kind{Schema: schema, File: openFile, Server: openSchema}

func openServer(ctx context.Context, url string) (sqlstore.Database, error) {
	return openSchema(ctx, url, schema)
}

func openSchema(ctx context.Context, url, schema string) (sqlstore.Database, error) {
	return postgres.Open(ctx, url, postgres.Options{Schema: schema, Away: errAway, Migrations: serverMigrations})
}
