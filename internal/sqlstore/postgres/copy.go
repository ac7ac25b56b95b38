package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// Inserter returns an Inserter for a table. It uses COPY, unless rows may be replaced.
func (d *Database) Inserter(ctx context.Context, t sqlstore.Table) (sqlstore.Inserter, error) {
	if t.Key == 0 {
		return d.copier(ctx, t)
	}
	set := make([]string, 0, len(t.Columns))
	for _, name := range t.Columns[t.Key:] {
		set = append(set, name+" = excluded."+name)
	}
	return sqlstore.NewStatements(ctx, d.writer, len(t.Columns), sqlstore.Syntax{
		Into: "INSERT INTO " + t.Name + " (" + strings.Join(t.Columns, ", ") + ") VALUES ",
		After: " ON CONFLICT (" + strings.Join(t.Columns[:t.Key], ", ") + ") DO UPDATE SET " +
			strings.Join(set, ", "),
		Parameter: func(n int) string { return "$" + strconv.Itoa(n) },
	})
}

// copier inserts rows by COPY. Rows are encoded when they are added, since the driver's
// look-up of an encoding for each value costs more than encoding it.
type copier struct {
	database *Database
	// statement is the COPY statement, types are the types of its columns.
	statement string
	types     []uint32
	// encoded holds copyBegins and the pending rows; it is empty if there are none.
	encoded []byte
}

// The header and trailer of a binary COPY (PostgreSQL's manual, "Binary Format").
const (
	copyBegins = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyEnds   = "\xff\xff"
)

// copier returns the copier of a table. It reads the column types from the server.
func (d *Database) copier(ctx context.Context, t sqlstore.Table) (*copier, error) {
	columns := strings.Join(t.Columns, ", ")
	c := &copier{
		database: d, statement: "COPY " + quote(t.Name) + " (" + columns + ") FROM STDIN BINARY",
		types: make([]uint32, len(t.Columns)),
	}

	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // back to the pool
	return c, onServer(conn, func(pg *pgx.Conn) error {
		described, err := pg.Prepare(ctx, "", "SELECT "+columns+" FROM "+quote(t.Name))
		if err != nil {
			return err
		}
		for i := range c.types {
			c.types[i] = described.Fields[i].DataTypeOID
		}
		return nil
	})
}

// onServer runs do with the driver's connection of conn.
func onServer(conn *sql.Conn, do func(*pgx.Conn) error) error {
	return conn.Raw(func(behind any) error {
		pg, ok := behind.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("%T is no connection to PostgreSQL", behind)
		}
		return do(pg.Conn())
	})
}

// Begin starts a transaction's rows.
func (c *copier) Begin(context.Context, *sql.Tx) { c.encoded = c.encoded[:0] }

// Add adds a row, which is in the table after Flush.
func (c *copier) Add(_ context.Context, values ...any) error {
	if len(values) != len(c.types) {
		return fmt.Errorf("%d values for %d columns", len(values), len(c.types))
	}
	b := c.encoded
	if len(b) == 0 {
		b = append(b, copyBegins...)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(values)))
	var err error
	for i, v := range values {
		if b, err = appendValue(b, c.types[i], v); err != nil {
			return fmt.Errorf("%s: column %d: %w", c.statement, i+1, err)
		}
	}
	c.encoded = b
	return nil
}

// appendValue appends a value in COPY's form: its length and its bytes.
func appendValue(b []byte, column uint32, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, 0xff, 0xff, 0xff, 0xff), nil
	case int64:
		return appendInteger(b, column, v)
	case string:
		if column == pgtype.TextOID {
			text := clean(v)
			return append(appendLength(b, len(text)), text...), nil
		}
	case []byte:
		if column == pgtype.ByteaOID {
			return append(appendLength(b, len(v)), v...), nil
		}
	case bool:
		if column == pgtype.BoolOID {
			truth := byte(0)
			if v {
				truth = 1
			}
			return append(appendLength(b, 1), truth), nil
		}
	}

	return nil, fmt.Errorf("a %T does not go into type %d", value, column)
}

func appendLength(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func appendInteger(b []byte, column uint32, v int64) ([]byte, error) {
	switch {
	case column == pgtype.Int8OID:
		return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v)), nil
	case column == pgtype.Int4OID && v == int64(int32(v)):
		return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(v)), nil
	case column == pgtype.Int2OID && v == int64(int16(v)):
		return binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(v)), nil
	}
	return nil, fmt.Errorf("%d does not go into type %d", v, column)
}

// clean returns a text without zero bytes and in valid UTF-8, as a column requires.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Flush copies the pending rows.
func (c *copier) Flush(ctx context.Context) error {
	if len(c.encoded) == 0 {
		return nil
	}
	rows := append(c.encoded, copyEnds...)
	c.encoded = rows[:0]
	return onServer(c.database.writing, func(pg *pgx.Conn) error {
		_, err := pg.PgConn().CopyFrom(ctx, bytes.NewReader(rows), c.statement)
		return err
	})
}
