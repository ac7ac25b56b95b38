package codes_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// page is the document of the codes.
const page = "../../../docs/errors.md"

// Marks around the table in page.
const (
	begin = "<!-- codes: written by REWRITE=1 go test ./internal/api/codes -->\n"
	end   = "<!-- end of codes -->\n"
)

// TestDocument compares the table of docs/errors.md with the list; REWRITE=1 writes it.
func TestDocument(t *testing.T) {
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(old), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the codes", page)
	}

	var b bytes.Buffer
	b.WriteString(head + begin + "| code | meaning | what to do next | in V2 |\n|---|---|---|---|\n")
	for i := range codes.List {
		e := &codes.List[i]
		_, _ = fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Code, e.Meaning, e.Next, inV2(e))
	}
	b.WriteString(end + tail)

	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s differs from the list; write it by REWRITE=1, and read the diff", page)
	}
}

// inV2 returns the last column of a code.
func inV2(e *codes.Entry) string {
	if e.InV2 == "" {
		return ""
	}
	return "`" + string(e.InV2) + "`"
}

// TestList checks that each code is there once, with all that a reader needs, and that V2's
// replacement is a code too.
func TestList(t *testing.T) {
	form := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	seen := map[codes.Code]bool{}
	for i := range codes.List {
		e := &codes.List[i]
		if seen[e.Code] || !form.MatchString(string(e.Code)) || !codes.Listed(e.Code) {
			t.Errorf("%s is there twice, or no code", e.Code)
		}
		seen[e.Code] = true
		if !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Next, ".") {
			t.Errorf("%s has no sentences: %q, %q", e.Code, e.Meaning, e.Next)
		}
		if !codes.Listed(codes.V2(e.Code)) || codes.V2(codes.V2(e.Code)) != codes.V2(e.Code) {
			t.Errorf("%s is %s in V2", e.Code, codes.V2(e.Code))
		}
	}
	if codes.Listed("NO_SUCH_CODE") || codes.V2("NO_SUCH_CODE") != "NO_SUCH_CODE" {
		t.Error("a code that is not in the list")
	}
}

// TestReasonsOfOrders checks that every reason for rejecting an order is a code of its own.
func TestReasonsOfOrders(t *testing.T) {
	for r := bourse.InsufficientFunds; r <= bourse.NoCollar; r++ {
		if !codes.Listed(codes.Code(r.String())) {
			t.Errorf("%s is no code", r)
		}
	}
}
