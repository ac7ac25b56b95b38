package bourse_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// TestFuzzTargetsHaveCorpora wants inputs of each fuzz target to be kept, so that
// a plain test tries them.
func TestFuzzTargetsHaveCorpora(t *testing.T) {
	targets := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range fuzzTarget.FindAllSubmatch(text, -1) {
			targets++
			kept := filepath.Join(filepath.Dir(path), "testdata", "fuzz", string(found[1]))
			if list, err := os.ReadDir(kept); err != nil || len(list) == 0 {
				t.Errorf("%s: %s has nothing in %s", path, found[1], kept)
			}
		}
		return err
	})
	if err != nil || targets == 0 {
		t.Errorf("%d fuzz targets, %v", targets, err)
	}
}
