package history

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPlans asks SQLite how it would answer: no query reads a table from its
// start, and only the one for the fills of some orders sorts. Halving reads its own
// steps.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, query := range append(queries[:], inFile.fillsOf) {
		for _, step := range plan(t, s, query) {
			scans := strings.Contains(step, "SCAN") && query != selectCursor && query != selectNotes &&
				!strings.Contains(step, "json_each") && step != "SCAN search"
			sorts := strings.Contains(step, "TEMP B-TREE") && query != inFile.fillsOf
			if scans || sorts {
				t.Errorf("%s\nis answered by: %s", query, step)
			}
		}
	}
}

// plan returns the steps by which SQLite would answer a query.
func plan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	args := make([]any, 11)
	rows, err := s.db.Reads().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if rows.Err() != nil || len(steps) == 0 {
		t.Fatalf("%d steps, %v", len(steps), rows.Err())
	}
	return steps
}
