package web

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// The folder of the sources, and the file of the build with their hashes.
const (
	sourcesDir = "../../web"
	hashesFile = "dist/" + sourcesFile
)

// TestSources wants dist to be built of the sources that are here. `make web` builds, and runs
// it with REWRITE=1, which writes the hashes: Vite empties dist before.
func TestSources(t *testing.T) {
	want, err := hashes(os.DirFS(sourcesDir))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(hashesFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	got, err := os.ReadFile(hashesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("dist is built of other sources; `make web` builds it anew:\n%s", changes(string(got), string(want)))
	}
}

// hashes lists the SHA-256 and the name of each source, in the order of names. Tests, and what
// npm installs, do not change the build.
func hashes(sources fs.FS) ([]byte, error) {
	var list bytes.Buffer
	err := fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == "." && errors.Is(err, fs.ErrNotExist): // before the first build
			return fs.SkipAll
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == "test" || name == "dist"):
			return fs.SkipDir
		case entry.IsDir() || strings.Contains(path.Base(name), ".test."):
			return nil
		}

		text, err := fs.ReadFile(sources, name)
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), name)
		return err
	})
	return list.Bytes(), err
}

// changes returns the lines that two lists do not share.
func changes(got, want string) string {
	var list strings.Builder
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line) {
			list.WriteString("built of " + line)
		}
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			list.WriteString("here is  " + line)
		}
	}
	return list.String()
}

// TestHashes wants a changed, a new and a renamed source to show, and what is no source not to.
func TestHashes(t *testing.T) {
	of := func(files ...string) string {
		dir := t.TempDir()
		for _, file := range files {
			name, text, _ := strings.Cut(file, "=")
			if err := os.MkdirAll(path.Join(dir, path.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		list, err := hashes(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		return string(list)
	}

	base := of("src/a.ts=1", "package-lock.json={}")
	if strings.Count(base, "\n") != 2 {
		t.Errorf("two sources are\n%s", base)
	}
	if same := of("src/a.ts=1", "package-lock.json={}", "node_modules/x.js=1", "test/a.ts=1", "src/a.test.ts=1"); same != base {
		t.Errorf("what is no source shows:\n%s", same)
	}
	for _, other := range []string{
		of("src/a.ts=2", "package-lock.json={}"), of("src/a.ts=1", "package-lock.json={ }"),
		of("src/b.ts=1", "package-lock.json={}"), of("src/a.ts=1", "package-lock.json={}", ".npmrc=1"),
	} {
		if other == base || changes(base, other) == "" {
			t.Errorf("a change does not show:\n%s", other)
		}
	}
	if none, err := hashes(os.DirFS(path.Join(t.TempDir(), "none"))); err != nil || len(none) != 0 {
		t.Errorf("no folder has sources: %q %v", none, err)
	}
}
