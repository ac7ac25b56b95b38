package journaltest

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// parts are the goroutines of a process with an open log. One failure stops all.
type parts struct {
	t       *testing.T
	log     journal.Log
	batches uint64
	once    sync.Once
	stop    chan struct{}
}

// testConcurrent runs the log as a process does: one goroutine writes, one takes notices,
// others read and prepare. Most useful under the race detector.
func testConcurrent(t *testing.T, h Harness) {
	p := &parts{t: t, log: h.Open(t), batches: 300, stop: make(chan struct{})}
	var work, aside sync.WaitGroup
	work.Go(p.write)
	work.Go(p.take)
	work.Go(p.read)
	aside.Go(p.prepare)
	work.Wait()
	p.end()
	aside.Wait()
	if err := p.log.Close(); err != nil {
		t.Fatal(err)
	}
}

func (p *parts) end() { p.once.Do(func() { close(p.stop) }) }

// ended reports whether the test is over.
func (p *parts) ended() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

func (p *parts) fail(format string, args ...any) {
	p.t.Errorf(format, args...)
	p.end()
}

func (p *parts) write() {
	for id := uint64(1); id <= p.batches && !p.ended(); {
		err := p.log.Propose(journal.Proposal{ID: id, Count: 1, Time: bourse.Time(id), Commands: batch(id, 1, 64)})
		switch {
		case err == nil:
			id++
		case !errors.Is(err, journal.ErrBusy):
			p.fail("Propose: %v", err)
		}
		p.step()
		runtime.Gosched()
	}
	for p.step() {
		continue
	}
}

func (p *parts) step() bool {
	more, err := p.log.Step()
	if err != nil {
		p.fail("Step: %v", err)
	}
	return more && err == nil
}

// take takes notices and waits only on Ready.
func (p *parts) take() {
	for last := bourse.Seq(0); last < bourse.Seq(p.batches); {
		n, ok := p.log.Next()
		if !ok {
			select {
			case <-p.log.Ready():
			case <-p.stop:
				return
			}
			continue
		}
		last++
		if n.Kind != journal.Committed || n.Batch.First != last || p.log.Durable() < last {
			p.fail("notice of kind %d at %d in place of %d, durable to %d",
				n.Kind, n.Batch.First, last, p.log.Durable())
			return
		}
	}
}

func (p *parts) read() {
	r, err := p.log.Read(1)
	if err != nil {
		p.fail("Read: %v", err)
		return
	}
	for last := bourse.Seq(0); last < bourse.Seq(p.batches) && !p.ended(); {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			runtime.Gosched()
			continue
		}
		last++
		if err != nil || b.First != last {
			p.fail("reading %d: %v", last, err)
		}
	}
	if err := r.Close(); err != nil {
		p.fail("closing a reader: %v", err)
	}
}

func (p *parts) prepare() {
	for !p.ended() {
		if _, err := p.log.Prepare(); err != nil {
			p.fail("Prepare: %v", err)
		}
		runtime.Gosched()
	}
}
