package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStandbyOfPruned follows a source whose first commands were pruned: a copy that lacks them ends
// and says so, until the segments are back in the source's archive, in place of their stub. One that has them goes on.
func TestStandbyOfPruned(t *testing.T) {
	template, _ := exemplar(t)
	data := copied(t, template)
	flags := append(slices.Clone(short), "--cluster-listen="+freeAddress(t))
	s := start(t, data, flags...)
	early := followFrom(t, s.nodes(), filepath.Join(t.TempDir(), "early"))
	early.reaches()
	early.kill()
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}

	copies := copied(t, data)
	archive := kept(data, "archive/*.zst")
	first := strings.TrimLeft(strings.TrimSuffix(filepath.Base(archive[len(archive)-1]), ".seg.zst"), "0")
	tool[any](t, "journal", "prune", data, "--before", first, "--i-have-a-copy")
	s.start()
	dir := filepath.Join(t.TempDir(), "standby")
	for range 2 { // the copy is empty, and then it has begun
		if _, stderr, code := run(t, "follow", s.nodes(), dir); code != exitFailed || !strings.Contains(stderr, "has been cut before that sequence") {
			t.Fatalf("without the first commands: exit %d: %s", code, stderr)
		}
	}

	early.start()
	early.reaches()
	for _, path := range kept(copies, "archive/*.zst") {
		to := filepath.Join(data, "archive", filepath.Base(path))
		if _, err := os.Stat(to); err == nil {
			continue
		}
		text, err := os.ReadFile(path)
		must(t, err)
		write(t, to, string(text))
	}
	must(t, os.Remove(filepath.Join(data, "archive", "stub")))
	late := followFrom(t, s.nodes(), dir)
	late.reaches()
	if _, stderr, code := run(t, "journal", "verify", dir); code != 0 {
		t.Errorf("the copy: %s", stderr)
	}
	early.reaches()
}
