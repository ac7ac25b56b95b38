package sqlstore

import (
	"context"
	"database/sql"
	"strings"
)

// sizes are how many rows a statement takes: calls cost more than rows. The last
// is one, so that any number of rows is a sum of them.
var sizes = [...]int{64, 8, 1}

// Statements is an Inserter that puts many rows with each statement.
type Statements struct {
	columns int
	// statements take sizes rows each; bound are those of the transaction.
	statements, bound [len(sizes)]*sql.Stmt
	// values are the columns of the rows that wait, row by row.
	values []any
}

// Syntax is how a kind of database writes a statement that inserts.
type Syntax struct {
	// Into is what stands before the rows, After what stands behind them.
	Into, After string
	// Parameter writes the parameter with a number from one.
	Parameter func(n int) string
}

// NewStatements prepares statements for rows with some columns.
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

// Begin begins a transaction's rows.
func (i *Statements) Begin(ctx context.Context, tx *sql.Tx) {
	clear(i.values)
	i.values = i.values[:0]
	for at := range sizes {
		i.bound[at] = tx.StmtContext(ctx, i.statements[at]) // it is closed with the transaction
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

// Flush puts the rows that wait into the table.
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
