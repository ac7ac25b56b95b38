package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// side is one of the two databases.
type side struct {
	database sqlstore.Database
	server   bool
	tables   []table
}

// table is a table of a database's schema.
type table struct {
	name    string
	columns []column
	// key lists the columns of the primary key, which is the order of reading.
	key []string
}

type column struct {
	name string
	// truth is true for a boolean column.
	truth bool
	// counts is true for an identity column.
	counts bool
}

// The queries of a database's schema: table, column, position in the key or 0, whether it
// is boolean, whether it is an identity.
const (
	describeFile = `SELECT m.name, c.name, c.pk, 0, 0 FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'goose_db_version'
		ORDER BY m.name, c.name`
	describeServer = `SELECT c.table_name, c.column_name, coalesce(k.ordinal_position, 0),
			(c.data_type = 'boolean')::int, (c.is_identity = 'YES')::int
		FROM information_schema.columns c
		JOIN information_schema.tables t USING (table_schema, table_name)
		LEFT JOIN information_schema.table_constraints p ON p.table_schema = c.table_schema
			AND p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
		LEFT JOIN information_schema.key_column_usage k ON k.constraint_schema = p.constraint_schema
			AND k.constraint_name = p.constraint_name AND k.column_name = c.column_name
		WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.table_name <> 'goose_db_version'
		ORDER BY c.table_name COLLATE "C", c.column_name COLLATE "C"`
)

// describe reads the schema of a database.
func (s *side) describe(ctx context.Context) (err error) {
	query := describeFile
	if s.server {
		query = describeServer
	}
	rows, err := s.database.Reads().QueryContext(ctx, query)
	if err != nil {
		return s.database.Wrap(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()

	for rows.Next() {
		var name string
		var c column
		var place int
		if err := rows.Scan(&name, &c.name, &place, &c.truth, &c.counts); err != nil {
			return err
		}
		if n := len(s.tables); n == 0 || s.tables[n-1].name != name {
			s.tables = append(s.tables, table{name: name})
		}
		s.tables[len(s.tables)-1].add(c, place)
	}
	return s.database.Wrap(rows.Err())
}

// add adds a column with its position in the key, or zero.
func (t *table) add(c column, place int) {
	t.columns = append(t.columns, c)
	if place > 0 {
		t.key = append(t.key, make([]string, max(0, place-len(t.key)))...)
		t.key[place-1] = c.name
	}
}

// names returns the names of a table's columns.
func (t *table) names() []string {
	list := make([]string, len(t.columns))
	for i, c := range t.columns {
		list[i] = c.name
	}
	return list
}

// query selects all rows of a table in the order of its key.
func (t *table) query() string {
	return "SELECT " + strings.Join(t.names(), ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(t.key, ", ")
}

// same returns an error unless two databases have the same tables.
func same(a, b *side) error {
	for i := range max(len(a.tables), len(b.tables)) {
		if i >= len(a.tables) || i >= len(b.tables) || fmt.Sprint(a.tables[i].name, a.tables[i].names(),
			a.tables[i].key) !=
			fmt.Sprint(b.tables[i].name, b.tables[i].names(), b.tables[i].key) {
			return fmt.Errorf("the two databases do not have the same tables")
		}
	}
	return nil
}

// look begins a transaction with a snapshot.
func (s *side) look(ctx context.Context) (*sql.Tx, error) {
	if !s.server {
		tx, err := s.database.Reads().BeginTx(ctx, nil)
		return tx, s.database.Wrap(err)
	}
	tx, err := s.database.Reads().BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err == nil {
		_, err = tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0")
	}
	return tx, s.database.Wrap(err)
}

// cursor reads the rows of a table one by one.
type cursor struct {
	rows *sql.Rows
	// values is the current row while more is true: int64, string, []byte or nil.
	values []any
	more   bool
	into   []any
}

func read(ctx context.Context, tx *sql.Tx, t *table) (*cursor, error) {
	rows, err := tx.QueryContext(ctx, t.query()) //nolint:rowserrcheck // next does
	if err != nil {
		return nil, err
	}
	c := &cursor{rows: rows, values: make([]any, len(t.columns)), into: make([]any, len(t.columns))}
	for i := range c.values {
		c.into[i] = &c.values[i]
	}
	return c, nil
}

// next reads a row.
func (c *cursor) next() error {
	if c.more = c.rows.Next(); !c.more {
		return errors.Join(c.rows.Err(), c.rows.Close())
	}
	if err := c.rows.Scan(c.into...); err != nil {
		return err
	}
	for i, v := range c.values {
		if truth, ok := v.(bool); ok {
			c.values[i] = int64(0)
			if truth {
				c.values[i] = int64(1)
			}
		}
	}
	return nil
}
