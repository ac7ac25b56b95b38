package bourse_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// abuseDoc lists what strangers share, and the tests that hold each bound.
const abuseDoc = "docs/abuse.md"

// TestAbuseIsHeld wants each row of docs/abuse.md to have a bound of its own and to name
// tests, clauses and attacks that there are, and each attack of the suite to stand in a row.
func TestAbuseIsHeld(t *testing.T) {
	known := map[string]bool{}
	collect(t, ".", "_test.go", `(?m)^func (Test\w+)\(`, known)
	collect(t, "docs/spec", ".md", `\*\*([A-Z]+-[A-Z]+-\d+)\*\*`, known)
	attacks := map[string]bool{}
	for _, path := range glob(t, "test/abuse/testdata/*.txt") {
		list := map[string]bool{}
		collect(t, path, ".txt", `(?m)^attack (.+)$`, list)
		for name := range list {
			attacks[strings.TrimSuffix(filepath.Base(path), ".txt")+": "+name] = false
		}
	}

	name := regexp.MustCompile("`([^`]+)`|\\b([A-Z]+-[A-Z]+-\\d+)\\b")
	rows, bounds := 0, map[string]int{}
	for i, line := range strings.Split(read(t, abuseDoc), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") || strings.HasPrefix(line, "| bound ") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		tests := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 6 || len(tests) == 0 {
			t.Errorf("%s:%d: %d cells, %d tests: a row has six cells, the last one names tests", abuseDoc, i+1, len(cells), len(tests))
		}
		if first := bounds[cells[0]]; first != 0 {
			t.Errorf("%s:%d: line %d has this bound: a bound has one row", abuseDoc, i+1, first)
		}
		bounds[cells[0]] = i + 1
		for _, found := range tests {
			held := found[1] + found[2]
			if _, is := attacks[held]; is {
				attacks[held] = true
			} else if !known[held] {
				t.Errorf("%s:%d: there is no test %s", abuseDoc, i+1, held)
			}
		}
	}

	if rows == 0 || len(attacks) == 0 {
		t.Errorf("%d rows, %d attacks", rows, len(attacks))
	}
	for attack, held := range attacks {
		if !held {
			t.Errorf("%s: no row names the attack %q", abuseDoc, attack)
		}
	}
}

// collect adds what a pattern finds in the files below a path.
func collect(t *testing.T, below, suffix, pattern string, into map[string]bool) {
	t.Helper()
	form := regexp.MustCompile(pattern)
	err := filepath.WalkDir(below, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		for _, found := range form.FindAllStringSubmatch(read(t, path), -1) {
			into[found[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
