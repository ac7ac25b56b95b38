package history

import (
	"context"
	"database/sql"
	"strings"
)

// sizes are how many rows a statement takes: calls cost more than rows. The last
// is one, so that any number of rows is a sum of them.
var sizes = [...]int{64, 8, 1}

// insert puts rows into one table.
type insert struct {
	columns int
	// statements take sizes rows each; bound are those of the transaction.
	statements, bound [len(sizes)]*sql.Stmt
	// values are the columns of the rows that wait, row by row.
	values []any
}

func (i *insert) prepare(ctx context.Context, db *sql.DB, into string, columns int) (err error) {
	i.columns = columns
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	for at, size := range sizes {
		statement := into + row + strings.Repeat(","+row, size-1) //nolint:gosec // both are constants of this package
		//nolint:sqlclosecheck // it is closed with the database
		if i.statements[at], err = db.PrepareContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a transaction's rows.
func (i *insert) begin(ctx context.Context, tx *sql.Tx) {
	clear(i.values)
	i.values = i.values[:0]
	for at := range sizes {
		i.bound[at] = tx.StmtContext(ctx, i.statements[at]) // it is closed with the transaction
	}
}

// add adds a row, which is in the table after flush.
func (i *insert) add(ctx context.Context, values ...any) error {
	i.values = append(i.values, values...)
	if len(i.values) < sizes[0]*i.columns {
		return nil
	}
	return i.flush(ctx)
}

// flush puts the rows that wait into the table.
func (i *insert) flush(ctx context.Context) error {
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
