package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsDuplicate reports whether an error is a violation of a unique key.
func (d *Database) IsDuplicate(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505" // unique_violation
}

// Wrap adds the server's name to an error, and the store's answer to clients if the
// server is unavailable.
func (r *Reader) Wrap(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.Is(err, context.Canceled) {
		return err
	}
	if away(err) {
		return fmt.Errorf("%w: PostgreSQL at %s: %w", r.Away, r.name, err)
	}
	return fmt.Errorf("PostgreSQL at %s: %w", r.name, err)
}

// away reports whether an error means an unavailable server: no connection, no resources,
// shutting down, too slow, or read-only.
func away(err error) bool {
	var refused *pgconn.PgError
	var network net.Error
	switch {
	case errors.As(err, new(*pgconn.ConnectError)), errors.As(err, &network), pgconn.SafeToRetry(err):
		return true
	case errors.As(err, &refused):
		switch refused.Code[:2] {
		case "08", "53", "57": // connections, resources, operator intervention
			return true
		}
		return refused.Code == "25006" // read_only_sql_transaction: another server is the primary now
	}
	for _, lost := range [...]error{io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, sql.ErrConnDone,
		context.DeadlineExceeded} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}
