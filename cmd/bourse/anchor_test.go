package main

import (
	endian "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// cutFrames takes the last frames from a stopped journal, as somebody would who has the
// disk: what is left is a journal that was killed there.
func cutFrames(t *testing.T, data string, n int) {
	t.Helper()
	cut(t, data, func(firsts []uint64) int { return len(firsts) - n })
}

// cutFrom takes the frames from a command on.
func cutFrom(t *testing.T, data, seq string) {
	t.Helper()
	var from uint64
	_, err := fmt.Sscan(seq, &from)
	must(t, err)
	cut(t, data, func(firsts []uint64) int {
		return slices.IndexFunc(firsts, func(first uint64) bool { return first >= from })
	})
}

// cut clears the end of the newest segment, from the frame that choose picks by the first
// commands of all frames there.
func cut(t *testing.T, data string, choose func(firsts []uint64) int) {
	t.Helper()
	const block, frameAt, batch = 4096, 56, 1
	path := newest(t, data, "journal/*.seg")
	b, err := os.ReadFile(path)
	must(t, err)

	le := endian.LittleEndian
	var offsets []int
	var firsts []uint64
	for at := block; at < len(b) && le.Uint32(b[at:]) != 0; {
		if le.Uint16(b[at+6:]) == batch {
			offsets, firsts = append(offsets, at), append(firsts, le.Uint64(b[at+frameAt+8:]))
		}
		size := frameAt + int(le.Uint32(b[at+frameAt:]))
		at += (size + block - 1) / block * block
	}
	n := choose(firsts)
	if n <= 0 {
		t.Fatalf("%s has %d frames", path, len(firsts))
	}
	clear(b[offsets[n]:])
	must(t, os.WriteFile(path, b, 0o600))
}

// withoutHistory removes a history, which a start makes again.
func withoutHistory(t *testing.T, data string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "history.db*"))
	must(t, err)
	for _, file := range files {
		must(t, os.Remove(file))
	}
}

// lastOf returns the last command of a journal.
func lastOf(t *testing.T, data string) uint64 {
	t.Helper()
	return tool[struct {
		Last uint64 `json:"last_seq"`
	}](t, "journal", "stat", data).Last
}

// refused wants a program to end with a code and to say some words.
func refused(t *testing.T, code int, says []string, args ...string) {
	t.Helper()
	stdout, stderr, got := run(t, args...)
	for _, words := range says {
		if got != code || !strings.Contains(stdout+stderr, words) {
			t.Errorf("bourse %v: exit %d, and it does not say %q:\n%s%s", args, got, words, stdout, stderr)
		}
	}
}

// refusedStart wants a start to end with a code and to say some words.
func refusedStart(t *testing.T, code int, says []string, command, data string, args ...string) {
	t.Helper()
	s := &server{t: t, data: data, args: args}
	if command == "dev" {
		s.args = append(s.args, "--bots=false", "--block-time=0")
	}
	if s.launch(command) {
		s.kill()
		t.Fatalf("bourse %s %v: it serves", command, args)
	}
	for _, words := range says {
		if got := s.cmd.ProcessState.ExitCode(); got != code || !strings.Contains(s.log.String(), words) {
			t.Errorf("bourse %s %v: exit %d, and it does not say %q:\n%s", command, args, got, words, s.log)
		}
	}
}

// anchoredExchange makes a stopped sandbox that is anchored. The last thing that happened
// is that a key was revoked.
func anchoredExchange(t *testing.T, args ...string) (data, anchored, key string) {
	t.Helper()
	anchored = t.TempDir()
	s := start(t, t.TempDir(), append([]string{"--bots=false", "--block-time=0", "--anchor=" + anchored}, args...)...)
	for i := range 8 {
		operate[any](s, "account", "create", fmt.Sprintf("customer%d@example.org", i))
	}
	key, _ = s.revoked()
	s.level(t)
	if len(args) > 0 {
		s.snapshotAt(t, commandOf(t, s.data, "^revoke key="))
	}
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	return s.data, anchored, key
}

// snapshotAt waits until there is a snapshot at a command or behind it.
func (s *server) snapshotAt(t *testing.T, seq string) {
	t.Helper()
	var wanted uint64
	_, err := fmt.Sscan(seq, &wanted)
	must(t, err)
	name := fmt.Sprintf("%020d.snap", wanted)
	for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		if files := kept(s.data, "snapshots/*.snap"); len(files) > 0 && filepath.Base(files[len(files)-1]) >= name {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no snapshot at %d", wanted)
		}
	}
}

// TestJournalCutBack cuts 13 frames from the end of a journal, history and all: the
// verification, the audit and the start name both heads, and an operator who accepts the
// loss says so once, with a reason that is kept.
func TestJournalCutBack(t *testing.T) {
	data, anchored, _ := anchoredExchange(t)
	tool[any](t, "journal", "verify", data, "--anchor", anchored)
	tool[any](t, "admin", "--data", data, "audit", "--anchor", anchored)
	before := lastOf(t, data)
	must(t, os.Remove(filepath.Join(data, "accounts.db")))
	withoutHistory(t, data)
	cutFrames(t, data, 13)
	after := lastOf(t, data)

	tool[any](t, "journal", "verify", data) // the journal alone cannot tell
	heads := []string{fmt.Sprintf("has command %d (chain ", before), fmt.Sprintf("ends at command %d (chain ", after)}
	refused(t, exitDamaged, heads, "journal", "verify", data, "--anchor", anchored)
	refused(t, exitFailed, heads, "admin", "--data", data, "audit", "--anchor", anchored)
	advice := fmt.Sprintf("--accept-journal %d --reason", after)
	command := fmt.Sprintf(" dev --data %s --listen 127.0.0.1:0 --anchor %s --bots=false --block-time=0 %s", data, anchored, advice)
	refusedStart(t, exitDamaged, append(heads, "Restore the missing segments", command), "dev", data, "--anchor", anchored)
	refusedStart(t, exitDamaged, heads, "dev", data, "--anchor", anchored, "--accept-journal=1", "--reason=x")
	refusedStart(t, exitFailed, []string{"--reason"}, "dev", data, "--anchor", anchored, fmt.Sprintf("--accept-journal=%d", after))

	s := start(t, data, "--bots=false", "--block-time=0", "--anchor="+anchored, fmt.Sprintf("--accept-journal=%d", after), "--reason=the disk was lost")
	s.level(t)
	if log := string(operate[json.RawMessage](s, "log")); !strings.Contains(log, "the disk was lost") {
		t.Errorf("the log is %s", log)
	}
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	again := copied(t, data)
	cutFrom(t, again, fmt.Sprint(after+1))
	refusedStart(t, exitDamaged, []string{"ends at command"}, "dev", again, "--anchor", anchored, fmt.Sprintf("--accept-journal=%d", after), "--reason=x")
	kept, err := os.ReadFile(filepath.Join(anchored, "anchor"))
	if err != nil || !strings.Contains(string(kept), "the disk was lost") {
		t.Errorf("anchored is %s: %v", kept, err)
	}
	start(t, data, "--bots=false", "--block-time=0", "--anchor="+anchored)
	tool[any](t, "journal", "verify", data, "--anchor", anchored)
}

// TestWitnessesOfACutJournal has no anchor. What was made of a journal knows that it was
// longer: each witness alone refuses the start, and the message says to delete nothing.
func TestWitnessesOfACutJournal(t *testing.T) {
	template, _, _ := anchoredExchange(t, "--snapshot-every=1")
	for name, hide := range map[string]func(data string){
		"history.db has command": func(data string) { must(t, os.RemoveAll(filepath.Join(data, "snapshots"))) },
		"there is a snapshot at": func(data string) { withoutHistory(t, data) },
		"is not in the journal. Either": func(data string) {
			withoutHistory(t, data)
			must(t, os.RemoveAll(filepath.Join(data, "snapshots")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := copied(t, template)
			cutFrom(t, data, commandOf(t, data, "^account"))
			hide(data)
			s := &server{t: t, data: data, args: []string{"--bots=false", "--block-time=0"}}
			started := s.launch("dev")
			if started {
				s.kill()
			}
			if said := s.log.String(); started || !strings.Contains(said, name) || !strings.Contains(strings.ToLower(said), "delete nothing") || strings.Contains(said, "may be deleted") {
				t.Errorf("it started: %t\n%s", started, said)
			}
		})
	}
}

// TestJournalReplaced starts with a journal of the same exchange that took another way
// since it was copied, and is longer than the anchored one.
func TestJournalReplaced(t *testing.T) {
	data, anchored, _ := anchoredExchange(t)
	other := copied(t, data)
	for _, way := range []struct {
		data string
		args []string
		most int
	}{{data, []string{"--anchor=" + anchored}, 2}, {other, nil, 6}} {
		s := start(t, way.data, append([]string{"--bots=false", "--block-time=0"}, way.args...)...)
		for i := range way.most {
			operate[any](s, "account", "create", fmt.Sprintf("another%d@example.org", i))
		}
		for way.args == nil && lastOf(t, other) <= lastOf(t, data) {
			operate[any](s, "log")
		}
		if code, _ := s.stop(); code != 0 {
			t.Fatalf("exit %d", code)
		}
	}
	refusedStart(t, exitDamaged, []string{"has another command there"}, "dev", other, "--anchor", anchored)
	refused(t, exitDamaged, []string{"another frame there"}, "journal", "verify", other, "--anchor", anchored)
	tool[any](t, "journal", "verify", data, "--anchor", anchored)
}

// TestPlaceOfTheAnchor refuses places that are no anchor of this exchange.
func TestPlaceOfTheAnchor(t *testing.T) {
	data, anchored, _ := anchoredExchange(t)
	other, elsewhere, _ := anchoredExchange(t)
	inside := filepath.Join(data, "anchor")
	must(t, os.Mkdir(inside, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(inside, link))
	damaged := t.TempDir()
	b, err := os.ReadFile(filepath.Join(anchored, "anchor"))
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(filepath.Join(damaged, "anchor"), b, 0o600))

	for _, c := range []struct {
		data, anchor, says string
		code               int
	}{
		{other, anchored, "belongs to another exchange", exitFailed},
		{data, elsewhere, "belongs to another exchange", exitFailed},
		{t.TempDir(), anchored, "holds no journal", exitDamaged},
		{data, t.TempDir(), "nothing is anchored in", exitDamaged},
		{data, filepath.Join(anchored, "missing"), "make the directory", exitFailed},
		{data, inside, "inside the data directory", exitFailed},
		{data, link, "inside the data directory", exitFailed},
		{data, data, "inside the data directory", exitFailed},
		{data, damaged, "is damaged at byte", exitDamaged},
	} {
		refusedStart(t, c.code, []string{c.says}, "dev", c.data, "--anchor", c.anchor)
	}
}

// TestAnchorAway takes the anchor away from a running exchange: trading goes on, readyz
// and the log say so, and the next head is anchored when it is back. A start without it is
// refused.
func TestAnchorAway(t *testing.T) {
	anchored := filepath.Join(t.TempDir(), "anchor")
	must(t, os.Mkdir(anchored, 0o700))
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--anchor="+anchored)
	must(t, os.Rename(anchored, anchored+".away"))
	s.anchorAway(t, true)
	operate[any](s, "account", "create", "someone@example.org")
	must(t, os.Rename(anchored+".away", anchored))
	s.anchorAway(t, false)

	// Another disk under the same name is not taken for the anchor.
	must(t, os.Rename(anchored, anchored+".away"))
	must(t, os.Mkdir(anchored, 0o700))
	s.anchorAway(t, true)
	if files, err := os.ReadDir(anchored); err != nil || len(files) != 0 {
		t.Errorf("it wrote %v: %v", files, err)
	}
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for _, says := range []string{"the anchor is away", "the anchor is back", "not anchored"} {
		if !strings.Contains(s.log.String(), says) {
			t.Errorf("the log does not say %q:\n%s", says, s.log)
		}
	}
	refusedStart(t, exitDamaged, []string{"nothing is anchored in"}, "dev", s.data, "--anchor", anchored)
	must(t, errors.Join(os.Remove(anchored), os.Rename(anchored+".away", anchored)))
	start(t, s.data, "--bots=false", "--block-time=0", "--anchor="+anchored)
}

// TestAnchorAwayAndPruned kills an exchange whose anchor was away for longer than
// snapshots are kept, and whose first commands were pruned. The anchored snapshot is still
// there, with the journal behind it. Without that one the start says what to do.
func TestAnchorAwayAndPruned(t *testing.T) {
	anchored := filepath.Join(t.TempDir(), "anchor")
	must(t, os.Mkdir(anchored, 0o700))
	s := start(t, t.TempDir(), append(slices.Clone(short), "--anchor="+anchored)...)
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(8, 8)))
	c.most = 100
	within(t, patience, "archived", func() bool {
		c.trade(s.url)
		return len(kept(s.data, "archive/*.zst")) > 0
	})
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	live := kept(s.data, "journal/*.seg")
	tool[any](t, "journal", "prune", s.data, "--before", strings.TrimLeft(strings.TrimSuffix(filepath.Base(live[0]), ".seg"), "0"), "--i-have-a-copy")

	s.start()
	must(t, os.Rename(anchored, anchored+".away"))
	s.anchorAway(t, true)
	last := newest(t, s.data, "snapshots/*.snap")
	within(t, patience, "four snapshots", func() bool {
		c.trade(s.url)
		list := kept(s.data, "snapshots/*.snap")
		return len(list) > 3 && list[len(list)-4] > last
	})
	s.kill()
	must(t, os.Rename(anchored+".away", anchored))
	must(t, os.Remove(filepath.Join(s.data, "admin.sock")))
	lost, witness := copied(t, s.data), copied(t, anchored)
	s.start()
	c.check(t, s.url)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	tool[any](t, "journal", "verify", s.data, "--anchor", anchored)

	snapshots := kept(lost, "snapshots/*.snap")
	must(t, os.Remove(snapshots[0]))
	accept := fmt.Sprintf("--accept-journal %d --reason", lastOf(t, lost))
	refusedStart(t, exitDamaged, []string{"no snapshot", "is anchored", accept}, "dev", lost, "--anchor", witness)
	s = start(t, lost, append(slices.Clone(short), "--anchor="+witness, fmt.Sprintf("--accept-journal=%d", lastOf(t, lost)), "--reason=the anchor was away")...)
	c.check(t, s.url)
}

// anchorAway waits until readyz says whether the anchor is away.
func (s *server) anchorAway(t *testing.T, away bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		r, err := http.Get(s.url + "/readyz")
		must(t, err)
		var state struct {
			Ready bool
			Away  bool `json:"anchor_away"`
		}
		must(t, errors.Join(json.NewDecoder(r.Body).Decode(&state), r.Body.Close()))
		if !state.Ready {
			t.Fatal("it is not ready")
		}
		if state.Away == away {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("away stays %t", state.Away)
		}
	}
}

// TestForgedFiles has somebody who can write the disk, and not the anchor, undo the
// revocation of a key without a touch of the journal: by an entry of their own in the file
// of voids, and by a snapshot of a state in which it never happened. Every checksum is
// right.
func TestForgedFiles(t *testing.T) {
	template, anchored, _ := anchoredExchange(t, "--snapshot-every=1")
	var seq bourse.Seq
	_, err := fmt.Sscan(commandOf(t, template, "^revoke key="), &seq)
	must(t, err)

	t.Run("void", func(t *testing.T) {
		data := copied(t, template)
		forgeVoid(t, data, seq)
		must(t, os.RemoveAll(filepath.Join(data, "snapshots")))
		refusedStart(t, exitFailed, []string{"not anchored", "the engine applies it"}, "dev", data, "--anchor", anchored)
	})
	t.Run("void of what is to come", func(t *testing.T) {
		data := copied(t, template)
		forgeVoid(t, data, bourse.Seq(lastOf(t, data))+5)
		refusedStart(t, exitDamaged, []string{"is void, and the journal"}, "dev", data)
		refused(t, exitDamaged, []string{"is void, and the journal"}, "journal", "verify", data)
	})
	t.Run("snapshot", func(t *testing.T) {
		data := copied(t, template)
		forgeSnapshot(t, data, seq)
		refusedStart(t, exitDamaged, []string{"somebody changed it"}, "dev", data, "--anchor", anchored)
		refused(t, exitDamaged, []string{"and the snapshot there"}, "journal", "verify", data, "--anchor", anchored)
	})
}

// forgeVoid voids a command by hand.
func forgeVoid(t *testing.T, data string, seq bourse.Seq) {
	t.Helper()
	d, err := disk.OpenExisting(data)
	must(t, err)
	id, _, err := journal.Identify(d)
	must(t, err)
	voids, err := journal.LoadVoids(d, id)
	must(t, err)
	must(t, voids.Append(journal.Void{Seq: seq, Reason: "x"}))
	must(t, d.Close())
}

// forgeSnapshot writes the newest snapshot anew, of a state without what a command did.
func forgeSnapshot(t *testing.T, data string, without bourse.Seq) {
	t.Helper()
	forged := copied(t, data)
	forgeVoid(t, forged, without)
	x, err := audit.Open(forged)
	must(t, err)
	list, err := x.Snapshots.List()
	must(t, err)
	at := list[len(list)-1]
	if at < without {
		t.Fatalf("the newest snapshot is at %d, the command at %d", at, without)
	}
	whole, err := x.Snapshots.Load(at)
	must(t, err)
	state, err := x.Replay(at, nil)
	must(t, err)

	d, err := disk.OpenExisting(data)
	must(t, err)
	w, err := journal.NewSnapshots(d, x.Identity).Create(at)
	must(t, err)
	w.Section("engine")
	state.Engine.Snapshot(func(b []byte) { _, _ = w.Write(b) })
	tape, _ := whole.Section("tape")
	w.Section("tape")
	_, _ = w.Write(tape)
	must(t, w.Commit(journal.SnapshotHeader{Tip: whole.Header.Tip, State: state.Engine.StateHash()}))
	must(t, errors.Join(d.Close(), x.Close()))
}
