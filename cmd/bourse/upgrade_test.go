package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
)

// newerParts are the changes of files, relative to this directory, that make a program of the next version: it has one
// more kind of record, which collects fees, `fees collect` writes that, and its snapshots have another version of the state.
var newerParts = []struct {
	file, from, to string
}{
	{"../../command.go", `LastCommandKind = (\w+)`, "CommandNewer CommandKind = $1 + 1\n\tLastCommandKind = CommandNewer"},
	{
		"../../internal/record/table.go", `(?m)^\tbourse\.CommandCollectFees: .*$`,
		"${0}\n\tbourse.CommandNewer: {name: \"newer\", authority: owner},",
	},
	{"../../internal/core/engine/accounts.go", `case bourse\.CommandCollectFees:`, "case bourse.CommandCollectFees, bourse.CommandNewer:"},
	{"../../internal/core/engine/snapshot.go", `const stateVersion = (\d+)`, "const stateVersion = $1 + 1"},
	{"../../internal/api/admin/money.go", `Kind: bourse\.CommandCollectFees`, "Kind: bourse.CommandNewer"},
}

// newerBinary is a program of the next version, which is built once.
var newerBinary struct {
	once sync.Once
	path string
}

// buildNewer returns a program of the next version.
func buildNewer(t *testing.T) string {
	t.Helper()
	newerBinary.once.Do(func() { newerBinary.path = buildNewerIn(t, filepath.Join(built, "newer")) })
	if newerBinary.path == "" {
		t.Fatal("the program of the next version was not built")
	}
	return newerBinary.path
}

// buildNewerIn builds a program of the next version in a directory.
func buildNewerIn(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	replace := map[string]string{}
	for i, part := range newerParts {
		file, err := filepath.Abs(part.file)
		must(t, err)
		old, err := os.ReadFile(file)
		must(t, err)
		from := regexp.MustCompile(part.from)
		if n := len(from.FindAll(old, -1)); n != 1 {
			t.Fatalf("%s has %d places for the next version, not one", part.file, n)
		}
		replace[file] = filepath.Join(dir, fmt.Sprint(i, ".go"))
		must(t, os.WriteFile(replace[file], from.ReplaceAll(old, []byte(part.to)), 0o600))
	}

	text, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(overlay, text, 0o600))
	path := filepath.Join(dir, "bourse")
	must(t, buildStatic(path, "GOFLAGS=-overlay="+overlay))
	return path
}

// rolling is a cluster that is upgraded under its traders.
type rolling struct {
	*ring
	newer string
	pit   *pit
	key   string
	round uint64
}

// while does something under the traders. Afterwards the histories are checked, and the longest wait is printed.
func (u *rolling) while(what string, act func()) {
	u.t.Helper()
	u.round++
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { u.pit.work(int(u.round), u.round, stop) })
	waited := u.handover(u.key, fmt.Sprint("step-", u.round), act)
	close(stop)
	work.Wait()
	u.level()
	u.pit.decide(u.t)
	u.t.Logf("%s: %s without an acknowledgement at most", what, waited.Round(time.Millisecond))
}

// stop lets a node's process end.
func (u *rolling) stop(n *ringNode) {
	u.t.Helper()
	must(u.t, n.cmd.Process.Signal(syscall.SIGTERM))
	<-n.ended
	must(u.t, n.cmd.Wait())
	n.role.Store("")
}

// upgrade starts a node, which does not lead, with the newer program: no other node begins to lead meanwhile.
func (u *rolling) upgrade(n *ringNode) {
	u.t.Helper()
	before := u.status(u.leader())
	u.while(fmt.Sprintf("node %d gets the newer program", n.Node), func() {
		u.stop(n)
		n.program = u.newer
		u.start(n)
		within(u.t, patience, "a replica", func() bool { return n.role.Load() == "replica" })
	})
	if now := u.status(u.leader()); now.Leader != before.Leader || now.Term != before.Term {
		u.t.Errorf("node %d led in term %d, and node %d leads in term %d", before.Leader, before.Term, now.Leader, now.Term)
	}
}

// refused wants a command to fail with some words.
func (u *rolling) refused(says string, words ...string) {
	u.t.Helper()
	if stdout, stderr, code := run(u.t, words...); code == 0 || !strings.Contains(stderr, says) {
		u.t.Errorf("%v: exit %d, %s%s", words, code, stdout, stderr)
	}
}

// digest returns a hash of all files of a directory but sockets.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		_, _ = fmt.Fprintf(h, "%s %d\n%s", path, len(b), b)
		return err
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestRollingUpgrade upgrades three nodes one at a time under traders to a program that has one more kind of record. The
// kind is refused until all nodes know it and an operator has ended the upgrade, and taken from then on. No acknowledged
// order is lost, and only the transfer changes the leader. A node of the old program refuses to start afterwards, and
// changes no byte of its data.
func TestRollingUpgrade(t *testing.T) {
	u := &rolling{newer: buildNewer(t), ring: newRing(t, nil, func(r *ring) { r.args = []string{"--snapshot-every=100"} })}
	old := u.leader()
	_, u.key = u.operator().member("trader", "USDT", takerHas)
	u.pit, _ = openPit(t.Context(), u.operator(), 10, func() {})
	u.pit.enter(u.roamer)
	next, last := u.nodes[old.Node%ringNodes], u.nodes[(old.Node+1)%ringNodes]

	u.upgrade(next)
	snapshots := func(n *ringNode) []string { return kept(n.dir, "snapshots/*.snap") }
	within(t, patience, "a snapshot of the newer program", func() bool {
		u.while("more orders", func() {})
		log, err := os.ReadFile(next.log)
		must(t, err)
		return len(snapshots(next)) > 1 && strings.Contains(string(log), "snapshot of another version")
	})
	u.stop(next)
	next.program = "" // there is a way back
	u.start(next)
	u.level()
	u.upgrade(next)
	u.while("transfer", func() {
		tool[handed](t, "cluster", "transfer", "--data", old.dir, "--to", fmt.Sprint(next.Node))
	})
	collect := func(n *ringNode) []string { return []string{"admin", "--data", n.dir, "fees", "collect"} }
	u.refused("is being upgraded", collect(u.leader())...)
	u.refused("runs an older program", "cluster", "upgrade", "--data", old.dir)
	u.upgrade(last)
	if u.leader() != next {
		t.Fatalf("node %d leads", u.leader().Node)
	}
	u.stop(old)
	within(t, patience, "a leader that misses a node", func() bool {
		_, stderr, code := run(t, "cluster", "upgrade", "--data", next.dir)
		return code != 0 && strings.Contains(stderr, fmt.Sprintf("node %d is away", old.Node))
	})
	u.start(old)
	u.level()
	u.upgrade(old)

	u.refused("is being upgraded", collect(next)...)
	want := cluster.Versions{Records: bourse.LastCommandKind + 1, Rules: bourse.CurrentRules}
	for range 2 {
		if now := tool[cluster.Versions](t, "cluster", "upgrade", "--data", old.dir); now != want {
			t.Errorf("the cluster is upgraded to %v, not %v", now, want)
		}
	}
	u.while("the new kind is taken", func() { tool[any](t, collect(next)...) })

	u.stop(last)
	before := digest(t, last.dir)
	path, err := binary()
	must(t, err)
	for range 2 {
		out, err := exec.Command(path, "dev", "--node", fmt.Sprint(last.Node), "--data", u.data).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "this program is older than the cluster's") {
			t.Errorf("a node of the old program starts: %v, %s", err, out)
		}
	}
	if digest(t, last.dir) != before {
		t.Error("the old program has changed the node's data")
	}
	u.refused("written by a newer program", "journal", "replay", last.dir)

	u.start(last)
	u.while("the node is back with the newer program", func() {})
	u.same()
}

// same wants all nodes to have the same state after what all know to be committed.
func (u *rolling) same() {
	u.t.Helper()
	states := map[replayed]bool{}
	seq := uint64(0)
	for _, n := range u.nodes {
		seq = max(seq, operate[struct{ Seq uint64 }](&server{t: u.t, data: n.dir}, "status").Seq)
	}
	for _, n := range u.nodes {
		var end replayed
		within(u.t, patience, "a journal with all that was committed", func() bool {
			stdout, stderr, code := runOf(u.t, u.newer, "journal", "replay", n.dir, "--to", fmt.Sprint(seq))
			if code != 0 {
				u.t.Logf("journal replay: %s", stderr)
				return false
			}
			must(u.t, json.Unmarshal([]byte(stdout), &end))
			return end.Seq == seq
		})
		states[end] = true
	}
	if len(states) != 1 {
		u.t.Errorf("the nodes end in different states: %+v", states)
	}
}
