package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestServer checks that a server listens at its URL and removes its files.
func TestServer(t *testing.T) {
	if program("initdb") == "" {
		t.Log("PostgreSQL is not installed: there is nothing to start")
		return
	}
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", filepath.Join(s.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Error(err)
	} else if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server's directory is still there (%v)", err)
	}
}

// TestLineWithoutServer checks that a figure without a server is reported as missing, not
// as a missed bound.
func TestLineWithoutServer(t *testing.T) {
	l := samples{}.server("rows", "k/s", "postgres.rows_per_second", 1000, bound{80, 150})
	if l.Figure != "rows: not installed here" || l.reached() != "" {
		t.Errorf("%+v, reached %q", l, l.reached())
	}
}
