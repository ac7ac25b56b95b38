package follower_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// line is an exchange on a faulty disk, over all its lives, assembled in node's order.
type line struct {
	disk      *memdisk.Disk
	id        journal.Identity
	store     history.Store
	log       *filelog.Log
	files     *journal.Files
	snapshots *journal.Snapshots
	engine    *engine.Engine
	sequencer *sequencer.Sequencer
	follower  *follower.Follower
	// told has the state hash after each acknowledged command of all lives.
	told map[bourse.Seq]journal.Hash
	now  bourse.Time
}

func neverVoided(bourse.Seq) bool { return false }

// live is one life of the exchange: start, trade, snapshots, archive, stop.
func (l *line) live(commands int) error {
	for _, step := range []func() error{l.open, l.restore, l.replay, l.followOn, l.found} {
		if err := step(); err != nil {
			return err
		}
	}
	for range commands {
		c := credit()
		if err := l.do(&c); err != nil {
			return err
		}
		if err := l.behind(); err != nil {
			return err
		}
	}
	return l.stop()
}

func (l *line) open() (err error) {
	if _, _, err := journal.Identify(l.disk); err != nil {
		return err
	}
	if l.log, _, err = filelog.Open(l.disk, journal.Options{Identity: l.id, SegmentSize: 8 * journal.Block}); err != nil {
		return err
	}
	l.files, l.snapshots = journal.NewFiles(l.disk, l.id), journal.NewSnapshots(l.disk, l.id)
	_, err = journal.LoadVoids(l.disk, l.id)
	return err
}

func (l *line) restore() error {
	l.engine = engine.New()
	snapshot, found, err := l.snapshots.Newest(l.log.Durable())
	if err == nil && found {
		l.engine, err = sequencer.Restore(snapshot.Section, nil)
	}
	l.sequencer = sequencer.New(sequencer.Options{Log: l.log, Engine: l.engine, Voided: neverVoided})
	return err
}

func (l *line) replay() error {
	r, err := l.log.Read(l.engine.Seq() + 1)
	if err != nil {
		return err
	}
	return errors.Join(l.sequencer.Replay(r, nil), r.Close())
}

func (l *line) followOn() error {
	cursor, err := l.store.Cursor(context.Background())
	if err != nil {
		return err
	}
	second := follower.NewState()
	snapshot, found, err := l.snapshots.Newest(cursor.Seq)
	if err == nil && found {
		second, err = follower.RestoreState(snapshot.Section)
	}
	if err != nil {
		return err
	}
	reader, err := l.files.ReadBehind(second.Engine.Seq()+1, l.log.Durable)
	if err != nil {
		return err
	}
	l.follower, err = follower.New(context.Background(), follower.Options{
		State: second, Reader: reader, Store: l.store, Stored: func(history.Cursor) {},
		Voided: neverVoided, Snapshots: l.snapshots, Files: l.files, SnapshotEvery: 8,
	})
	return err
}

// found journals the opening of an exchange, as far as it is missing.
func (l *line) found() error {
	for i, c := range opening() {
		if l.engine.Seq() > bourse.Seq(i) {
			continue
		}
		if err := l.do(&c); err != nil {
			return err
		}
	}
	return nil
}

// do takes a command through the line; the command is acknowledged when do returns.
func (l *line) do(c *bourse.Command) error {
	t := sequencer.NewTicket()
	if err := l.sequencer.Submit(c, t); err != nil {
		return err
	}
	for !l.sequencer.Idle() {
		l.now = max(l.now, l.engine.Now()) + 1000
		if _, err := l.sequencer.Write(l.now); err != nil {
			return err
		}
		if _, err := l.sequencer.Apply(); err != nil {
			return err
		}
	}
	<-t.Done()
	if t.Err != nil || t.Outcome.Reason != 0 {
		return fmt.Errorf("%w: refused: %s", t.Err, t.Outcome.Reason)
	}
	l.told[t.Seq] = l.engine.StateHash()
	return nil
}

// behind prepares the log and steps the follower. Errors to retry are retried later.
func (l *line) behind() error {
	if _, err := l.log.Prepare(); err != nil {
		return err
	}
	for {
		more, err := l.follower.Step(context.Background())
		var retry *follower.RetryError
		if errors.As(err, &retry) {
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
}

func (l *line) stop() error {
	var retry *follower.RetryError
	if err := l.follower.Finish(context.Background()); err != nil && !errors.As(err, &retry) {
		return err
	}
	return l.log.Close()
}

// holds replays the journal from its first command: every acknowledged command is in it
// with its effect, and the restored exchange agrees.
func (l *line) holds() error {
	r, err := l.files.Read(1)
	if err != nil {
		return err
	}
	e := engine.New()
	s := sequencer.New(sequencer.Options{Log: l.log, Engine: e, Voided: neverVoided})
	met := 0
	var differs error
	err = s.Replay(r, func(seq bourse.Seq) {
		hash, there := l.told[seq]
		if !there {
			return
		}
		if met++; hash != e.StateHash() {
			differs = fmt.Errorf("at %d the state differs from what was acknowledged", seq)
		}
	})
	if err := errors.Join(err, differs, r.Close()); err != nil {
		return err
	}
	if met != len(l.told) || e.StateHash() != l.engine.StateHash() {
		return fmt.Errorf("%d of %d acknowledged commands are there; live %d, replayed %d", met, len(l.told), l.engine.Seq(), e.Seq())
	}
	return nil
}

func newLine(seed uint64) *line {
	return &line{
		disk: memdisk.New(seed), id: journal.Identity{Exchange: [16]byte{1}, Sandbox: true},
		store: historytest.NewMemory(), told: map[bourse.Seq]journal.Hash{},
	}
}

// failAt makes one operation of the disk fail, of any kind, and returns the kinds of all
// operations seen.
func (l *line) failAt(n int, fault error) *[]memdisk.OpKind {
	kinds := new([]memdisk.OpKind)
	l.disk.Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpClose {
			return nil // cannot fail
		}
		if *kinds = append(*kinds, op.Kind); len(*kinds) == n {
			return fault
		}
		return nil
	})
	return kinds
}

// lifeCommands is the number of commands of a life: enough for segments, snapshots and
// archives to come and go.
const lifeCommands = 30

// TestEveryOperationFails makes each operation of the disk fail in turn, in the first
// life of an exchange and in a later one. The life ends with an error or continues; the
// next lives, after a kill and after a power cut, start with every acknowledged command.
func TestEveryOperationFails(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 11
	}
	for _, later := range []bool{false, true} {
		failed := map[memdisk.OpKind]int{}
		points, ended := 0, 0
		for n, kind := 1, memdisk.OpKind(0); ; n += stride {
			var met, stopped bool
			for i, fault := range []error{syscall.EIO, syscall.ENOSPC, &memdisk.ShortWriteError{Written: 700, Cause: syscall.EIO}} {
				if i > 0 && kind != memdisk.OpWrite && kind != memdisk.OpCreate && kind != memdisk.OpTruncate {
					break // it has only one way to fail
				}
				if kind, met, stopped = endsWell(t, later, n, uint64(i), fault); !met {
					break
				}
				points++
				failed[kind]++
				if stopped {
					ended++
				}
			}
			if !met {
				break
			}
		}
		t.Logf("%d points, by kind %v; %d ended the process", points, failed, ended)
		for _, kind := range []memdisk.OpKind{memdisk.OpCreate, memdisk.OpWrite, memdisk.OpSync, memdisk.OpRename, memdisk.OpSyncDir, memdisk.OpOpen, memdisk.OpRead, memdisk.OpList, memdisk.OpRemove} {
			if failed[kind] == 0 && stride == 1 {
				t.Errorf("nothing failed of the kind %s", kind)
			}
		}
		if ended == 0 || ended == points {
			t.Error("some failures must end the process, and some must not")
		}
	}
}

// endsWell fails one operation of a life, and checks the lives after it. It returns the
// failed operation, whether there was one, and whether the failure ended the process.
func endsWell(t *testing.T, later bool, n int, seed uint64, fault error) (kind memdisk.OpKind, met, ended bool) {
	t.Helper()
	l := newLine(seed)
	if later {
		if err := l.live(lifeCommands / 2); err != nil {
			t.Fatal(err)
		}
	}
	kinds := l.failAt(n, fault)
	failed := l.live(lifeCommands)
	l.disk.Inject(nil)
	if len(*kinds) < n {
		return 0, false, false
	}
	kind = (*kinds)[n-1]
	if failed != nil && !errors.Is(failed, syscall.EIO) && !errors.Is(failed, syscall.ENOSPC) {
		t.Fatalf("operation %d, %s: it ended for another reason: %v", n, kind, failed)
	}
	for _, next := range []func() *memdisk.Disk{l.disk.Clone, func() *memdisk.Disk { return l.disk.Crash() }} {
		l.disk = next()
		if err := l.live(2); err != nil {
			t.Fatalf("operation %d, %s, %v: the next start: %v", n, kind, fault, err)
		}
		if err := l.holds(); err != nil {
			t.Fatalf("operation %d, %s, %v: %v", n, kind, fault, err)
		}
	}
	return kind, true, failed != nil
}
