package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newest returns the last of the files that a pattern names.
func newest(t *testing.T, data, pattern string) string {
	t.Helper()
	files := kept(data, pattern)
	if len(files) == 0 {
		t.Fatalf("no %s", pattern)
	}
	return files[len(files)-1]
}

// kept returns the files of a kind. A segment that moves to the archive is in both
// places for a while, and read from the journal: it is not among those there.
func kept(data, pattern string) []string {
	files, _ := filepath.Glob(filepath.Join(data, pattern))
	return slices.DeleteFunc(files, func(path string) bool {
		name, packed := strings.CutSuffix(filepath.Base(path), ".zst")
		_, err := os.Stat(filepath.Join(data, "journal", name))
		return packed && err == nil
	})
}

// flip flips a bit in the middle of what a file holds, and in an archive the last one, of
// its checksum. A bit within compressed data may mean the same either way, if what a match
// refers to occurs twice: one of 220 does.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := len(bytes.TrimRight(b, "\x00")) / 2
	if strings.HasSuffix(path, ".zst") {
		at = len(b) - 1
	}
	b[at] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedFiles flips a bit in each kind of file: whoever reads it stops with 3
// and names it. A start reads segments; it passes over a damaged snapshot, loudly,
// because another one is as good, and needs no archive.
func TestDamagedFiles(t *testing.T) {
	template, key := exemplar(t)
	for _, c := range []struct {
		pattern string
		starts  bool
	}{
		{"journal/*.seg", false},
		{"snapshots/*.snap", true},
		{"archive/*.zst", true},
	} {
		t.Run(filepath.Dir(c.pattern), func(t *testing.T) {
			data := copied(t, template)
			path := newest(t, data, c.pattern)
			flip(t, path)
			name := filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
			readers := [][]string{{"journal", "verify", data}, {"journal", "replay", data}, {"admin", "--data", data, "audit"}}
			if strings.HasPrefix(c.pattern, "snapshots") {
				readers = readers[:2] // an audit believes the journal alone
			}
			for _, words := range readers {
				if _, stderr, code := run(t, words...); code != exitDamaged || !strings.Contains(stderr, name+" is damaged at byte") {
					t.Errorf("%v: exit %d: %s", words, code, stderr)
				}
			}
			s := &server{t: t, data: data, args: short}
			if started := s.launch("dev"); started != c.starts {
				t.Errorf("started: %t\n%s", started, s.log)
			}
			if c.starts {
				if a, err := post(http.DefaultClient, s.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0}); err != nil || !a.Success {
					t.Errorf("it does not serve: %v %s", err, a.Error)
				}
				s.kill()
			}
			said := strings.Contains(s.log.String(), name+" is damaged at byte")
			if code := s.cmd.ProcessState.ExitCode(); !c.starts && (code != exitDamaged || !said) {
				t.Errorf("the start: exit %d: %s", code, s.log)
			}
			if strings.HasPrefix(c.pattern, "snapshots") && !said {
				t.Errorf("it says nothing of %s:\n%s", name, s.log)
			}
		})
	}
}

// TestTornEnd tears the last entry of a journal whose process was killed, at
// places all over it. A start cuts it and keeps a copy, if it can have been
// written without being acknowledged; otherwise it stops and names the file.
func TestTornEnd(t *testing.T) {
	s := start(t, t.TempDir(), short...)
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 20
	c.trade(s.url)

	// An idle exchange writes too. The segment to tear must have entries, and room.
	const block = 4096
	var path string
	var whole []byte
	written := func() int {
		path = newest(t, s.data, "journal/*.seg")
		var err error
		whole, err = os.ReadFile(path)
		must(t, err)
		return len(bytes.TrimRight(whole, "\x00"))
	}
	c.most = 1
	for n := written(); n < 4*block || n > len(whole)-4*block; n = written() {
		c.trade(s.url)
	}
	s.kill()
	_ = os.Remove(filepath.Join(s.data, "admin.sock")) // which cannot be copied

	end := written()
	from := (end - 1) / block * block
	before := tool[struct {
		Last uint64 `json:"last_seq"`
	}](t, "journal", "stat", s.data).Last
	// History may have the last entry, which it would not if that had been torn.
	history, err := filepath.Glob(filepath.Join(s.data, "history.db*"))
	if err != nil || len(history) == 0 {
		t.Fatalf("no history: %v", err)
	}
	for _, name := range history {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	points, cut, stopped := 24, 0, 0
	if testing.Short() {
		points = 4
	}
	for i := range points {
		at := from + (end-from)*i/points
		torn := bytes.Clone(whole)
		clear(torn[at:])
		data := copied(t, s.data)
		if err := os.WriteFile(filepath.Join(data, "journal", filepath.Base(path)), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		again := &server{t: t, data: data, args: short}
		if !again.launch("dev") {
			if code := again.cmd.ProcessState.ExitCode(); code != exitDamaged || !strings.Contains(again.log.String(), filepath.Base(path)) {
				t.Errorf("torn at %d: exit %d: %s", at, code, again.log)
			}
			stopped++
			continue
		}
		again.kill()
		var last uint64
		for line := range strings.Lines(again.log.String()) {
			if _, seq, ok := strings.Cut(line, `msg="journal opened" last_seq=`); ok {
				if _, err := fmt.Sscan(seq, &last); err != nil {
					t.Fatal(err)
				}
			}
		}
		if last+1 < before {
			t.Errorf("torn at %d: of %d commands %d are left", at, before, last)
		}
		if strings.Contains(again.log.String(), "cut a torn end") {
			cut++
			newest(t, data, "torn/*")
		}
	}
	t.Logf("%d points: %d cut, %d stopped the start", points, cut, stopped)
	if cut == 0 {
		t.Error("nothing was cut")
	}
}
