package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TestMembersFollowTheLog applies changes to a configuration that knows later ones, as a node does that joins
// or starts: members that came later stay, those that left go, and the node itself stays.
func TestMembersFollowTheLog(t *testing.T) {
	c := cluster.Config{Node: 2 + 2*life, Nodes: []cluster.Member{
		{Node: 1}, {Node: 2}, {Node: 3}, {Node: 3 + life, Since: 90}, {Node: 2 + 2*life, Since: 95},
	}}
	for _, step := range []struct {
		index   uint64
		context string
		nodes   []uint64
		want    []uint64
	}{
		{40, `{"node":4294967298}`, []uint64{1, 2, 3, 2 + life}, []uint64{1, 2, 3, 3 + life, 2 + 2*life, 2 + life}},
		{50, "", []uint64{1, 3, 2 + life}, []uint64{1, 3, 3 + life, 2 + 2*life, 2 + life}},
		{90, `{"node":4294967299}`, []uint64{1, 3, 2 + life, 3 + life}, []uint64{1, 3, 3 + life, 2 + 2*life, 2 + life}},
		{91, "", []uint64{1, 2 + life, 3 + life}, []uint64{1, 3 + life, 2 + 2*life, 2 + life}},
		{95, `{"node":8589934594}`, []uint64{1, 3 + life, 2 + 2*life}, []uint64{1, 3 + life, 2 + 2*life}},
		{99, "", []uint64{1, 3 + life}, []uint64{1, 3 + life, 2 + 2*life}},
	} {
		list, err := c.After(&raftlog.Change{Index: step.index, Context: []byte(step.context), Nodes: step.nodes})
		want(t, err)
		c.Nodes = list
		var got []uint64
		for _, m := range list {
			got = append(got, m.Node)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("behind entry %d: %v, not %v", step.index, got, step.want)
		}
	}
	if m := c.Newest(3); !slices.Equal(c.Numbers(), []uint64{1, 2, 3}) || m.Node != 3+life || m.Since != 90 || cluster.Number(m.Node) != 3 {
		t.Errorf("node 3 is %+v of %d", m, c.Numbers())
	}
	if _, err := c.After(&raftlog.Change{Context: []byte("{")}); err == nil {
		t.Error("a malformed member is taken")
	}
}

// lone is a cluster of one node in a directory.
type lone struct {
	*cluster.Node
	data string
	disk *disk.Dir
	// unreadable makes reads of files that are opened from then on fail.
	unreadable atomic.Bool
	// scrubs lets the node read a piece of its segments again.
	scrubs chan time.Time
	// other is the directory of another node; "" for none. It is set before a scrub.
	other string
	// rests, unless nil, gets the channel of each rest behind a piece of a file.
	rests atomic.Pointer[chan chan time.Time]
	// ahead is how far the node's clock is ahead.
	ahead atomic.Int64
}

// others has the journal of the other node.
func (n *lone) others(use func([]*journal.Files) error) error {
	if n.other == "" {
		return use(nil)
	}
	d, err := disk.OpenExisting(n.other)
	if err != nil {
		return err
	}
	id, err := n.Config().Identity()
	return errors.Join(err, use([]*journal.Files{journal.NewFiles(d, id)}), d.Close())
}

func newLone(t *testing.T) *lone {
	t.Helper()
	n := &lone{data: t.TempDir(), scrubs: make(chan time.Time)}
	var err error
	n.disk, err = disk.Open(n.data)
	want(t, err)
	c := cluster.Config{
		Exchange: "04020000000000000000000000000000", Sandbox: true, Epoch: 1,
		Nodes: []cluster.Member{{Node: 1, Address: "127.0.0.1:0", Listen: "127.0.0.1:1"}},
	}
	want(t, cluster.Found(c, []disk.Disk{n.disk}, time.Now(), 256<<10))
	config, err := cluster.LoadConfig(n.disk)
	want(t, err)
	n.Node, err = cluster.Open(t.Context(), &cluster.Parts{
		Data: n.data, Disk: failing{n.disk, &n.unreadable}, Log: slog.New(slog.DiscardHandler), Others: n.others,
		Clock: func() time.Time { return time.Now().Add(time.Duration(n.ahead.Load())) },
		Secrets: func() ([]cluster.Secret, error) {
			return []cluster.Secret{{Name: "name", Bytes: []byte("secret")}}, nil
		},
		After: func(d time.Duration) <-chan time.Time {
			if d == cluster.ScrubEvery {
				return n.scrubs
			}
			if rests := n.rests.Load(); d == cluster.PieceRest && rests != nil {
				rest := make(chan time.Time)
				*rests <- rest
				return rest
			}
			return time.After(d)
		},
	}, config, journal.Options{SegmentSize: 256 << 10})
	want(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	ticks := time.NewTicker(cluster.TickEvery)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx, ticks.C)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		ticks.Stop()
		_ = n.Log.Close()
		_ = n.disk.Close()
	})
	for !n.Log.Status().Open {
		<-n.Log.Ready()
	}
	return n
}

// failing is a disk that cannot be read any more once reads is set.
type failing struct {
	disk.Disk
	reads *atomic.Bool
}

// Open opens a file.
func (f failing) Open(name string) (disk.File, error) {
	file, err := f.Disk.Open(name)
	if err == nil && f.reads.Load() {
		file = unreadable{file}
	}
	return file, err
}

// unreadable is a file on a part of the disk that is worn out.
type unreadable struct{ disk.File }

// ReadAt fails.
func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, syscall.EIO }

// commit commits a batch.
func (n *lone) commit(t *testing.T, text string) {
	t.Helper()
	want(t, n.Log.Propose(journal.Proposal{ID: 1, Count: 1, Time: 1, Commands: []byte(text)}))
	for {
		if notice, ok := n.Log.Next(); !ok {
			<-n.Log.Ready()
		} else if notice.Kind == journal.Committed {
			return
		}
	}
}

// look lets a node read a piece of its journal again, up to times. It returns the error that the node stops with, or nil.
func (n *lone) look(times int) error {
	for range times {
		select {
		case n.scrubs <- time.Time{}:
		case err := <-n.Failed():
			return err
		}
	}
	return nil
}

// damage changes a byte of a text in a segment, and returns the segment's name.
func (n *lone) damage(t *testing.T, segment int, text string) string {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(n.data, "journal", "*.seg"))
	want(t, err)
	b, err := os.ReadFile(segments[segment])
	want(t, err)
	file, err := os.OpenFile(segments[segment], os.O_RDWR, 0)
	want(t, err)
	_, err = file.WriteAt([]byte("B"), int64(bytes.Index(b, []byte(text))))
	want(t, errors.Join(err, file.Close()))
	return segments[segment]
}

// stoppedAt fails unless a node stopped at damage of a segment.
func (n *lone) stoppedAt(t *testing.T, segment string, err error) {
	t.Helper()
	damage := (*journal.DamageError)(nil)
	if !errors.As(err, &damage) || filepath.Join(n.data, damage.File) != segment {
		t.Errorf("the node stops with %v", err)
	}
}

// TestScrub lets a node read its journal again: it finds nothing, then the byte that was changed below
// it, and names the file.
func TestScrub(t *testing.T) {
	n := newLone(t)
	text := strings.Repeat("bourse", 2000)
	n.commit(t, text)
	n.commit(t, "x")
	want(t, n.look(5))
	segment := n.damage(t, 0, text)
	n.stoppedAt(t, segment, n.look(20))
}

// TestScrubOfGrowingJournal lets a journal grow faster than it is read again. Damage behind the reader is found in its next
// pass, which begins once it has read the entries of the pass before; and in a segment that others follow.
func TestScrubOfGrowingJournal(t *testing.T) {
	n := newLone(t)
	text := strings.Repeat("bourse", 35_000)
	grow := func() {
		for size := 0; size <= cluster.ScrubPiece; size += len(text) {
			n.commit(t, text)
		}
	}
	grow()
	grow()
	want(t, n.look(2)) // the first piece has been read once the second look is taken
	segment := n.damage(t, 1, text)
	err := error(nil)
	for range 4 {
		if err == nil {
			grow()
			err = n.look(1)
		}
	}
	n.stoppedAt(t, segment, err)
}

// TestScrubArchived damages two archived segments of a running node: it finds the damage and mends it from another node.
func TestScrubArchived(t *testing.T) {
	n := newLone(t)
	for range 50 {
		n.commit(t, strings.Repeat("bourse", 2000))
	}
	id, err := n.Config().Identity()
	want(t, err)
	files := journal.NewFiles(n.disk, id)
	journaltest.Archive(t, files, n.Log.Durable())
	other := t.TempDir()
	want(t, os.CopyFS(other, os.DirFS(n.data)))
	n.other = other

	archived, err := filepath.Glob(filepath.Join(n.data, journal.ArchiveDir, "*"))
	want(t, err)
	if len(archived) < 2 {
		t.Fatalf("the archive has %v", archived)
	}
	for _, name := range archived {
		b, err := os.ReadFile(name)
		want(t, err)
		b[len(b)-2] ^= 8
		want(t, os.WriteFile(name, b, 0o600))
	}
	want(t, n.look(40))
	for first, ok, err := files.NextArchived(0); ok || err != nil; first, ok, err = files.NextArchived(first + 1) {
		want(t, err)
		if err := files.CheckArchived(first); err != nil {
			t.Errorf("it is not mended: %v", err)
		}
	}
}

// TestScrubUnreadable lets a node read its journal again from a disk that yields an error in place of bytes.
func TestScrubUnreadable(t *testing.T) {
	n := newLone(t)
	n.commit(t, "bourse")
	n.unreadable.Store(true)
	if err := n.look(5); !errors.Is(err, syscall.EIO) {
		t.Errorf("the node stops with %v", err)
	}
}

// TestAdmitRefuses asks a leader to admit itself anew, and a node that the cluster never had.
func TestAdmitRefuses(t *testing.T) {
	n := newLone(t)
	for _, number := range []uint64{1, 2} {
		c, _, _, err := cluster.Prepare(number, time.Now())
		want(t, err)
		if _, err := n.Admit(t.Context(), c); err == nil {
			t.Errorf("node %d is admitted", number)
		}
	}
	if len(n.Config().Nodes) != 1 {
		t.Errorf("the members are %+v", n.Config().Nodes)
	}
}

// TestLeaveRefuses asks a leader to let itself go, and a node that the cluster never had.
func TestLeaveRefuses(t *testing.T) {
	n := newLone(t)
	for number, says := range map[uint64]string{1: "let another one lead first", 2: "has no node 2"} {
		if _, err := n.Leave(t.Context(), number); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("node %d leaves: %v", number, err)
		}
	}
}

// TestStaying lets nodes leave while others answer or not: a majority of those that stay must answer, and of two
// none leaves. A learner may always go.
func TestStaying(t *testing.T) {
	for _, step := range []struct {
		number            uint64
		voters, answering []uint64
		says              string
	}{
		{3, []uint64{1, 2, 3}, []uint64{1, 2, 3}, ""},
		{3, []uint64{1, 2, 3}, []uint64{1, 2}, ""},
		{3, []uint64{1, 2, 3 + life}, []uint64{1, 3 + life}, "there are 2 nodes that vote, of which 1 answer"},
		{2, []uint64{1, 2}, []uint64{1, 2}, "of 2 nodes that vote none can leave"},
		{4, []uint64{1, 2}, []uint64{1, 2}, ""},
		{5, []uint64{1, 2, 3, 4, 5}, []uint64{1, 2, 5}, "there are 4 nodes that vote, of which 2 answer"},
		{5, []uint64{1, 2, 3, 4, 5}, []uint64{1, 2, 3}, ""},
	} {
		err := cluster.Staying(step.number, step.voters, step.answering)
		if (err == nil) != (step.says == "") || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("node %d of %d leaves while %d answer: %v", step.number, step.voters, step.answering, err)
		}
	}
}
