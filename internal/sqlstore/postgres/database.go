package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

const (
	// readers is how many connections of a store read: with the writer's, and two
	// stores, a fifth of what a server takes by default.
	readers = 8
	// connectWithin bounds the making of a connection, unless the URL says more.
	connectWithin = 5 * time.Second
	// readWithin bounds a query: half of what a request may take.
	readWithin = 5 * time.Second
	// writeWithin bounds a write, which takes less than a second, so that a stop
	// does not wait for a server that fell silent.
	writeWithin = 7 * time.Second
	// lifetime is how long a connection is used, so that a change of addresses
	// behind a name is followed.
	lifetime = 30 * time.Minute
)

// Options say what place a store has.
type Options struct {
	// Schema holds the store's tables.
	Schema string
	// Away is what those hear who ask while the server cannot be asked.
	Away *bourse.Error
	// Migrations holds the numbered SQL files that make the tables.
	Migrations fs.FS
}

// Database is a store's place on a server.
type Database struct {
	Options
	writer, reader *sql.DB
	// name is the server and the database, without the password.
	name string
	// writing is the connection of the transaction that runs. It belongs to whoever
	// has the writer's only connection.
	writing *sql.Conn
}

var _ sqlstore.Database = (*Database)(nil)

// Open opens a place, and makes it if there is none. The errors are those of
// package sqlstore and of the server, with its name in their text.
func Open(ctx context.Context, url string, o Options) (*Database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // it hides the password
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
	d := &Database{Options: o, name: fmt.Sprintf("%s:%d/%s", config.Host, config.Port, config.Database)}
	// A write asks first whether its connection is still there: one that the server
	// has closed is replaced, instead of failing the write.
	asks := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return true })
	d.writer = connect(config, o.Schema, map[string]string{"synchronous_commit": "on"}, asks)
	d.writer.SetMaxOpenConns(1)
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(d.Wrap(err), d.writer.Close())
	}
	d.reader = connect(config, o.Schema, map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": milliseconds(readWithin),
	})
	d.reader.SetMaxOpenConns(readers)
	d.reader.SetMaxIdleConns(readers)
	return d, nil
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

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

// prepare makes the schema and brings its tables up to what this program knows.
func (d *Database) prepare(ctx context.Context) error {
	_, err := d.writer.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+quote(d.Schema))
	if err != nil {
		return err
	}
	return sqlstore.Migrate(ctx, goose.DialectPostgres, d.writer, d.Migrations)
}

// Reads returns the connections that read.
func (d *Database) Reads() *sql.DB { return d.reader }

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

// Close lets go of the connections.
func (d *Database) Close() error { return errors.Join(d.reader.Close(), d.writer.Close()) }

// Drop removes a schema with all that is in it.
func Drop(ctx context.Context, url, schema string) error {
	return transact(ctx, url, "DROP SCHEMA IF EXISTS "+quote(schema)+" CASCADE")
}

// Replace puts a schema in the place of another one.
func Replace(ctx context.Context, url, schema, by string) error {
	return transact(ctx, url, "DROP SCHEMA IF EXISTS "+quote(schema)+" CASCADE",
		"ALTER SCHEMA "+quote(by)+" RENAME TO "+quote(schema))
}

// transact runs statements in one transaction on a connection of their own.
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
