package sqlstore

import (
	"context"
	"database/sql"
	"strings"
)

// sizes are the numbers of rows in a statement: calls cost more than rows. The last is
// one, so that any number of rows is a sum of them.
var sizes = [...]int{64, 8, 1}

// Statements is an Inserter that inserts many rows with each statement.
type Statements struct {
	columns int
	// statements[i] takes sizes[i] rows. bound are the statements bound to the
	// transaction.
	statements, bound [len(sizes)]*sql.Stmt
	// values holds the columns of the pending rows, row by row.
	values []any
}

// Syntax is a database's syntax of an insertion.
type Syntax struct {
	// Into precedes the rows, After follows them.
	Into, After string
	// Parameter returns the parameter of a number, from one.
	Parameter func(n int) string
}

// NewStatements prepares statements for rows of columns columns.
func NewStatements(ctx context.Context, db *sql.DB, columns int, s Syntax) (*Statements, error) {
	i := &Statements{columns: columns}
	for at, size := range sizes {
		//nolint:sqlclosecheck // it is closed with the database
		stmt, err := db.PrepareContext(ctx, s.statement(size, columns))
		if err != nil {
			return nil, err
		}
		i.statements[at] = stmt
	}
	return i, nil
}

func (s *Syntax) statement(rows, columns int) string {
	var b strings.Builder
	b.WriteString(s.Into)
	for n := range rows * columns {
		switch {
		case n == 0:
			b.WriteString("(")
		case n%columns == 0:
			b.WriteString("),(")
		default:
			b.WriteString(",")
		}
		b.WriteString(s.Parameter(n + 1))
	}
	b.WriteString(")")
	b.WriteString(s.After)
	return b.String()
}

// Begin starts a transaction's rows.
func (i *Statements) Begin(ctx context.Context, tx *sql.Tx) {
	clear(i.values)
	i.values = i.values[:0]
	for at := range sizes {
		i.bound[at] = tx.StmtContext(ctx, i.statements[at]) // closed with the transaction
	}
}

// Add adds a row, which is in the table after Flush.
func (i *Statements) Add(ctx context.Context, values ...any) error {
	i.values = append(i.values, values...)
	if len(i.values) < sizes[0]*i.columns {
		return nil
	}
	return i.Flush(ctx)
}

// Flush inserts the pending rows into the table.
func (i *Statements) Flush(ctx context.Context) error {
	rest := i.values
	for at, size := range sizes {
		n := size * i.columns
		for len(rest) >= n {
			if _, err := i.bound[at].ExecContext(ctx, rest[:n]...); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	clear(i.values)
	i.values = i.values[:0]
	return nil
}
