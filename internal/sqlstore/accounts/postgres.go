package accounts

import (
	"context"
	"embed"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres"
)

//go:embed migrations/postgres/*.sql
var serverMigrations embed.FS

// schema holds the tables.
const schema = "bourse_accounts"

// errAway is what those hear who ask while the server is away.
var errAway = bourse.Errorf(bourse.CodeUnavailable, "Accounts are away; try again later")

// Kind says how accounts are moved.
var Kind = sqlstore.Kind{Schema: schema, File: openFile, Server: openSchema}

func openServer(ctx context.Context, url string) (sqlstore.Database, error) {
	return openSchema(ctx, url, schema)
}

func openSchema(ctx context.Context, url, schema string) (sqlstore.Database, error) {
	files, err := fs.Sub(serverMigrations, "migrations/postgres")
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, url, postgres.Options{Schema: schema, Away: errAway, Migrations: files})
}
