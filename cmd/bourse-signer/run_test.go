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

// TestUserID reads ids and names of users.
func TestUserID(t *testing.T) {
	for text, want := range map[string]userID{"0": 0, "root": 0, "4294967294": 4294967294} {
		var id userID
		if err := id.UnmarshalText([]byte(text)); err != nil || id != want {
			t.Errorf("%s is %d, %v; want %d", text, id, err, want)
		}
	}
	for _, text := range []string{"", "-1", "4294967296", "nobody at all"} {
		var id userID
		if err := id.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is user %d", text, id)
		}
	}
}
