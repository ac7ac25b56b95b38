package live_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
)

// The lines of docs/binance.md around Document's tables.
const (
	begun = "<!-- `REWRITE=1 go test ./internal/api/binance/live -run TestDocument` writes what follows -->\n\n"
	ended = "\n<!-- and wrote what precedes -->\n"
)

// TestDocument checks that docs/binance.md has the tables as they are, and that each line that
// differs has a sentence.
func TestDocument(t *testing.T) {
	const name = "../../../../docs/binance.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(page), begun)
	tables, tail, closed := strings.Cut(rest, ended)
	if !found || !closed {
		t.Fatalf("%s has no lines %q and %q", name, begun, ended)
	}
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(name, []byte(head+begun+live.Document()+ended+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if tables != live.Document() {
		t.Errorf("%s has other tables: run the test with REWRITE=1", name)
	}

	noted := func(what string, state binance.State, note string) {
		if (state != binance.Served) != (note != "") || note != "" && !strings.HasSuffix(note, ".") {
			t.Errorf("%s: %s with the note %q", what, state, note)
		}
	}
	for _, m := range slices.Concat(live.Streams(), live.Events()) {
		noted(m.Name, m.State, m.Note)
		for _, f := range m.Fields {
			noted(m.Name+" "+f.Names, f.State, f.Note)
		}
	}
}

// sameFields compares the fields of a kind's messages with the table.
func sameFields(t *testing.T, m *live.Message, got map[string]bool) {
	t.Helper()
	want := map[string]bool{}
	for _, f := range m.Fields {
		for _, name := range strings.Fields(f.Names) {
			if f.State != binance.NotServed {
				want[name] = true
			}
		}
	}
	if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		t.Errorf("%s has\n%q, and the table\n%q", m.Name, a, b)
	}
}

// sameEvent compares the fields of an event with the table.
func sameEvent(t *testing.T, name string, got map[string]bool) {
	t.Helper()
	list := live.Events()
	at := slices.IndexFunc(list, func(m live.Message) bool { return m.Name == name })
	if at < 0 {
		t.Fatalf("the table has no event %s", name)
	}
	sameFields(t, &list[at], got)
}

// addFields adds the names of a message's fields.
func addFields(t *testing.T, message []byte, names map[string]bool) {
	t.Helper()
	var v any
	if err := json.Unmarshal(message, &v); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if _, deeper := value.(map[string]any); deeper || isObjects(value) {
					walk(prefix+name+".", value)
				} else {
					names[prefix+name] = true
				}
			}
		case []any:
			for _, e := range v {
				walk(prefix, e)
			}
		}
	}
	walk("", v)
}

// isObjects reports whether a value is a list of objects.
func isObjects(v any) bool {
	list, is := v.([]any)
	if !is || len(list) == 0 {
		return false
	}
	_, is = list[0].(map[string]any)
	return is
}
