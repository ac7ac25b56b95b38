package engine_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

var rewrite = flag.Bool("rewrite", false, "write what the scenarios do into testdata; then read the diff")

// TestScenarios carries out the scripts of testdata and wants them to do what
// they say. REWRITE=1 is another way to say -rewrite.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := enginetest.Run(string(text))
			switch {
			case err != nil:
				t.Fatal(err)
			case got == string(text):
			case *rewrite || os.Getenv("REWRITE") == "1":
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("does:\n%s", got)
			}
		})
	}
}
