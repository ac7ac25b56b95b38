package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestProfile wants a whole profile behind a measurement, of a workload of one
// order.
func TestProfile(t *testing.T) {
	dir := t.TempDir()
	workload, profile := filepath.Join(dir, "w.bin"), filepath.Join(dir, "profile")
	order := make([]byte, 32)
	for _, at := range []int{4, 16, 24} { // account, price, lots
		order[at] = 1
	}
	for path, data := range map[string][]byte{workload: order, workload + ".json": []byte(`{"users": 1}`)} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	p := &program{
		ctx: t.Context(), stdout: &stdout, stderr: &stderr,
		args: []string{"bench", "--profile", profile, "core", "--workload", workload},
	}
	if code := p.run(); code != 0 || stdout.Len() == 0 {
		t.Fatalf("exit %d: %s%s", code, &stdout, &stderr)
	}
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(r); err != nil || len(data) == 0 || f.Close() != nil {
		t.Errorf("a profile of %d bytes: %v", len(data), err)
	}
}
