package history_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

func open(t *testing.T, path string) *sqlhistory.Store {
	t.Helper()
	s, err := sqlhistory.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) { postgrestest.Main(m) }

// places are where a store can be, by the kind of database.
var places = postgrestest.Places(func(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "a ?#%7e name", "history.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
})

func TestContract(t *testing.T) {
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			historytest.Run(t, func(t *testing.T) func() history.Store {
				at := place(t)
				return func() history.Store { return open(t, at) }
			})
		})
	}
}

// TestOpenRefuses opens files that are not a history of ours.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want error
	}{
		"text": {func(t *testing.T, path string) {
			put(t, path, []byte(strings.Repeat("This is no database. ", 100)))
		}, sqlstore.ErrForeign},
		"another program's database": {func(t *testing.T, path string) {
			change(t, path, `CREATE TABLE people (name TEXT)`)
		}, sqlstore.ErrForeign},
		"a newer program's history": {func(t *testing.T, path string) {
			closed(t, open(t, path))
			change(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
		}, sqlstore.ErrNewer},
		"an older program's history": {func(t *testing.T, path string) {
			closed(t, open(t, path))
			change(t, path, `UPDATE goose_db_version SET version_id = 4 WHERE version_id <> 0`)
		}, sqlstore.ErrOlder},
		"a damaged history": {func(t *testing.T, path string) {
			closed(t, open(t, path))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 100; i < len(b); i++ {
				b[i] = 0xee
			}
			put(t, path, b)
		}, sqlstore.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sqlhistory.Open(t.Context(), path)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("open: %v, want %v and the path", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, s *sqlhistory.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// change runs a statement on a file behind the store's back.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(context.Background(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFailedWrite has a batch fail halfway: nothing of it stays, neither in the
// tables nor in the candles that are being drawn.
func TestFailedWrite(t *testing.T) {
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) { testFailedWrite(t, open(t, place(t))) })
	}
}

func testFailedWrite(t *testing.T, s *sqlhistory.Store) {
	defer closed(t, s)
	trade := func(number uint64, price bourse.Price) history.Trade {
		return history.Trade{Seq: bourse.Seq(number), Market: 1, Number: number, Time: 61e6, TakerSide: bourse.Buy, Price: price, Lots: 1}
	}
	good := &history.Batch{From: 1, To: 1, Time: 61e6, Trades: []history.Trade{trade(1, 100)}}
	bad := &history.Batch{From: 2, To: 3, Time: 61e6, Trades: []history.Trade{trade(2, 900), trade(2, 901)}}
	better := &history.Batch{From: 2, To: 2, Time: 61e6, Trades: []history.Trade{trade(2, 110)}}
	for _, c := range []struct {
		batch *history.Batch
		fails bool
		last  bourse.Seq
	}{{good, false, 1}, {bad, true, 1}, {better, false, 2}} {
		if err := s.Write(t.Context(), c.batch); (err != nil) != c.fails {
			t.Fatalf("write to %d: %v", c.batch.To, err)
		}
		if cursor, err := s.Cursor(t.Context()); err != nil || cursor.Seq != c.last {
			t.Fatalf("cursor %d (%v), want %d", cursor.Seq, err, c.last)
		}
	}
	candle, ok, err := s.FirstCandle(t.Context(), history.Series{Market: 1, Width: history.Minute})
	want := history.Candle{Start: 60e6, Open: 100, High: 110, Low: 100, Close: 110, Volume: bourse.Units(2),
		Bought: bourse.Units(2), First: 1, Last: 2}
	if err != nil || !ok || candle != want {
		t.Errorf("candle %+v, want %+v (%v)", candle, want, err)
	}
}

// TestOnlyWeCanRead looks at the modes of the files.
func TestOnlyWeCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path)
	defer closed(t, s)
	if err := s.Write(t.Context(), &history.Batch{From: 1, To: 1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}
