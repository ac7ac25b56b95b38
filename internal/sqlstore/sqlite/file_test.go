package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/sqlite"
)

// things is a kind of file with one table.
var things = sqlite.Options{
	Application: 7, Durable: true, CacheKiB: 1024, FoldAt: 1 << 30,
	Migrations: fstest.MapFS{"migrations/sqlite/00001_things.sql": {Data: []byte(
		"-- +goose Up\nCREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT;\n")}},
}

func open(t *testing.T, path string) *sqlite.File {
	t.Helper()
	return openAs(t, path, things)
}

func openAs(t *testing.T, path string, o sqlite.Options) *sqlite.File {
	t.Helper()
	f, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func add(f *sqlite.File, names ...string) error {
	return f.Write(context.Background(), func(tx *sql.Tx) error {
		for _, name := range names {
			if _, err := tx.ExecContext(context.Background(), "INSERT INTO things VALUES (?)", name); err != nil {
				return err
			}
		}
		return nil
	})
}

func count(t *testing.T, f *sqlite.File) (n int) {
	t.Helper()
	if err := f.Reader.QueryRowContext(t.Context(), "SELECT count(*) FROM things").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFullDisk has a write find no room: it says so to clients, and the next one that
// finds room is kept.
func TestFullDisk(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "things.db"))
	most := func(pages string) {
		t.Helper()
		err := f.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	most("1") // as many as there are
	if err := add(f, strings.Repeat("a", 1<<20)); !errors.Is(f.Wrap(err), sqlite.ErrFull) {
		t.Errorf("without room: %v", f.Wrap(err))
	}
	most("1000000")
	if err := add(f, "b"); err != nil || count(t, f) != 1 {
		t.Errorf("with room again: %v", err)
	}
}

func TestWriteIsAllOrNothing(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "things.db"))
	if err := add(f, "a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := add(f, "c", "b"); !f.IsDuplicate(err) {
		t.Errorf("a second b: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	err := f.Write(ended, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ended, "INSERT INTO things VALUES ('d')")
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was given up: %v", err)
	}
	if n := count(t, f); n != 2 {
		t.Errorf("%d things, want 2", n)
	}
	if err := add(f, "e"); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestReaderCannotWrite(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "things.db"))
	if _, err := f.Reader.ExecContext(t.Context(), "INSERT INTO things VALUES ('a')"); err == nil {
		t.Error("a reader wrote")
	}
}

// TestFold folds the log and wants its space back.
func TestFold(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "things.db"))
	if err := add(f, "a"); err != nil {
		t.Fatal(err)
	}
	if size, err := f.LogSize(); err != nil || size == 0 {
		t.Fatalf("log of %d bytes (%v)", size, err)
	}
	if err := f.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size, err := f.LogSize(); err != nil || size != 0 {
		t.Errorf("log of %d bytes (%v) after folding", size, err)
	}
}

// TestBackup copies a file while it is open, and opens the copy. It makes no file that is missing,
// and takes none of another kind.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "things.db")
	if err := sqlite.Backup(t.Context(), path, filepath.Join(dir, "none"), things.Application); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("made %v (%v)", names, err)
	}

	f := open(t, path)
	if err := add(f, "a", "b"); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "it's a copy.db")
	if err := sqlite.Backup(t.Context(), path, to, things.Application); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("copy: %v (%v)", info.Mode(), err)
	}
	if err := add(f, "c"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, open(t, to)); n != 2 {
		t.Errorf("%d things in the copy, want 2", n)
	}
	if err := sqlite.Backup(t.Context(), path, to, things.Application); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	if err := sqlite.Backup(t.Context(), path, to+"2", things.Application+1); !errors.Is(err, sqlstore.ErrForeign) {
		t.Errorf("of another kind: %v", err)
	}
}

// TestTwoProcesses opens a file that another one has open, as a backup does.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.db")
	f, g := open(t, path), open(t, path)
	if err := errors.Join(add(f, "a"), add(g, "b"), add(f, "c")); err != nil {
		t.Fatal(err)
	}
	if n, m := count(t, f), count(t, g); n != 3 || m != 3 {
		t.Errorf("%d and %d things, want 3", n, m)
	}
}

// TestCheck finds a page that was changed.
func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.db")
	f, err := sqlite.Open(t.Context(), path, things)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(add(f, "a"), f.Check(t.Context()), f.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) - 8192; i < len(b)-4096; i++ { // the table; its index is behind it
		b[i] ^= 0x55
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	if err := f.Check(t.Context()); !errors.Is(err, sqlstore.ErrDamaged) {
		t.Errorf("check: %v", err)
	}
}
