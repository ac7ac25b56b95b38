package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// Inserter returns what puts rows into a table: by COPY, unless they may take the
// place of others.
func (d *Database) Inserter(ctx context.Context, t sqlstore.Table) (sqlstore.Inserter, error) {
	if t.Key == 0 {
		return &copier{database: d, table: pgx.Identifier{t.Name}, columns: t.Columns}, nil
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

// copier puts rows into a table by COPY.
type copier struct {
	database *Database
	table    pgx.Identifier
	columns  []string
	// values are the columns of the rows that wait, row by row.
	values []any
}

// Begin begins a transaction's rows.
func (c *copier) Begin(context.Context, *sql.Tx) {
	clear(c.values)
	c.values = c.values[:0]
}

// Add adds a row, which is in the table after Flush.
func (c *copier) Add(_ context.Context, values ...any) error {
	for _, v := range values {
		if text, ok := v.(string); ok {
			v = clean(text)
		}
		c.values = append(c.values, v)
	}
	return nil
}

// clean returns a text as a column can hold it: without zero bytes, and in UTF-8.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Flush copies the rows that wait.
func (c *copier) Flush(ctx context.Context) error {
	n := len(c.columns)
	rows := len(c.values) / n
	if rows == 0 {
		return nil
	}
	source := pgx.CopyFromSlice(rows, func(i int) ([]any, error) { return c.values[i*n : (i+1)*n], nil })
	err := c.database.writing.Raw(func(conn any) error {
		pg, ok := conn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("%T is no connection to PostgreSQL", conn)
		}
		_, err := pg.Conn().CopyFrom(ctx, c.table, c.columns, source)
		return err
	})
	clear(c.values)
	c.values = c.values[:0]
	return err
}
