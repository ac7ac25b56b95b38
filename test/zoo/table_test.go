package zoo

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// table is the table of the bugs in the docs. REWRITE=1 rewrites it.
var table = filepath.Join(root, "docs/zoo.md")

var row = regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([0-9.]*) \|$`)

// TestTable compares docs/zoo.md with the bugs, except the seconds.
func TestTable(t *testing.T) {
	bugs := readBugs(t)
	if os.Getenv("REWRITE") != "" {
		writeTable(t, bugs, nil)
	}
	text := readTable(t)
	if text != withRows(text, bugs, nil) {
		t.Errorf("%s is not what REWRITE=1 writes", table)
	}
}

// writeTable rewrites the rows with the measured times if REWRITE is set.
func writeTable(t *testing.T, bugs []bug, took map[int]time.Duration) {
	t.Helper()
	if os.Getenv("REWRITE") == "" {
		return
	}
	if err := os.WriteFile(table, []byte(withRows(readTable(t), bugs, took)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withRows returns the text with new rows. Seconds that were not measured stay.
func withRows(text string, bugs []bug, took map[int]time.Duration) string {
	seconds := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		seconds[m[1]] = m[2]
	}
	for number, d := range took {
		seconds[fmt.Sprint(number)] = fmt.Sprintf("%.1f", d.Seconds())
	}
	text, _, _ = strings.Cut(text, "\n| 1 |") // the first row
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n"))
	b.WriteString("\n")
	bugs = slices.Clone(bugs)
	slices.SortFunc(bugs, func(a, b bug) int { return cmp.Compare(a.number, b.number) })
	for _, x := range bugs {
		_, _ = fmt.Fprintf(&b, "| %d | %s | `%s %s` | `%s` | `%s` | %s |\n",
			x.number, x.title, x.pkg, x.function, x.dir, x.test, seconds[fmt.Sprint(x.number)])
	}
	return b.String()
}
