package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// never is an interval of snapshots that no measurement reaches.
const never = 1 << 62

// line is journal, engine and views in their own directory, run the way node runs them.
type line struct {
	node.Line
	path     string
	disk     *disk.Dir
	identity journal.Identity
	engine   *engine.Engine
	tail     *history.Tail
	// writing starts the writer before the first submitted command.
	writing sync.Once

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	failed  chan error
}

// newLine starts a line in a temporary directory below dir.
func newLine(dir string) (*line, error) {
	path, err := os.MkdirTemp(dir, "bourse-bench-")
	if err != nil {
		return nil, err
	}
	l, err := newLineAt(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return l, nil
}

// newLineAt starts a line in an empty directory.
func newLineAt(path string) (*line, error) {
	l := &line{path: path, identity: journal.Identity{Sandbox: true}, failed: make(chan error, 1)}
	if err := l.open(); err != nil {
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.spawn(l.Apply)
	l.spawn(l.Prepare)
	return l, nil
}

func (l *line) open() (err error) {
	if _, err = rand.Read(l.identity.Exchange[:]); err != nil {
		return err
	}
	if l.disk, err = disk.Open(l.path); err != nil {
		return err
	}
	log, _, err := filelog.Open(l.disk, journal.Options{Identity: l.identity})
	if err != nil {
		return errors.Join(err, l.disk.Close())
	}
	l.engine, l.tail = engine.New(), history.NewTail(tailRows)
	l.Line = node.Line{
		Log: log,
		Sequencer: sequencer.New(sequencer.Options{
			Log: log, Engine: l.engine, Observers: []sequencer.Observer{l.tail, view.New()}, Voided: nothing,
		}),
		Now: func() bourse.Time { return bourse.TimeOf(time.Now()) }, Wrote: func(time.Duration) {},
		Retrying: l.fail, Unprepared: l.fail,
	}
	return nil
}

// tailRows bounds the history in memory, as in an exchange.
const tailRows = 200_000

func nothing(bourse.Seq) bool { return false }

// follow adds a follower to the line, which writes history to a store and takes a
// snapshot when SnapshotEvery is lowered. The caller steps it.
func (l *line) follow(store history.Store) error {
	files := journal.NewFiles(l.disk, l.identity)
	reader, err := files.ReadBehind(1, l.Log.Durable)
	if err != nil {
		return err
	}
	l.Follower, err = follower.New(l.ctx, follower.Options{
		State: follower.NewState(), Reader: reader, Store: store, Stored: l.tail.Stored, Voided: nothing,
		Snapshots: journal.NewSnapshots(l.disk, l.identity), Files: files, SnapshotEvery: never,
	})
	return err
}

func (l *line) spawn(part func(context.Context) error) {
	l.running.Go(func() {
		if err := part(l.ctx); err != nil {
			l.fail(err)
		}
	})
}

func (l *line) fail(err error) {
	select {
	case l.failed <- err:
	default: // an earlier error counts
	}
}

// halt ends the line's goroutines.
func (l *line) halt() error {
	l.cancel()
	l.running.Wait()
	select {
	case err := <-l.failed:
		return err
	default:
		return nil
	}
}

// stop ends the line and removes its files.
func (l *line) stop() error {
	return errors.Join(l.halt(), l.Log.Close(), l.disk.Close(), os.RemoveAll(l.path))
}

// all commits commands as fast as possible, before anything is submitted. It writes the
// frames itself to keep their order: the intake would take cancels first.
func (l *line) all(next source) error {

	const frame = 32 << 10
	var c bourse.Command
	var bytes []byte
	for more := true; more; {
		p := journal.Proposal{Commands: bytes[:0], Time: l.Now()}
		for len(p.Commands) < frame {
			c = bourse.Command{}
			if more = next(&c); !more {
				break
			}
			p.Commands = record.Append(p.Commands, &c)
			p.Count++
		}

		if p.Count == 0 {
			break
		}

		if err := l.commit(p); err != nil {
			return err
		}
		bytes = p.Commands
	}
	return l.settle(func() bool { return l.Sequencer.Applied() == l.Log.Durable() })
}

// commit writes a frame, once there is room for it.
func (l *line) commit(p journal.Proposal) error {
	if err := l.insist(journal.ErrBusy, func() error { return l.Log.Propose(p) }); err != nil {
		return err
	}
	_, err := l.Log.Step()
	return err
}

// settle waits until so returns true.
func (l *line) settle(so func() bool) error {
	for !so() {
		select {
		case err := <-l.failed:
			return err
		case <-time.After(100 * time.Microsecond):
		}
	}
	return nil
}

// insist repeats try while its error is busy.
func (l *line) insist(busy error, try func() error) (err error) {
	waited := l.settle(func() bool {
		err = try()
		return !errors.Is(err, busy)
	})
	return cmp.Or(waited, err)
}

// submit submits a command, and waits while the intake is full.
func (l *line) submit(c *bourse.Command, t *sequencer.Ticket) error {
	return l.insist(bourse.ErrBusy, func() error { return l.Sequencer.Submit(c, t) })
}
