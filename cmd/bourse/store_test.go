package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

// newDatabase returns a server to test with.
func newDatabase(t *testing.T) *postgrestest.Server {
	t.Helper()
	postgrestest.Need(t)
	s, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestDatabaseAway kills the database, or cuts the wire to it, again and again while
// clients trade: trading goes on, what only the database has is refused with the lag, and afterwards it
// holds, row by row, what a replay makes.
func TestDatabaseAway(t *testing.T) {
	database := newDatabase(t)
	wire := newWire(t, database.Dir)
	url := wire.url()
	s := start(t, t.TempDir(), "--bots=false", "--snapshot-every=40", "--history="+url, "--accounts="+url)
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 100
	c.trade(s.url)
	s.level(t)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	filled := c.filled()
	s.start() // it starts from the last snapshot: commands before that are not in memory
	for i := range 6 {
		traded := c.tradeOn(t, s.url, 15*i)
		mend := database.Run
		if i%2 == 0 {
			must(t, database.Kill())
		} else {
			wire.cut()
			mend = wire.mend
		}
		<-traded
		c.trade(s.url)
		if i == 0 {
			s.checkAway(t, key, filled)
		}
		must(t, mend())
		s.level(t)
	}
	c.check(t, s.url)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	replayed := start(t, s.data, "--bots=false", "--accounts="+url) // history.db is made from the journal
	replayed.level(t)
	replayed.audit()
	if code, _ := replayed.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	sameRows(t, url, filepath.Join(s.data, "history.db"), "bourse_history")
	_, stderr, code := run(t, "dev", "--data", s.data, "--listen", "127.0.0.1:0")
	if code == 0 || !strings.Contains(stderr, sqlstore.ErrElsewhere.Error()) {
		t.Errorf("without its accounts: exit %d: %s", code, stderr)
	}
}

// filled returns the oldest order that was filled at once.
func (c *trader) filled() uint64 {
	oldest := ^uint64(0)
	for id, o := range c.acked {
		if o.status == client.Filled {
			oldest = min(oldest, id)
		}
	}
	return oldest
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkAway asks for what only the database has while that is away.
func (s *server) checkAway(t *testing.T, key string, order uint64) {
	t.Helper()
	for path, want := range map[string]string{"/spot/order": "behind", "/spot/open_orders": ""} {
		a, err := post(http.DefaultClient, s.url, path, map[string]any{"api_key": key, "obid": order, "offset": 0})
		if err != nil || a.Success != (want == "") || !strings.Contains(a.Error, want) {
			t.Errorf("%s without the database: %v %+v", path, err, a)
		}
	}
	if a := s.rest("GET", "/account/v2/email", key, nil); a.Status != 500 || a.Error.Code != "INTERNAL_SERVER_ERROR" {
		t.Errorf("an address without the database: %d %s", a.Status, a.Error)
	}
	_, stderr, code := run(t, "admin", "--data", s.data, "account", "create", "other@example.org")
	if code != exitFailed || !strings.Contains(stderr, "Accounts are away") {
		t.Errorf("a new account without the database: exit %d: %s", code, stderr)
	}
}

// level waits until history has everything.
func (s *server) level(t *testing.T) {
	t.Helper()
	within(t, patience, "level", func() bool {
		r, err := http.Get(s.url + "/readyz")
		must(t, err)
		var state struct {
			Lag int `json:"history_lag"`
		}
		must(t, errors.Join(json.NewDecoder(r.Body).Decode(&state), r.Body.Close()))
		return state.Lag == 0
	})
}

// TestMove moves history and accounts to a server and back while clients trade,
// killing the move at every stage, and wants equal rows at the end.
func TestMove(t *testing.T) {
	database := newDatabase(t)
	url, dir := database.URL("postgres"), t.TempDir()
	s := start(t, t.TempDir(), "--bots=false")
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 200
	c.trade(s.url)
	history, accounts := filepath.Join(s.data, "history.db"), filepath.Join(s.data, "accounts.db")
	underLoad(t, s, c, history, url, "history")
	underLoad(t, s, c, accounts, url, "accounts")
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	tool[any](t, "store", "move", "--from", history, "--to", url)
	tool[any](t, "store", "move", "--from", accounts, "--to", url)
	sameRows(t, url, history, "bourse_history")
	sameRows(t, url, accounts, "bourse_accounts")

	there := start(t, s.data, "--bots=false", "--history="+url, "--accounts="+url)
	c.check(t, there.url)
	c.trade(there.url)
	there.customer("another")
	back := filepath.Join(dir, "history.db")
	underLoad(t, there, c, url, back, "history")
	underLoad(t, there, c, url, filepath.Join(dir, "accounts.db"), "accounts")
	there.backup(t, url)
	if code, _ := there.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	tool[any](t, "store", "move", "--from", url, "--to", back)
	sameRows(t, url, back, "bourse_history")
	sameRows(t, url, filepath.Join(dir, "accounts.db"), "bourse_accounts")
	_, stderr, code := run(t, "store", "move", "--from", accounts, "--to", url)
	if code != exitFailed || !strings.Contains(stderr, "rows that the source does not have") {
		t.Errorf("a move over newer accounts: exit %d: %s", code, stderr)
	}
}

// underLoad moves a store while a client trades: first killing the move after more
// and more time, then to its end.
func underLoad(t *testing.T, s *server, c *trader, from, to, store string) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.trade(s.url)
	}()
	path, err := binary()
	must(t, err)
	for i := range 4 {
		move := exec.Command(path, "store", "move", "--from", from, "--to", to, "--store", store)
		must(t, move.Start())
		<-time.After(time.Duration(i*i*25) * time.Millisecond)
		_ = move.Process.Kill()
		_ = move.Wait()
	}
	moved := tool[struct{ Moved map[string]int }](t, "store", "move", "--from", from, "--to", to, "--store", store)
	if moved.Moved["orders"]+moved.Moved["accounts"] == 0 {
		t.Errorf("moved %v", moved)
	}
	<-done
}

// backup takes a backup of an exchange whose accounts are on a server.
func (s *server) backup(t *testing.T, url string) {
	t.Helper()
	dir := t.TempDir()
	_, stderr, code := run(t, "backup", s.data, filepath.Join(dir, "none"))
	if code != exitFailed || !strings.Contains(stderr, sqlstore.ErrElsewhere.Error()) {
		t.Errorf("a backup without the accounts: exit %d: %s", code, stderr)
	}
	copied, restored := filepath.Join(dir, "copy"), filepath.Join(dir, "data")
	tool[any](t, "backup", s.data, copied, "--accounts", url)
	tool[any](t, "restore", copied, restored)
	sameRows(t, url, filepath.Join(restored, "accounts.db"), "bourse_accounts")
}

// sameRows compares all tables of a store on a server with those in a file, but
// for how far it has come.
func sameRows(t *testing.T, url, path, schema string) {
	t.Helper()
	file, err := sql.Open("sqlite", path)
	must(t, err)
	server, err := sql.Open("pgx", url+"&search_path="+schema)
	must(t, err)
	total := 0
	for _, table := range column(t, file, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
		AND name NOT IN ('goose_db_version', 'cursor')`) {
		columns := strings.Join(column(t, file, `SELECT name FROM pragma_table_info('`+table+`')`), ", ")
		query := `SELECT ` + columns + ` FROM ` + table
		want, got := rows(t, file, query), rows(t, server, query)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows on the server and %d in the file are not the same", table, len(got), len(want))
		}
		total += len(want)
	}
	if total == 0 {
		t.Error("there are no rows")
	}
	must(t, errors.Join(file.Close(), server.Close()))
}

// column returns the first column of what is asked for.
func column(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	for _, row := range rows(t, db, query) {
		list = append(list, strings.Trim(row, `[]"`))
	}
	return list
}

// rows returns rows as text, sorted.
func rows(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	found, err := db.Query(query)
	must(t, err)
	defer func() { must(t, errors.Join(found.Err(), found.Close())) }()
	names, err := found.Columns()
	must(t, err)
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for found.Next() {
		must(t, found.Scan(into...))
		for i, v := range values {
			if on, ok := v.(bool); ok {
				values[i] = map[bool]int64{true: 1}[on]
			}
		}
		list = append(list, fmt.Sprintf("%q", values))
	}
	slices.Sort(list)
	return list
}
