package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSocketModes checks that other users reach the exchange's socket under the usual umask, which takes
// writing from them, and that the operators' socket is their own.
func TestSocketModes(t *testing.T) {
	dir, err := os.MkdirTemp("", "bourse-signer-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, want := range map[string]fs.FileMode{"exchange": 0o666, "operators": 0o600} {
		path := filepath.Join(dir, name)
		for range 2 { // the second takes the place of a stale one
			l, err := listenUnix(t.Context(), path, want)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v; want %v", name, info.Mode(), err, want)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
