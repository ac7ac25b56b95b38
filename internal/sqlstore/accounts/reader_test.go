package accounts_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// TestReadersChangeNothing reads accounts whose tables are older than this program's: they stay so,
// because the program that serves from them is older, too. Missing ones are not made.
func TestReadersChangeNothing(t *testing.T) {
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			at := place(t)
			driver, versions, read := "sqlite", "goose_db_version", func() error {
				return accounts.Backup(t.Context(), at, filepath.Join(t.TempDir(), "copy.db"))
			}
			if sqlstore.IsURL(at) {
				driver, versions, read = "pgx", "bourse_accounts.goose_db_version", func() error {
					r, err := accounts.OpenReader(t.Context(), at)
					if err != nil {
						return err
					}
					if err := r.Reach(t.Context()); err != nil {
						t.Errorf("once it is open: %v", err)
					}
					return r.Close()
				}
			}
			if err := read(); err == nil {
				t.Error("accounts that are not there are read")
			}
			raw, err := sql.Open(driver, at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = raw.Close() })
			version := func() (n int, err error) {
				return n, raw.QueryRowContext(t.Context(), "SELECT max(version_id) FROM "+versions).Scan(&n)
			}
			if _, err := version(); err == nil {
				t.Error("reading made tables")
			}

			if s, err := accounts.Open(t.Context(), at); err != nil || s.Close() != nil {
				t.Fatal(err)
			}
			older := "DELETE FROM " + versions + " WHERE version_id = (SELECT max(version_id) FROM " + versions + ")"
			if _, err := raw.ExecContext(t.Context(), older); err != nil {
				t.Fatal(err)
			}
			before, err := version()
			if err != nil {
				t.Fatal(err)
			}
			if err := read(); err != nil {
				t.Errorf("reading older tables: %v", err)
			}
			if after, err := version(); err != nil || after != before {
				t.Errorf("the tables had version %d and have %d (%v)", before, after, err)
			}
		})
	}
}
