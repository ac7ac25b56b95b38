package raftlog_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// busyTrio returns nodes with entries of all kinds in several segments.
func busyTrio(t *testing.T) *trio {
	t.Helper()
	g := newTrio(t)
	for n := range 45 {
		if n == 20 {
			g.elect(0)
			g.change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{member(raftpb.ConfChangeAddLearnerNode, 5)}})
		}
		g.elect(n / 20 % 2)
		g.propose(n/20%2, fmt.Sprintf("%02d", n))
		g.step(6)
		if n%10 == 9 {
			g.mark()
		}
	}
	g.pass(4)
	g.mark()
	return g
}

func (g *trio) mark() {
	g.t.Helper()
	for i := range g.logs {
		if err := g.logs[i].Mark(); err != nil {
			g.t.Fatal(err)
		}
	}
}

// entry is an entry of a node's journal.
type entry struct {
	file string
	off  int64
	kind journal.EntryKind
	at   uint64
	hash journal.Hash
}

// entries are the entries of a journal; the error is that of a start.
func entries(d disk.Disk) (list []entry, err error) {
	_, _, err = journal.NewFiles(d, identity).Walk(nil, func(h *journal.Header, off int64, e *journal.Entry, _ *journal.Tip) {
		list = append(list, entry{h.Name(), off, e.Kind, e.Index, e.Chain})
	})
	return list, err
}

// replicated are the entries of raft, without their places.
func replicated(list []entry) (all []entry) {
	for _, e := range list {
		if e.kind.Replicated() {
			all = append(all, entry{kind: e.kind, at: e.at, hash: e.hash})
		}
	}
	return all
}

func files(disks ...*memdisk.Disk) (list []*journal.Files) {
	for _, d := range disks {
		list = append(list, journal.NewFiles(d, identity))
	}
	return list
}

// TestMendAnyEntry damages one entry after the other. Each that an entry of raft follows is mended from another node,
// whose segments end elsewhere; the others may be the last of several that the node has acknowledged, and are not.
func TestMendAnyEntry(t *testing.T) {
	g := busyTrio(t)
	whole, err := entries(g.disks[1])
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for i, e := range whole {
		if e.kind.Replicated() {
			last = i
		}
	}
	times, refused := 0, 0
	for i, hit := range whole {
		for _, off := range []int64{hit.off + 5, hit.off + 90} {
			d := g.disks[1].Clone()
			if err := d.Damage(hit.file, off, 4); err != nil {
				t.Fatal(err)
			}
			damage := (*journal.DamageError)(nil)
			if _, err := entries(d); !errors.As(err, &damage) {
				continue // it looks torn: nothing proves that it was durable
			}

			mended, err := journal.NewFiles(d, identity).Mend(files(g.disks[2]))
			if i >= last {
				refused++
				if !errors.As(err, &damage) || len(mended) > 0 {
					t.Errorf("the last entry is mended: %v, %v", mended, err)
				}
				continue
			}
			times++
			got, failed := entries(d)
			if err != nil || failed != nil || !slices.Equal(mended, []string{hit.file}) || !slices.Equal(replicated(got), replicated(whole)) {
				t.Errorf("entry %+v: mended are %v, %v; then %v, %d entries", hit, mended, err, failed, len(got))
			}
			if kept, err := d.List(journal.TornDir); err != nil || len(kept) != 1 {
				t.Errorf("kept are %v, %v", kept, err)
			}
			if again, err := journal.NewFiles(d, identity).Mend(nil); err != nil || len(again) > 0 {
				t.Errorf("what is whole is mended: %v, %v", again, err)
			}
		}
	}
	if times < 40 || refused < 2 {
		t.Errorf("something was mended %d times, and refused %d times", times, refused)
	}
}

// TestMendTwo damages two nodes of three at once, each in two segments. They get from each other and from the third
// what they lack, and vote under their ids: without the third they elect a leader and commit.
func TestMendTwo(t *testing.T) {
	g := busyTrio(t)
	all := g.texts(0)
	for _, i := range []int{0, 1} {
		list, err := entries(g.disks[i])
		if err != nil {
			t.Fatal(err)
		}
		g.disks[i] = g.disks[i].Clone()
		for _, n := range []int{7, 8 + i, 9, 25 + i} {
			if err := g.disks[i].Damage(list[n].file, list[n].off+80, 16); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := raftlog.Open(g.disks[i], options(small, nil)); err == nil {
			t.Fatal("a damaged journal is opened")
		}
	}
	third := g.disks[2].Clone()
	for i, others := range [][]*journal.Files{files(g.disks[1], third), files(g.disks[0], third)} {
		if _, err := journal.NewFiles(g.disks[i], identity).Mend(others); err != nil {
			t.Fatal(err)
		}
		g.taken[i] = nil
		g.open(i)
	}

	g.away[2] = true
	g.elect(1)
	g.propose(1, "zz")
	g.pass(6)
	g.verify(0, all+" zz")
	g.verify(1, all+" zz")
}

// TestMendNeedsAnother has nobody who has the entries.
func TestMendNeedsAnother(t *testing.T) {
	g := busyTrio(t)
	list, err := entries(g.disks[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, others := range map[string][]*journal.Files{
		"nobody": nil, "a node without them": files(memdisk.New(5)),
		"a node with the same damage": files(g.disks[2].Clone()),
	} {
		d := g.disks[1].Clone()
		if err := d.Damage(list[8].file, list[8].off+80, 1); err != nil {
			t.Fatal(err)
		}
		if name == "a node with the same damage" {
			theirs, err := entries(g.disks[2])
			if err != nil {
				t.Fatal(err)
			}
			same := slices.IndexFunc(theirs, func(e entry) bool { return e.hash == list[8].hash && e.at == list[8].at })
			rotten := g.disks[2].Clone()
			if err := rotten.Damage(theirs[same].file, theirs[same].off+80, 1); err != nil {
				t.Fatal(err)
			}
			others = files(rotten)
		}
		if _, err := journal.NewFiles(d, identity).Mend(others); !errors.Is(err, journal.ErrNoSource) {
			t.Errorf("%s: %v", name, err)
		}
		if kept, err := d.List(journal.TornDir); err == nil && len(kept) > 0 {
			t.Errorf("%s: kept are %v", name, kept)
		}
	}
}

// TestMendOfAnotherLog damages the first of two entries that leave the hash chain as it is. Another node has entries of
// other terms there, and knows none of them to be committed: nothing is mended. A third node has the right ones.
func TestMendOfAnotherLog(t *testing.T) {
	took := func(terms ...uint64) *memdisk.Disk {
		g, s := newTrio(t), newScript()
		for _, term := range terms {
			s.hand(g, term, 1, []*raftpb.Entry{s.entry(term, raftpb.EntryNormal, nil)})
		}
		return g.disks[0]
	}
	whole, other := took(2, 3), took(4, 5)
	list, err := entries(whole)
	if err != nil {
		t.Fatal(err)
	}
	d := whole.Clone()
	if err := d.Damage(list[1].file, list[1].off+80, 1); err != nil {
		t.Fatal(err)
	}

	mine := journal.NewFiles(d, identity)
	if mended, err := mine.Mend(files(other)); !errors.Is(err, journal.ErrNoSource) || len(mended) > 0 {
		t.Errorf("another log: mended are %v, %v", mended, err)
	}
	if _, err := mine.Mend(files(other, whole)); err != nil {
		t.Errorf("another log and the right one: %v", err)
	}
	if got, err := entries(d); err != nil || !slices.Equal(replicated(got), replicated(list)) {
		t.Errorf("the journal has %+v, not %+v: %v", got, list, err)
	}
}

// TestMendRefusedEntries damages an entry of a leader that was never committed, because the others could not be reached
// and went on without it. Once they have committed others in its place, no node will ever have it.
func TestMendRefusedEntries(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.propose(0, "aa")
	g.step(6)
	g.away[0] = true
	for range 3 {
		g.propose(0, "xx")
		g.step(2)
	}
	list, err := entries(g.disks[0])
	if err != nil {
		t.Fatal(err)
	}
	refused := list[len(list)-3]
	d := g.disks[0].Clone()
	if err := d.Damage(refused.file, refused.off+80, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.NewFiles(d, identity).Mend(files(g.disks[1])); !errors.Is(err, journal.ErrNoSource) {
		t.Errorf("before the others went on: %v", err)
	}

	g.elect(1)
	for range 5 {
		g.propose(1, "bb")
		g.step(6)
	}
	var damage *journal.DamageError
	if _, err := journal.NewFiles(d, identity).Mend(files(g.disks[1])); !errors.As(err, &damage) || damage.File != refused.file {
		t.Errorf("once the others have gone on: %v", err)
	}
}

// newTrioThatTook returns nodes that have all taken a command several times.
func newTrioThatTook(t *testing.T, text string, times int) *trio {
	t.Helper()
	g := newTrio(t)
	g.elect(0)
	for range times {
		g.propose(0, text)
		g.step(6)
	}
	return g
}

// TestMendAnywhere ends a mend at each operation of the disk. The next one finds the damaged segment or the mended one.
func TestMendAnywhere(t *testing.T) {
	g := busyTrio(t)
	whole, err := entries(g.disks[1])
	if err != nil {
		t.Fatal(err)
	}
	for stop := 1; ; stop++ {
		d := g.disks[1].Clone()
		if err := d.Damage(whole[8].file, whole[8].off+80, 1); err != nil {
			t.Fatal(err)
		}
		d.StopAt(stop)
		_, err := journal.NewFiles(d, identity).Mend(files(g.disks[2]))
		if err == nil {
			if stop < 5 {
				t.Errorf("only %d operations", stop)
			}
			return
		}
		after := d.Crash()
		if _, err := journal.NewFiles(after, identity).Mend(files(g.disks[2])); err != nil {
			t.Fatalf("after %d operations: %v", stop, err)
		}
		if got, err := entries(after); err != nil || !slices.Equal(replicated(got), replicated(whole)) {
			t.Errorf("after %d operations: %v", stop, err)
		}
	}
}

// TestMendArchived damages one archived segment after the other, at its end and in its middle. It gets its entries from
// another node, whose segments are live or in its archive. A header that is damaged is left.
func TestMendArchived(t *testing.T) {
	g := busyTrio(t)
	all := g.texts(0)
	for _, i := range []int{0, 1} {
		journaltest.Archive(t, journal.NewFiles(g.disks[i], identity), g.logs[i].Durable())
	}
	ours, damage := journal.NewFiles(g.disks[1], identity), (*journal.DamageError)(nil)
	times := 0
	for first, ok, err := ours.NextArchived(0); ok || err != nil; first, ok, err = ours.NextArchived(first + 1) {
		name := fmt.Sprintf("%s/%020d.seg.zst", journal.ArchiveDir, first)
		for _, other := range []int{0, 2} {
			b, failed := disk.ReadFile(g.disks[1], name)
			if err := errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			if err := g.disks[1].Damage(name, int64(len(b)-1), 4); err != nil {
				t.Fatal(err)
			}
			if err := ours.CheckArchived(first); !errors.As(err, &damage) || damage.File != name {
				t.Errorf("damage is not found: %v", err)
			}
			if err := ours.MendArchived(first, nil); !errors.Is(err, journal.ErrNoSource) {
				t.Errorf("mended from nobody: %v", err)
			}
			if err := errors.Join(ours.MendArchived(first, files(g.disks[other])), ours.CheckArchived(first)); err != nil {
				t.Errorf("the segment of command %d: %v", first, err)
			}
			g.verify(1, all)
			times++
		}
	}
	if names, err := g.disks[1].List(journal.ArchiveDir); err != nil || times != 2*len(names) || times < 4 {
		t.Errorf("mended %d times, left are %v, %v", times, names, err)
	}

	name := fmt.Sprintf("%s/%020d.seg.zst", journal.ArchiveDir, 1)
	for off := range int64(200) {
		if err := g.disks[1].Damage(name, off, 255); err != nil {
			t.Fatal(err)
		}
	}
	if err := ours.MendArchived(1, files(g.disks[0])); !errors.As(err, &damage) || damage.File != name {
		t.Errorf("a segment without a header: %v", err)
	}
}

// TestMendBesideACopy ends a node between the two steps that move a segment to the archive, and mends the segment then,
// which writes it in other bytes. The next call takes the copy in the archive, and not one of other entries.
func TestMendBesideACopy(t *testing.T) {
	g := busyTrio(t)
	d := g.disks[1].Clone()
	mine := journal.NewFiles(d, identity)
	list, err := entries(d)
	if err != nil {
		t.Fatal(err)
	}
	oldest := list[0].file
	before := d.Clone()
	if moved, err := mine.ArchiveNext(g.logs[1].Durable() + 1); !moved || err != nil {
		t.Fatalf("moved %t, %v", moved, err)
	}
	archived, err := d.List(journal.ArchiveDir)
	if err != nil {
		t.Fatal(err)
	}
	copied := journal.ArchiveDir + "/" + archived[0]
	packed, err := disk.ReadFile(d, copied)
	if err != nil {
		t.Fatal(err)
	}

	original, err := disk.ReadFile(before, oldest)
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range list {
		d = before.Clone()
		mine = journal.NewFiles(d, identity)
		if err := errors.Join(d.Damage(oldest, hit.off+5, 4), d.MkdirAll(journal.ArchiveDir)); err != nil {
			t.Fatal(err)
		}
		if mended, err := mine.Mend(files(g.disks[2])); err != nil || len(mended) != 1 || mended[0] != oldest {
			t.Fatalf("mended are %v, %v", mended, err)
		}
		if now, err := disk.ReadFile(d, oldest); err != nil {
			t.Fatal(err)
		} else if !slices.Equal(now, original) {
			break
		}
	}

	write := func(b []byte) {
		t.Helper()
		if err := disk.Replace(d, copied, "tmp", b); err != nil {
			t.Fatal(err)
		}
	}
	write(packed[:len(packed)-8])
	if moved, err := mine.ArchiveNext(g.logs[1].Durable() + 1); moved || err == nil {
		t.Errorf("a copy that is damaged is taken: %t, %v", moved, err)
	}
	write(packed)
	if moved, err := mine.ArchiveNext(g.logs[1].Durable() + 1); !moved || err != nil {
		t.Errorf("the copy is not taken: %t, %v", moved, err)
	}
	if now, err := disk.ReadFile(d, copied); err != nil || !slices.Equal(now, packed) {
		t.Errorf("the archive was changed: %v", err)
	}
}
