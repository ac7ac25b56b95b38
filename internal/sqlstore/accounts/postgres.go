package accounts

import (
	"context"
	"embed"
	"time"

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

// idleWithin is less than a takeover waits for the fence, whose row a write has locked.
const idleWithin = 5 * time.Second

// openServer opens the accounts of an exchange. A process that freezes, or whose machine is lost, in a write keeps the next one out for
// idleWithin, and not until it is back.
func openServer(ctx context.Context, url string) (sqlstore.Database, error) {
	o := options(schema)
	o.Idle = idleWithin
	return postgres.Open(ctx, url, o)
}

// openSchema opens accounts for a move, which may leave the server alone while it reads elsewhere.
func openSchema(ctx context.Context, url, schema string) (sqlstore.Database, error) {
	return postgres.Open(ctx, url, options(schema))
}

func options(schema string) postgres.Options {
	return postgres.Options{Schema: schema, Away: errAway, Migrations: serverMigrations}
}
