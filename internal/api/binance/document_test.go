package binance

import (
	"os"
	"strings"
	"testing"
)

// begun is the line of docs/binance.md behind which Document's tables stand.
const begun = "<!-- The tables below are written by `REWRITE=1 go test ./internal/api/binance -run TestDocument`. -->\n\n"

// TestDocument checks that docs/binance.md has the tables as they are.
func TestDocument(t *testing.T) {
	const name = "../../../docs/binance.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, tables, found := strings.Cut(string(page), begun)
	if !found {
		t.Fatalf("%s has no line %q", name, begun)
	}
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(name, []byte(head+begun+Document()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if tables != Document() {
		t.Errorf("%s has other tables: run the test with REWRITE=1", name)
	}
}

// TestTable checks that each line of the table is complete, and that the order of the
// documented interface's names is kept: a method and path, and a method of WebSocket, are
// there once.
func TestTable(t *testing.T) {
	list := Endpoints()
	seen := map[string]bool{}
	once := func(name string) {
		if name != "" && seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
	noted := func(what string, state State, note string) {
		if (state != Served) != (note != "") {
			t.Errorf("%s: %s with the note %q", what, state, note)
		}
		if note != "" && !strings.HasSuffix(note, ".") {
			t.Errorf("%s: the note is no sentence: %q", what, note)
		}
	}

	for i := range list {
		e := &list[i]
		name := e.Method + " " + e.Path
		once(name)
		once(e.WS)
		noted(name, e.State, e.Note)
		if (e.Answer == nil) != (e.State == NotServed) || e.Weight.Of == nil {
			t.Errorf("%s has no answer or no weight, or is not served and has one", name)
		}
		for j := range e.Params {
			noted(name+" "+e.Params[j].Name, e.Params[j].State, e.Params[j].Note)
		}
		for j := range e.Fields {
			noted(name+" "+e.Fields[j].Names, e.Fields[j].State, e.Fields[j].Note)
		}
	}
}
