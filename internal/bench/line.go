package bench

import (
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
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// never is how many commands lie between snapshots that nobody wants.
const never = 1 << 62

// line is journal, engine and views in a directory of their own, run like node
// runs them.
type line struct {
	node.Line
	path     string
	disk     *disk.Dir
	identity journal.Identity
	engine   *engine.Engine
	tail     *history.Tail

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
	for _, part := range [...]func(context.Context) error{l.Write, l.Apply, l.Prepare} {
		l.spawn(part)
	}
	return l, nil
}

func (l *line) open() (err error) {
	if _, err = rand.Read(l.identity.Exchange[:]); err != nil {
		return err
	}
	if l.disk, err = disk.Open(l.path); err != nil {
		return err
	}
	log, _, err := filelog.Open(l.disk, filelog.Options{Identity: l.identity})
	if err != nil {
		return errors.Join(err, l.disk.Close())
	}
	l.engine, l.tail = engine.New(), history.NewTail(tailRows)
	l.Line = node.Line{
		Log: log,
		Sequencer: sequencer.New(sequencer.Options{
			Log: log, Engine: l.engine, Observers: []sequencer.Observer{l.tail, view.New()}, Voided: nothing,
		}),
		Now: func() bourse.Time { return bourse.TimeOf(time.Now()) }, Wrote: func(time.Duration) {}, Retrying: l.fail, Unprepared: l.fail,
	}
	return nil
}

// tailRows bounds the history in memory, as an exchange's does.
const tailRows = 200_000

func nothing(bourse.Seq) bool { return false }

// follow puts a second engine behind the line, which writes history to a store
// and takes snapshots when it is told to. Nobody steps it yet.
func (l *line) follow(store history.Store) error {
	files := journal.NewFiles(l.disk, l.identity)
	reader, err := files.ReadBehind(1, l.Log.Durable)
	if err != nil {
		return err
	}
	l.Follower, err = follower.New(l.ctx, follower.Options{
		Engine: engine.New(), Tape: view.NewTape(), Reader: reader, Store: store, Stored: l.tail.Stored, Voided: nothing,
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
	default: // another one was first
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

// stop ends the line and removes what it wrote.
func (l *line) stop() error {
	return errors.Join(l.halt(), l.Log.Close(), l.disk.Close(), os.RemoveAll(l.path))
}

// all carries commands, as fast as they are taken.
func (l *line) all(next source) error {
	for {
		var c bourse.Command
		if !next(&c) {
			break
		}
		if err := l.submit(&c, nil); err != nil {
			return err
		}
	}
	return l.settle()
}

// settle waits until everything that was taken has its outcome.
func (l *line) settle() error {
	for !l.Sequencer.Idle() {
		select {
		case err := <-l.failed:
			return err
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// submit submits a command, and waits while the intake is full.
func (l *line) submit(c *bourse.Command, t *sequencer.Ticket) error {
	for {
		err := l.Sequencer.Submit(c, t)
		if !errors.Is(err, sequencer.ErrFull) {
			return err
		}
		select {
		case err := <-l.failed:
			return err
		case <-time.After(100 * time.Microsecond):
		}
	}
}
