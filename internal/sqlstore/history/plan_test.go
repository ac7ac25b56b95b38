package history

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPlans asks SQLite how it would answer: no query reads a table from its
// start, and only the one for the fills of some orders sorts.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, query := range queries {
		args := make([]any, strings.Count(query, "?"))
		rows, err := s.file.Reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			scans := strings.Contains(step, "SCAN") && query != selectCursor && query != selectNotes &&
				!strings.Contains(step, "json_each")
			sorts := strings.Contains(step, "TEMP B-TREE") && query != selectFillsOf
			if scans || sorts {
				t.Errorf("%s\nis answered by: %s", query, step)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
}
