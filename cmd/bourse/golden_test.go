package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var goldenTag = flag.String("golden.make", "", "the tag whose golden data directory TestGolden makes")

const goldenDir = "testdata/golden"

// golden is what is known of the data directory of a release.
type golden struct {
	// Seq is its last command, Hash the state's after it, Key a trader's.
	Seq  uint64
	Hash string `json:"state_hash"`
	Key  string
}

// refusedFormat is what a build says of a directory that it does not read any more.
var refusedFormat = regexp.MustCompile(`version \d+ (was made by Bourse 0\.1\.0 or older|is not known to this program)`)

// TestGolden opens the data directory that each release left: the state is what it was,
// and the exchange goes on with it; or it is refused by the name of what is too old, and
// nothing of it changes.
func TestGolden(t *testing.T) {
	if *goldenTag != "" {
		makeGolden(t, *goldenTag)
	}
	archives, err := filepath.Glob(goldenDir + "/*.tar.gz")
	must(t, err)
	if len(archives) == 0 {
		t.Fatal("no release has a golden data directory")
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) { openGolden(t, archive) })
	}
}

func openGolden(t *testing.T, archive string) {
	data := t.TempDir()
	pack(t, "-xzf", archive, "-C", data)
	var want golden
	text, err := os.ReadFile(filepath.Join(data, "golden.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &want))
	must(t, os.Remove(filepath.Join(data, "golden.json")))

	stdout, stderr, code := run(t, "journal", "replay", data)
	if code != 0 {
		before := contentsOf(t, data)
		_, said, code := run(t, "dev", "--data", data, "--listen", "127.0.0.1:0", "--bots=false")
		if code == 0 || !refusedFormat.MatchString(stderr) || !refusedFormat.MatchString(said) {
			t.Errorf("neither opened nor refused by name: exit %d\n%s%s", code, stderr, said)
		}
		if after := contentsOf(t, data); after != before {
			t.Error("a start that was refused changed the directory")
		}
		t.Logf("refused: %s", said)
		return
	}

	var state golden
	must(t, json.Unmarshal([]byte(stdout), &state))
	if state.Seq != want.Seq || state.Hash != want.Hash || want.Hash == "" {
		t.Errorf("its state is %+v, and was %+v", state, want)
	}
	s := start(t, data, short...)
	lists := s.lists(want.Key)
	if lists == "" {
		t.Error("the trader's lists are empty")
	}
	c := newTrader(want.Key, rand.New(rand.NewPCG(2, 2)))
	c.n, c.most = 1_000_000, 100
	c.trade(s.url)
	s.audit()
	s.rebuild(want.Key)
}

// makeGolden makes the data directory of a release: with segments, an archive, snapshots,
// orders, trades, a deposit and withdrawals.
func makeGolden(t *testing.T, tag string) {
	t.Helper()
	data, key := exemplar(t)
	s := start(t, data, short...)
	h := s.holder("saver", map[string]string{"ATOM": "100"})
	_, err := h.withdraw(http.DefaultClient, route{network: "ATOM", asset: "ATOM", withdrawal: "7"}, s.address("ATOM"))
	must(t, err)
	h.rest()
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}

	known := tool[golden](t, "journal", "replay", data)
	known.Key = key
	text, err := json.Marshal(known)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(data, "golden.json"), text, 0o600))
	must(t, os.MkdirAll(goldenDir, 0o750))
	pack(t, "-czf", filepath.Join(goldenDir, tag+".tar.gz"), "--exclude=admin.sock", "--owner=0", "--group=0", "--sort=name", "-C", data, ".")
}

func pack(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
		t.Fatalf("tar %v: %v\n%s", args, err, out)
	}
}

// contentsOf tells whether anything in the journal or the accounts has changed.
func contentsOf(t *testing.T, data string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", "cd \"$0\" && find journal archive snapshots accounts.db -type f -exec sha256sum {} + | sort", data).Output()
	must(t, err)
	return string(out)
}
