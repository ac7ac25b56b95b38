package move

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

// ErrAhead reports that the destination has rows that the source does not have.
var ErrAhead = errors.New("the destination has rows that the source does not have")

// batch is the number of rows in one transaction.
const batch = 20_000

// The suffixes of a copy's file or schema until the copy is complete.
const (
	fileAside   = ".moving"
	schemaAside = "_moving"
)

// Report receives the progress of a move.
type Report func(doing, table string, done, total int64)

// Store moves a store from one place to another, and returns the number of rows by table.
func Store(ctx context.Context, kind sqlstore.Kind, from, to string, report Report) (_ map[string]int64, err error) {
	m := mover{kind: kind, to: to, report: report, counts: map[string]int64{}}
	if m.source, err = m.open(ctx, from, ""); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.source.database.Close()) }()
	if m.moment, err = m.source.look(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = m.moment.Rollback() }() // read-only

	if err := m.count(ctx); err != nil {
		return nil, err
	}
	if err := m.spare(ctx); err != nil {
		return nil, err
	}
	if err := m.make(ctx); err != nil {
		return nil, err
	}
	return m.counts, m.install(ctx)
}

// mover is a move.
type mover struct {
	kind   sqlstore.Kind
	to     string
	report Report
	source *side
	// moment is the snapshot of the source.
	moment *sql.Tx
	counts map[string]int64
	done   int64
	total  int64
}

// open opens one of the databases. It must exist, unless aside names a copy.
func (m *mover) open(ctx context.Context, place, aside string) (s *side, err error) {
	s = &side{server: sqlstore.IsURL(place)}
	switch {
	case s.server && aside != "":
		s.database, err = m.kind.Server(ctx, place, m.kind.Schema+schemaAside)
	case s.server:
		s.database, err = m.kind.Server(ctx, place, m.kind.Schema)
	default:
		if _, missing := os.Stat(place); missing != nil && aside == "" {
			return nil, missing
		}
		s.database, err = m.kind.File(ctx, place+aside)
	}

	if err != nil {
		return nil, err
	}
	return s, s.describe(ctx)
}

// count counts the rows of the source.
func (m *mover) count(ctx context.Context) error {
	for _, t := range m.source.tables {
		var n int64
		if err := m.moment.QueryRowContext(ctx, "SELECT count(*) FROM "+t.name).Scan(&n); err != nil {
			return m.source.database.Wrap(err)
		}
		m.counts[t.name] = n
		m.total += n
	}
	return nil
}

// spare refuses a destination with rows that the move would lose.
func (m *mover) spare(ctx context.Context) error {
	if _, err := os.Stat(m.to); !sqlstore.IsURL(m.to) && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	there, err := m.open(ctx, m.to, "")
	if err != nil {
		return err
	}
	err = m.compare(ctx, there, "looking at the destination", func(found compared) error {
		if found == onlyThere {
			return ErrAhead
		}
		return nil
	})
	return errors.Join(err, there.database.Close())
}

// make copies all rows and compares them.
func (m *mover) make(ctx context.Context) (err error) {
	if err := m.clear(ctx); err != nil {
		return err
	}
	copied, err := m.open(ctx, m.to, fileAside)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.database.Close()) }()
	if err := same(m.source, copied); err != nil {
		return err
	}

	m.done = 0
	for i := range copied.tables {
		if err := m.copyTable(ctx, copied, &copied.tables[i]); err != nil {
			return err
		}
	}

	return m.compare(ctx, copied, "verifying", func(found compared) error {
		if found != equal {
			return errors.New("a row of the copy is not that of the source")
		}
		return nil
	})
}

// clear removes the rest of an earlier move.
func (m *mover) clear(ctx context.Context) error {
	if sqlstore.IsURL(m.to) {
		return postgres.Drop(ctx, m.to, m.kind.Schema+schemaAside)
	}
	for _, suffix := range [...]string{"", "-wal", "-shm"} {
		if err := os.Remove(m.to + fileAside + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// install gives the copy its final name.
func (m *mover) install(ctx context.Context) error {
	if sqlstore.IsURL(m.to) {
		return postgres.Replace(ctx, m.to, m.kind.Schema, m.kind.Schema+schemaAside)
	}
	return sqlite.Replace(ctx, m.to, m.to+fileAside)
}

// copyTable copies the rows of a table.
func (m *mover) copyTable(ctx context.Context, to *side, t *table) error {
	rows, err := read(ctx, m.moment, t)
	if err != nil {
		return m.source.database.Wrap(err)
	}
	into, err := to.database.Inserter(ctx, sqlstore.Table{Name: t.name, Columns: t.names()})
	if err != nil {
		return errors.Join(to.database.Wrap(err), rows.rows.Close())
	}

	err = to.database.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM "+t.name) //nolint:gosec // the database's own names
		return err
	})
	for rows.more = true; rows.more && err == nil; {
		err = to.database.Write(ctx, func(tx *sql.Tx) error {
			into.Begin(ctx, tx)
			return m.put(ctx, into, t, rows)
		})
		m.report("copying", t.name, m.done, m.total)
	}

	if err == nil {
		err = to.database.Write(ctx, func(tx *sql.Tx) error { return countOn(ctx, tx, t) })
	}
	return errors.Join(err, rows.rows.Close())
}

// put inserts a batch of rows into a table.
func (m *mover) put(ctx context.Context, into sqlstore.Inserter, t *table, rows *cursor) error {
	for range batch {
		if err := rows.next(); err != nil {
			return m.source.database.Wrap(err)
		}
		if !rows.more {
			break
		}

		for i := range t.columns {
			if n, ok := rows.values[i].(int64); ok && t.columns[i].truth {
				rows.values[i] = n != 0
			}
		}
		if err := into.Add(ctx, rows.values...); err != nil {
			return err
		}
		m.done++
	}
	return into.Flush(ctx)
}

// countOn sets a table's identity sequences above the inserted rows.
func countOn(ctx context.Context, tx *sql.Tx, t *table) error {
	for _, c := range t.columns {
		if !c.counts {
			continue
		}
		//nolint:gosec // the database's own names
		_, err := tx.ExecContext(ctx, "SELECT setval(pg_get_serial_sequence('"+t.name+"', '"+c.name+"'), max("+c.name+
			")) FROM "+t.name+" HAVING max("+c.name+") IS NOT NULL")
		if err != nil {
			return err
		}
	}
	return nil
}
