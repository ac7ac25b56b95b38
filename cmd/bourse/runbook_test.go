package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var drill = regexp.MustCompile("`(Test\\w+)`")

// TestRunbook wants each section of the runbook to name the tests that are its
// drill, and each of them to be there.
func TestRunbook(t *testing.T) {
	text, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "../../internal/*/*_test.go", "../../internal/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(b)
		}
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	if len(sections) == 0 {
		t.Fatal("the runbook has no sections")
	}
	for _, section := range sections {
		title, _, _ := strings.Cut(section, "\n")
		drills := drill.FindAllStringSubmatch(section, -1)
		if len(drills) == 0 {
			t.Errorf("%s: nothing carries it out", title)
		}
		for _, d := range drills {
			if !strings.Contains(tests.String(), "func "+d[1]+"(") {
				t.Errorf("%s: there is no %s", title, d[1])
			}
		}
	}
}
