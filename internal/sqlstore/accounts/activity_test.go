package accounts_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// activityPlan is a query of activities, and how a database finds what it asks for: each text is in its plan.
type activityPlan struct {
	name, query      string
	args             []any
	sqlite, postgres []string
}

// activityPlans are the queries that strangers make of an account that has thousands of entries.
func activityPlans() []activityPlan {
	last, of := accounts.LastActivities([]bourse.AccountID{7, 8}, []string{"PASSWORD_CHANGED", "EMAIL_CHANGED"})
	const byKind, byCount = "activity_of_kind", "activity_by_count"
	return []activityPlan{
		{
			"the last of some kinds", last, of,
			[]string{byKind, "(account=? AND kind=?)"}, []string{byKind, "Index Cond: ((account = ", "(kind = "},
		},
		{
			"log-ins", accounts.NewestLogIns, []any{7, 10},
			[]string{byKind, "(account=? AND kind=?)"}, []string{byKind, "Index Cond: ((account = ", "(kind = "},
		},
		{
			"those to drop", accounts.TrimActivity, []any{7, true, 1995},
			[]string{"(account=? AND failed=? AND ordinal<?)", "SEARCH activity USING COVERING INDEX " + byCount + " (account=? AND failed=?)"},
			[]string{byCount, "Index Cond: ((account = ", "(failed = ", "(ordinal <= ", "Limit (actual rows=1 loops=1)"},
		},
	}
}

// TestActivitiesAreFoundByIndexes asks each kind of database how it finds entries of accounts that have thousands of
// others: no other entry is read.
func TestActivitiesAreFoundByIndexes(t *testing.T) {
	const others = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
		INSERT INTO %s (account, time, kind, address, agent, detail, failed, ordinal)
		SELECT 7 + i %% 2, i, 'LOGIN_FAILED', '', '', '', %s, (i + 1) / 2 FROM n`
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			at := place(t)
			open(t, at)
			table, explain, yes := "activity", "EXPLAIN QUERY PLAN ", "1"
			if sqlstore.IsURL(at) {
				table, explain = "bourse_accounts.activity", "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
				yes = "true"
			}
			db := raw(t, at, fmt.Sprintf(others, table, yes), "ANALYZE")

			for _, c := range activityPlans() {
				query := strings.ReplaceAll(c.query, "FROM activity", "FROM "+table)
				plan := strings.Join(steps(t, db, explain+query, c.args), "\n")
				wanted := c.sqlite
				if sqlstore.IsURL(at) {
					wanted = c.postgres
				}
				for _, want := range wanted {
					if !strings.Contains(plan, want) {
						t.Errorf("%s: no %q in:\n%s", c.name, want, plan)
					}
				}
				for _, bad := range []string{"SCAN activity", "SCAN a ", "Seq Scan on activity", "Rows Removed"} {
					if strings.Contains(plan, bad) {
						t.Errorf("%s: %q in:\n%s", c.name, bad, plan)
					}
				}
			}
		})
	}
}

// steps returns the last column of a query's rows.
func steps(t *testing.T, db *sql.DB, query string, args []any) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(any)
		}
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(*row[len(row)-1].(*any)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// raw opens a store's database beside the store, and executes statements.
func raw(t *testing.T, at string, statements ...string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if sqlstore.IsURL(at) {
		driver = "pgx"
	}
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// TestActivitiesOfOlderStores opens a store whose entries were written before they were counted. The newest of each
// kind stay, as those that were counted from the first.
func TestActivitiesOfOlderStores(t *testing.T) {
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			at := place(t)
			s, err := accounts.Open(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}

			schema := ""
			if sqlstore.IsURL(at) {
				schema = "bourse_accounts."
			}
			raw(t, at,
				"DROP INDEX "+schema+"activity_by_count",
				"ALTER TABLE "+schema+"activity DROP COLUMN ordinal", "ALTER TABLE "+schema+"activity DROP COLUMN failed",
				"DELETE FROM "+schema+"goose_db_version WHERE version_id = 26",
				"INSERT INTO "+schema+`activity (account, time, kind, address, agent, detail) VALUES
				(7, 1, 'LOGIN', '', '', ''), (7, 2, 'LOGIN_FAILED', '', '', ''), (8, 3, 'LOGIN', '', '', ''),
				(7, 4, 'LOGOUT', '', '', ''), (7, 5, 'MFA_FAILED', '', '', ''), (7, 6, 'LOGIN', '', '', '')`)

			again := open(t, at)
			for at, kind := range []string{"LOGIN", "LOGIN_FAILED"} {
				if err := again.AddActivity(t.Context(), &account.Activity{Account: 7, Time: bourse.Time(7 + at), Kind: kind}, 2, 0); err != nil {
					t.Fatal(err)
				}
			}
			list, err := again.ActivityOf(t.Context(), 7, 0, 10)
			var times []bourse.Time
			for i := range list {
				times = append(times, list[i].Time)
			}
			if want := []bourse.Time{8, 7, 6, 5}; err != nil || !slices.Equal(times, want) {
				t.Errorf("of 7 are kept %v, want %v: %v", times, want, err)
			}
			if list, err := again.ActivityOf(t.Context(), 8, 0, 10); err != nil || len(list) != 1 {
				t.Errorf("of 8 are kept %v: %v", list, err)
			}
		})
	}
}
