package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// replica writes a segment of a cluster's journal.
type replica struct {
	head  journal.Header
	tip   journal.Tip
	at    journal.Position
	bytes []byte
	// change, if not nil, changes an entry before it is encoded.
	change func(e *journal.Entry)
}

func newReplica() *replica {
	r := &replica{head: journal.Header{Identity: ours, Replica: &journal.Replica{
		At: journal.Position{Index: 1, Term: 1}, Members: []byte{3, 1, 2}, MembersAt: 1,
	}}}
	r.at = r.head.Replica.At
	r.bytes = r.head.Bytes()
	return r
}

// add appends an entry of a kind, of a term, that knows this index as committed.
func (r *replica) add(kind journal.EntryKind, term, commit uint64, count int, data string) {
	f := journal.Frame{
		First: r.tip.Last + 1, Count: count, Term: term, Time: r.tip.Time, Previous: r.tip.Chain, Commands: []byte(data),
	}
	if count > 0 {
		f.Time += 1000
	}
	if kind.Replicated() {
		r.at = journal.Position{Index: r.at.Index + 1, Term: term}
	}

	e := journal.Entry{Kind: kind, Synced: int64(len(r.bytes)), Index: r.at.Index, Commit: commit}
	if r.change != nil {
		r.change(&e)
	}
	frame, chain := f.Append(nil)
	r.bytes = r.head.Append(r.bytes, int64(len(r.bytes)), &e, frame)
	if count > 0 {
		r.tip = journal.Tip{Last: r.tip.Last + bourse.Seq(count), Chain: chain, Term: term, Time: f.Time}
	}
}

// some writes an entry of each kind.
func (r *replica) some() {
	r.add(journal.EntryMark, 1, 1, 0, "")
	r.add(journal.EntryEmpty, 2, 1, 0, "")
	r.add(journal.EntryBatch, 2, 1, 2, "1-")
	r.add(journal.EntryMembers, 2, 3, 0, "somebody joins")
	r.add(journal.EntryBatch, 2, 4, 2, "2-")
	r.add(journal.EntryMark, 2, 5, 0, "")
	r.add(journal.EntryEmpty, 3, 5, 0, "")
	r.add(journal.EntryBatch, 3, 6, 2, "3-")
	r.add(journal.EntryMark, 3, 7, 0, "")
	r.add(journal.EntrySeal, 3, 7, 0, "")
}

func (r *replica) disk(t *testing.T) *memdisk.Disk {
	return holding(t, onlySegment, append(bytes.Clone(r.bytes), make([]byte, 3*journal.Block)...))
}

// TestReplicaFixture reads a cluster's segment of the newest format and compares the bytes
// written now with it.
func TestReplicaFixture(t *testing.T) {
	const newest, packed = "testdata/replica-v3", "archive/00000000000000000001.seg.zst"
	r := newReplica()
	r.some()
	if *rewrite {
		d := r.disk(t)
		following := newReplica()
		following.head.Tip, following.head.Replica.At = r.tip, r.at
		f, err := d.Create(following.head.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(following.head.Bytes(), 0); err != nil {
			t.Fatal(err)
		}
		archiveAll(t, journal.NewFiles(d, ours), 7)
		keepFixture(t, d, newest)
	}

	fixture, err := disk.Open(newest)
	if err != nil {
		t.Fatal(err)
	}
	check(t, reader(t, journal.NewFiles(fixture, ours).Read, 1), 1, 3)

	b, err := os.ReadFile(filepath.Join(newest, packed))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if plain, err := z.DecodeAll(b, nil); err != nil || !bytes.Equal(plain, r.bytes) {
		t.Errorf("what is written is not the format of %s: %v", newest, err)
	}
}

// TestReplicaWalk visits each entry, and finds positions and members again.
func TestReplicaWalk(t *testing.T) {
	r := newReplica()
	r.some()
	var kinds []journal.EntryKind
	var commits []uint64
	end, ok, err := journal.NewFiles(r.disk(t), ours).Walk(nil,
		func(h *journal.Header, off int64, e *journal.Entry, tip *journal.Tip) {
			kinds, commits = append(kinds, e.Kind), append(commits, e.Commit)
			if h.Replica.MembersAt != 1 || !bytes.Equal(h.Replica.Members, []byte{3, 1, 2}) || off%journal.Block != 0 {
				t.Errorf("entry at %d of %+v", off, h.Replica)
			}
			if e.Kind == journal.EntryMembers && string(e.Frame.Commands) != "somebody joins" {
				t.Errorf("members are %q", e.Frame.Commands)
			}
			if e.Kind == journal.EntryBatch && tip.Chain != e.Chain {
				t.Errorf("the tip at command %d is not of its frame", tip.Last)
			}
		})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if want := (journal.Position{Index: 7, Term: 3}); end.At != want || end.Tip != r.tip || end.Frames != 3 {
		t.Errorf("the end is %+v", end)
	}
	if !slices.Equal(commits, []uint64{1, 1, 1, 3, 4, 5, 5, 6, 7, 7}) || kinds[3] != journal.EntryMembers {
		t.Errorf("kinds are %v, commits %v", kinds, commits)
	}
}

// TestReplicaDamage wants entries that no node writes to be damage.
func TestReplicaDamage(t *testing.T) {
	for name, change := range map[string]func(e *journal.Entry){
		"gap of indexes":          func(e *journal.Entry) { e.Index++ },
		"index twice":             func(e *journal.Entry) { e.Index-- },
		"commit beyond the entry": func(e *journal.Entry) { e.Commit = e.Index + 1 },
		"commit goes back":        func(e *journal.Entry) { e.Commit = 2 },
		"unknown kind":            func(e *journal.Entry) { e.Kind = journal.EntryMembers + 1 },
		"batch without commands":  func(e *journal.Entry) { e.Kind = journal.EntryBatch },
		"members are bytes":       func(e *journal.Entry) { e.Kind = journal.EntryEmpty },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplica()
			r.add(journal.EntryEmpty, 2, 1, 0, "")
			r.add(journal.EntryBatch, 2, 2, 2, "1-")
			r.add(journal.EntryBatch, 2, 3, 2, "2-")
			r.change = change
			r.add(journal.EntryMembers, 2, 3, 0, "somebody joins")
			_, _, err := journal.NewFiles(r.disk(t), ours).End(nil)
			if damage := (*journal.DamageError)(nil); !errors.As(err, &damage) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestTermsDoNotGoBack(t *testing.T) {
	r := newReplica()
	r.add(journal.EntryEmpty, 5, 1, 0, "")
	r.add(journal.EntryEmpty, 4, 1, 0, "")
	if _, _, err := journal.NewFiles(r.disk(t), ours).End(nil); err == nil {
		t.Error("term 4 after term 5 is read")
	}
}

// TestReplicaIsNoSingleNodes wants a single node's log to refuse a cluster's journal.
func TestReplicaIsNoSingleNodes(t *testing.T) {
	r := newReplica()
	r.some()
	if _, _, err := filelog.Open(r.disk(t), journal.Options{Identity: ours}); !errors.Is(err, journal.ErrReplica) {
		t.Errorf("the error is %v", err)
	}
}

// TestReadersSeeReplacedEntries replaces entries that a bounded reader has in its buffer.
func TestReadersSeeReplacedEntries(t *testing.T) {
	old := newReplica()
	old.add(journal.EntryBatch, 1, 1, 2, "1-")
	from := len(old.bytes)
	old.add(journal.EntryBatch, 1, 2, 2, "x-")
	d := old.disk(t)
	durable := bourse.Seq(2)
	r, err := journal.NewFiles(d, ours).ReadDurable(1, func() bourse.Seq { return durable })
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.Next(); err != nil || b.Last() != 2 {
		t.Fatal(b, err)
	}

	other := newReplica()
	other.add(journal.EntryBatch, 1, 1, 2, "1-")
	other.add(journal.EntryBatch, 3, 2, 2, "2-")
	f, err := d.Edit(onlySegment)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(other.bytes[from:], int64(from)); err != nil {
		t.Fatal(err)
	}

	durable = 4
	b, err := r.Next()
	if err != nil || string(b.Commands) != "2-" || b.Term != 3 {
		t.Errorf("a reader has the replaced batch %+v, %v", b, err)
	}
}

// TestReadsEndAtTheCommit reads a cluster's journal without its log, as an audit does. It yields what
// the entries prove to be committed, and later what has taken the place of the others.
func TestReadsEndAtTheCommit(t *testing.T) {
	w := newReplica()
	w.add(journal.EntryBatch, 1, 1, 2, "1-")
	w.add(journal.EntryBatch, 1, 2, 2, "2-")
	from, refused := len(w.bytes), *w
	refused.bytes = bytes.Clone(w.bytes)
	refused.add(journal.EntryBatch, 1, 2, 2, "x-")

	d := refused.disk(t)
	r := reader(t, journal.NewFiles(d, ours).Read, 1)
	if b, err := r.Next(); err != nil || b.Last() != 2 {
		t.Fatal(b, err)
	}
	for range 2 {
		if b, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatal(b, err)
		}
	}

	w.add(journal.EntryEmpty, 3, 3, 0, "")
	w.add(journal.EntryBatch, 3, 3, 2, "3-")
	w.add(journal.EntryMark, 3, 5, 0, "")
	f, err := d.Edit(onlySegment)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(w.bytes[from:], int64(from)); err != nil {
		t.Fatal(err)
	}
	check(t, r, 3, 3)
}

// TestDamageBehindTheCommit damages an entry behind the commit that a later entry proves to be durable.
func TestDamageBehindTheCommit(t *testing.T) {
	w := newReplica()
	w.add(journal.EntryBatch, 1, 1, 2, "1-")
	w.add(journal.EntryBatch, 1, 2, 2, "2-")
	at := len(w.bytes)
	w.add(journal.EntryBatch, 1, 2, 2, "3-")
	w.add(journal.EntryBatch, 1, 2, 2, "4-")
	w.bytes[at+100] ^= 1

	r := reader(t, journal.NewFiles(w.disk(t), ours).Read, 1)
	if b, err := r.Next(); err != nil || b.Last() != 2 {
		t.Fatal(b, err)
	}
	if b, err := r.Next(); !errors.As(err, new(*journal.DamageError)) {
		t.Errorf("batch %+v, %v", b, err)
	}
}
