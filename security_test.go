package bourse_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedTest   = regexp.MustCompile("`([a-z0-9/]+) (Test\\w+)`")
	citedPages  = regexp.MustCompile("`(web/test/\\w+\\.test\\.ts)`")
	citedClause = regexp.MustCompile(`\b[A-Z]{3,4}-[A-Z]+-[0-9]+\b`)
	lineNumber  = regexp.MustCompile(`^\| (API)?[0-9.]+`)
)

// TestSecurityCitesWhatExists holds docs/security.md: each test that it names is in the
// package that it names, each clause is in the specification, and each line has a test or
// a clause, or says that it does not apply or does not hold.
func TestSecurityCitesWhatExists(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	clauses := contents(t, "docs/spec/*.md")
	tests := map[string]string{}

	lines := 0
	for line := range strings.Lines(string(text)) {
		named := citedTest.FindAllStringSubmatch(line, -1)
		for _, c := range named {
			if _, read := tests[c[1]]; !read {
				tests[c[1]] = contents(t, c[1]+"/*_test.go")
			}
			if !strings.Contains(tests[c[1]], "func "+c[2]+"(") {
				t.Errorf("there is no %s in %s", c[2], c[1])
			}
		}
		pages := citedPages.FindAllStringSubmatch(line, -1)
		for _, c := range pages {
			if contents(t, c[1]) == "" {
				t.Errorf("there is no %s", c[1])
			}
		}
		held := citedClause.FindAllString(line, -1)
		for _, c := range held {
			if !strings.Contains(clauses, "**"+c+"**") {
				t.Errorf("there is no clause %s", c)
			}
		}

		if !lineNumber.MatchString(line) {
			continue
		}
		lines++
		said := strings.Contains(line, "Not applicable") || strings.Contains(line, "Does not hold")
		if len(named)+len(pages)+len(held) == 0 && !said {
			t.Errorf("nothing holds %s", line)
		}
	}
	const least = 80 // ten risks and some seventy lines
	if lines < least {
		t.Errorf("%d lines, wanted %d", lines, least)
	}
}

// contents returns what is in the files of a pattern.
func contents(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
