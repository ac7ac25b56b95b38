package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

const (
	// readers is the number of reading connections of a store: with the writer's, and two
	// stores, a fifth of a server's default limit.
	readers = 8
	// connectWithin bounds connecting, unless the URL has a timeout.
	connectWithin = 5 * time.Second
	// readWithin bounds a query: half of a request's time limit.
	readWithin = 5 * time.Second
	// writeWithin bounds a write, which usually takes less than a second, so that a stop
	// does not wait for a silent server.
	writeWithin = 7 * time.Second
	// lifetime bounds the use of a connection, so that a DNS change takes effect.
	lifetime = 30 * time.Minute
)

// Options describe a store's database.
type Options struct {
	// Schema holds the store's tables.
	Schema string
	// Away is a client's answer while the server is unavailable.
	Away *bourse.Error
	// Idle is the time for which a write may leave the server without a statement before the server ends it, with its locks; zero for
	// the server's default.
	Idle time.Duration
	// Migrations holds the numbered SQL files that create the tables, in
	// migrations/postgres.
	Migrations fs.FS
}

// Database is a store's database on a server.
type Database struct {
	Reader
	writer *sql.DB
	// writing is the connection of the current transaction. It is owned by the holder of
	// the writer's only connection.
	writing *sql.Conn
}

var _ sqlstore.Database = (*Database)(nil)

// Open opens a store's schema, and creates it if missing. The errors are those of package
// sqlstore and of the server, with its name in their text.
func Open(ctx context.Context, url string, o Options) (*Database, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}

	d := &Database{Reader: newReader(config, o)}
	// A write first pings its connection: one that the server has closed is replaced,
	// instead of failing the write.
	asks := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return true })
	parameters := map[string]string{"synchronous_commit": "on"}
	if o.Idle > 0 {
		parameters["idle_in_transaction_session_timeout"] = strconv.FormatInt(o.Idle.Milliseconds(), 10)
	}
	d.writer = connect(config, o.Schema, parameters, asks)
	d.writer.SetMaxOpenConns(1)
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(d.Wrap(err), d.Close())
	}
	return d, nil
}

// parse reads the URL of a server. The error hides the password.
func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err == nil && config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
	return config, err
}

// connect returns connections to a schema.
func connect(config *pgx.ConnConfig, schema string, parameters map[string]string, o ...stdlib.OptionOpenDB) *sql.DB {
	c := config.Copy()
	c.RuntimeParams["search_path"] = schema
	c.RuntimeParams["application_name"] = "bourse"
	c.RuntimeParams["timezone"] = "UTC"
	for name, value := range parameters {
		c.RuntimeParams[name] = value
	}
	db := stdlib.OpenDB(*c, o...)
	db.SetConnMaxLifetime(lifetime)
	return db
}

// prepare creates the schema and migrates its tables.
func (d *Database) prepare(ctx context.Context) error {
	_, err := d.writer.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+quote(d.Schema))
	if err != nil {
		return err
	}
	return sqlstore.Migrate(ctx, goose.DialectPostgres, d.writer, d.Migrations, "migrations/postgres")
}

// Patient returns a context for one write.
func (d *Database) Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), writeWithin)
}

// Write runs do in a transaction.
func (d *Database) Write(ctx context.Context, do func(*sql.Tx) error) error {
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return d.Wrap(err)
	}
	defer func() { _ = conn.Close() }() // back to the pool
	d.writing = conn
	return d.Wrap(sqlstore.Transact(ctx, conn, do))
}

// Close closes the connections.
func (d *Database) Close() error { return errors.Join(d.Reader.Close(), d.writer.Close()) }

// Drop removes a schema with its contents.
func Drop(ctx context.Context, url, schema string) error {
	return transact(ctx, url, "DROP SCHEMA IF EXISTS "+quote(schema)+" CASCADE")
}

// Replace replaces a schema by another one.
func Replace(ctx context.Context, url, schema, by string) error {
	return transact(ctx, url, "DROP SCHEMA IF EXISTS "+quote(schema)+" CASCADE",
		"ALTER SCHEMA "+quote(by)+" RENAME TO "+quote(schema))
}

// transact runs statements in one transaction on a separate connection.
func transact(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, conn.Close(ctx))
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
