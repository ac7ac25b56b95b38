package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// golden matches JSON with testdata/golden/NAME.json: a pattern with every field of the
// specification's table, in order. words are pairs of a name and the text that replaces
// $NAME.
func (x *exam) golden(got *value, name string, words ...string) {
	x.Helper()
	b, err := os.ReadFile("testdata/golden/" + name + ".json")
	if err != nil {
		x.broken("%v", err)
	}
	var pairs []string
	for i := 0; i+1 < len(words); i += 2 {
		pairs = append(pairs, "$"+words[i], words[i+1])
	}
	x.match(got, strings.NewReplacer(pairs...).Replace(string(b)))
}

// TestGoldenFilesAreUsed checks that a check names each golden file.
func TestGoldenFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	sources, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, source := range sources {
		b, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(b)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !strings.Contains(code.String(), `"`+name+`"`) {
			t.Errorf("%s is used by no check", file)
		}
	}
}
