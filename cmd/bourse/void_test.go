package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestVoid takes a command out of effect: it keeps its place, does nothing, and
// stays so in later starts, audits and replays.
func TestVoid(t *testing.T) {
	s := &server{t: t, data: t.TempDir()}
	s.startAs("serve")
	t.Cleanup(func() { s.kill() })
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	write(t, file, "assets:\n  - {symbol: AAA, name: First, scale: 8, enabled: true}\n  - {symbol: BBB, name: Second, scale: 8, enabled: true}\n")
	operate[any](s, "catalogue", "apply", file)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	seq := defining(t, s.data, "BBB")
	for _, bad := range []struct{ args, says string }{
		{"--void=" + seq, "--reason"},
		{"--void=99999 --reason=x", "the journal ends at"},
	} {
		args := append([]string{"serve", "--data", s.data, "--listen", "127.0.0.1:0"}, strings.Fields(bad.args)...)
		if _, stderr, code := run(t, args...); code != exitFailed || !strings.Contains(stderr, bad.says) {
			t.Errorf("%s: exit %d: %s", bad.args, code, stderr)
		}
	}
	s.args = []string{"--void=" + seq, "--reason=it was a mistake"}
	s.startAs("serve")
	s.kill()
	s.args = nil
	s.startAs("serve")
	shown := string(operate[json.RawMessage](s, "catalogue", "show"))
	if !strings.Contains(shown, "AAA") || strings.Contains(shown, "BBB") {
		t.Errorf("listed is %s", shown)
	}
	s.audit()
}

// defining returns the sequence of the command that defines an asset.
func defining(t *testing.T, data, symbol string) string {
	t.Helper()
	stdout, _, code := run(t, "journal", "dump", data)
	if code != 0 {
		t.Fatalf("journal dump: exit %d", code)
	}
	for line := range strings.Lines(stdout) {
		var e struct {
			Seq     uint64
			Command string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.Command, "asset ") && strings.Contains(e.Command, symbol) {
			return fmt.Sprint(e.Seq)
		}
	}
	t.Fatalf("nothing defines %s", symbol)
	return ""
}
