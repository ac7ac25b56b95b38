package follower_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/record"
)

// failing is a store that fails on demand.
type failing struct {
	history.Store
	broken bool
	// tried is the last command of the batch that failed.
	tried bourse.Seq
}

var errBroken = errors.New("the store is broken")

func (f *failing) Write(ctx context.Context, b *history.Batch) error {
	if f.broken {
		f.tried = b.To
		return errBroken
	}
	return f.Store.Write(ctx, b)
}

// rig is a journal with a follower behind it.
type rig struct {
	t         *testing.T
	log       *filelog.Log
	files     *journal.Files
	snapshots *journal.Snapshots
	store     *failing
	stored    history.Cursor
	live      *engine.Engine
	follower  *follower.Follower
	proposed  uint64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	d := memdisk.New(1)
	id := journal.Identity{Exchange: [16]byte{1}, Sandbox: true}
	log, _, err := filelog.Open(d, journal.Options{Identity: id, SegmentSize: 16 * journal.Block})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, log: log, files: journal.NewFiles(d, id), snapshots: journal.NewSnapshots(d, id),
		store: &failing{Store: historytest.NewMemory()}, live: engine.New(),
	}
	r.follow(follower.NewState())
	return r
}

// follow puts a new follower behind the journal.
func (r *rig) follow(state follower.State) {
	r.t.Helper()
	reader, err := r.files.ReadBehind(state.Engine.Seq()+1, r.log.Durable)
	if err != nil {
		r.t.Fatal(err)
	}
	r.follower, err = follower.New(context.Background(), follower.Options{
		State: state, Reader: reader, Store: r.store, Stored: func(c history.Cursor) { r.stored = c },
		Voided: func(bourse.Seq) bool { return false }, Snapshots: r.snapshots, Files: r.files, SnapshotEvery: 20,
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// do journals commands, a frame for each, and applies them to the live engine.
func (r *rig) do(commands ...bourse.Command) {
	r.t.Helper()
	for i := range commands {
		r.proposed++
		p := journal.Proposal{ID: r.proposed, Count: 1, Time: bourse.Time(r.proposed), Commands: record.Append(nil, &commands[i])}
		if err := r.log.Propose(p); err != nil {
			r.t.Fatal(err)
		}
		for more := true; more; {
			var err error
			if more, err = r.log.Step(); err != nil {
				r.t.Fatal(err)
			}
		}
		n, ok := r.log.Next()
		if !ok {
			r.t.Fatal("nothing was committed")
		}
		var ev bourse.Events
		cmd := commands[i]
		cmd.Seq, cmd.Time = n.Batch.First, n.Batch.Time
		r.live.Apply(&cmd, &ev)
		if ev.Outcome.Reason != 0 {
			r.t.Fatalf("command %d: %s", cmd.Seq, ev.Outcome.Reason)
		}
	}
}

// run steps the follower until it is idle or fails.
func (r *rig) run() error {
	for {
		more, err := r.follower.Step(context.Background())
		if err != nil || !more {
			return err
		}
	}
}

func (r *rig) mustRun() {
	r.t.Helper()
	if err := r.run(); err != nil {
		r.t.Fatal(err)
	}
}

// opening opens an exchange with a funded account.
func opening() []bourse.Command {
	return []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Exchange: [16]byte{1}, Sandbox: true, Rules: 1}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "AAA", Name: "First", Scale: 8, Enabled: true}},
		{Kind: bourse.CommandCreateAccount},
	}
}

func credit() bourse.Command {
	return bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(1)}
}

func TestFollowerFeedsTheStoreOnceAndTakesSnapshots(t *testing.T) {
	r := newRig(t)
	r.do(opening()...)
	for range 100 {
		r.do(credit())
		r.mustRun()
	}
	if r.follower.Seq() != r.live.Seq() || r.stored.Seq != r.live.Seq() {
		t.Errorf("live %d, follower %d, stored %d", r.live.Seq(), r.follower.Seq(), r.stored.Seq)
	}
	rows, err := r.store.Transfers(context.Background(), 1, 0, 1000)
	if err != nil || len(rows) != 100 {
		t.Errorf("%d transfers, %v", len(rows), err)
	}
	good, err := r.snapshots.Good()
	if err != nil || len(good) != 3 {
		t.Fatalf("snapshots %v, %v", good, err)
	}
	if st, err := r.files.Stat(); err != nil || st.Archives == 0 || st.Live > good[1] {
		t.Errorf("segments %+v, %v", st, err)
	}
	// A second follower begins at a snapshot and writes no row twice.
	s, err := r.snapshots.Load(good[1])
	if err != nil {
		t.Fatal(err)
	}
	state, err := follower.RestoreState(s.Section)
	if err != nil {
		t.Fatal(err)
	}
	r.follow(state)
	r.do(credit())
	r.mustRun()
	if rows, err = r.store.Transfers(context.Background(), 1, 0, 1000); err != nil || len(rows) != 101 {
		t.Errorf("%d transfers after another start, %v", len(rows), err)
	}
	if state.Engine.StateHash() != r.live.StateHash() {
		t.Error("the follower's state is not the live one's")
	}
}

func TestFollowerTriesTheStoreAgain(t *testing.T) {
	r := newRig(t)
	r.do(opening()...)
	for range 30 { // more than between two snapshots
		r.do(credit())
	}
	r.store.broken = true
	var retry *follower.RetryError
	for range 3 {
		if err := r.run(); !errors.As(err, &retry) || !errors.Is(err, errBroken) {
			t.Fatalf("a broken store: %v", err)
		}
	}
	if good, err := r.snapshots.Good(); err != nil || len(good) > 0 || r.stored.Seq > 0 {
		t.Errorf("snapshots %v (%v), and stored to %d, which the store does not have", good, err, r.stored.Seq)
	}
	r.do(credit())
	r.store.broken = false
	r.mustRun()
	rows, err := r.store.Transfers(context.Background(), 1, 0, 100)
	if err != nil || len(rows) != 31 || r.stored.Seq != r.live.Seq() {
		t.Errorf("%d transfers, stored %d of %d, %v", len(rows), r.stored.Seq, r.live.Seq(), err)
	}
}

// TestFollowerTriesTheSameBatch journals commands while the store is broken: the store
// may have written the failed batch, and must recognize it.
func TestFollowerTriesTheSameBatch(t *testing.T) {
	r := newRig(t)
	r.do(opening()...)
	r.do(credit())
	r.store.broken = true
	if err := r.run(); !errors.Is(err, errBroken) {
		t.Fatalf("a broken store: %v", err)
	}
	first := r.store.tried
	r.do(credit(), credit())
	for range 3 {
		if err := r.run(); !errors.Is(err, errBroken) || r.store.tried != first {
			t.Errorf("a batch to %d after one to %d failed (%v)", r.store.tried, first, err)
		}
	}
}

// TestFollowerStopsWhenHistoryIsAnother replaces the store that the follower has written
// to.
func TestFollowerStopsWhenHistoryIsAnother(t *testing.T) {
	r := newRig(t)
	r.do(opening()...)
	r.do(credit())
	r.mustRun()
	r.store.Store = historytest.NewMemory()
	r.do(credit())
	var retry *follower.RetryError
	if err := r.run(); !errors.Is(err, history.ErrOutOfOrder) || errors.As(err, &retry) {
		t.Errorf("a store that lost its rows: %v", err)
	}
}

// TestAnchoredSnapshotIsKept withholds the anchor after the first snapshot: that one is
// kept, and the journal after it is not archived, until a later one is anchored.
func TestAnchoredSnapshotIsKept(t *testing.T) {
	r := newRig(t)
	last := bourse.Seq(20)
	r.snapshots.Anchored = func(at bourse.Seq) bool { return at <= last }
	grow := func() []bourse.Seq {
		for range 100 {
			r.do(credit())
			r.mustRun()
		}
		list, err := r.snapshots.List()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}

	r.do(opening()...)
	list := grow()
	st, err := r.files.Stat()
	if err != nil || len(list) != 4 || list[0] != 20 || st.Live > 20 {
		t.Errorf("snapshots %v, segments %+v, %v", list, st, err)
	}
	last = 1000
	list = grow()
	if st, err = r.files.Stat(); err != nil || len(list) != 3 || st.Live <= 100 {
		t.Errorf("with the anchor back: snapshots %v, segments %+v, %v", list, st, err)
	}
}

// TestSnapshotsFollowBytes lets the journal grow by frames of one command: snapshots
// and the archive follow its bytes, and sooner while the disk is nearly full.
func TestSnapshotsFollowBytes(t *testing.T) {
	for _, c := range []struct {
		pressed bool
		every   int
	}{{false, 64}, {true, 2}} {
		r := newRig(t)
		r.follower.SnapshotEvery, r.follower.SnapshotBytes = 1<<40, 64*journal.Block
		r.follower.Pressed = func() bool { return c.pressed }
		r.do(opening()...)
		for range 3 * c.every {
			r.do(credit())
			r.mustRun()
		}
		list, err := r.snapshots.List()
		if want := r.live.Seq() / bourse.Seq(c.every) * bourse.Seq(c.every); err != nil || len(list) != 3 || list[2] != want {
			t.Errorf("pressed %t: snapshots at %v, want the last at %d, %v", c.pressed, list, want, err)
		}
		if st, err := r.files.Stat(); err != nil || !c.pressed && (st.Archives == 0 || st.Live > list[1]) {
			t.Errorf("pressed %t: segments %+v, %v", c.pressed, st, err)
		}
	}
}

// TestHeldSegmentsStay holds segments back from the archive, and lets them go: they move behind the next snapshot.
func TestHeldSegmentsStay(t *testing.T) {
	r := newRig(t)
	held := true
	r.follower.Held = func() bool { return held }
	r.do(opening()...)
	grow := func() (archives int) {
		for range 100 {
			r.do(credit())
			r.mustRun()
		}
		st, err := r.files.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return st.Archives
	}
	if n := grow(); n > 0 {
		t.Errorf("%d segments are in the archive, and all are held", n)
	}
	if held = false; grow() == 0 {
		t.Error("no segment is in the archive, and none is held")
	}
}
