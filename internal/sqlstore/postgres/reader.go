package postgres

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Reader reads a store's schema. It neither creates nor upgrades it.
type Reader struct {
	Options
	reader *sql.DB
	// name is the server and the database, without the password.
	name string
}

// OpenReader returns a Reader of a store. It connects when it is used; o needs no migrations.
func OpenReader(url string, o Options) (*Reader, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	return new(newReader(config, o)), nil
}

func newReader(config *pgx.ConnConfig, o Options) Reader {
	db := connect(config, o.Schema, map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": milliseconds(readWithin),
	})
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return Reader{Options: o, reader: db, name: fmt.Sprintf("%s:%d/%s", config.Host, config.Port, config.Database)}
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// Reads returns the reading connections.
func (r *Reader) Reads() *sql.DB { return r.reader }

// Close closes the connections.
func (r *Reader) Close() error { return r.reader.Close() }
