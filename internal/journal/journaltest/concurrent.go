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

// testConcurrent runs the log as a process does: one goroutine writes, one takes
// notices, others read and prepare. It is worth most under the race detector.
func testConcurrent(t *testing.T, h Harness) {
	const batches = 300
	log := h.Open(t)
	stop := make(chan struct{})
	var work, aside sync.WaitGroup
	work.Go(func() { writeAll(t, log, batches) })
	aside.Go(func() { prepare(t, log, stop) })
	work.Go(func() { takeAll(t, log, batches) })
	work.Go(func() { readAll(t, log, batches) })
	work.Wait()
	close(stop)
	aside.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func writeAll(t *testing.T, log journal.Log, batches uint64) {
	for id := uint64(1); id <= batches; {
		err := log.Propose(journal.Proposal{ID: id, Count: 1, Time: bourse.Time(id), Commands: batch(id, 1, 64)})
		switch {
		case err == nil:
			id++
		case !errors.Is(err, journal.ErrBusy):
			t.Errorf("Propose: %v", err)
			return
		}
		if _, err := log.Step(); err != nil {
			t.Errorf("Step: %v", err)
			return
		}
		runtime.Gosched()
	}
	for more := true; more; {
		var err error
		if more, err = log.Step(); err != nil {
			t.Errorf("Step: %v", err)
			return
		}
	}
}

// takeAll takes notices, waiting for Ready alone.
func takeAll(t *testing.T, log journal.Log, batches uint64) {
	for last := bourse.Seq(0); last < bourse.Seq(batches); {
		n, ok := log.Next()
		if !ok {
			<-log.Ready()
			continue
		}
		last++
		if n.Kind != journal.Committed || n.Batch.First != last || log.Durable() < last {
			t.Errorf("notice of kind %d at %d in place of %d, durable to %d", n.Kind, n.Batch.First, last, log.Durable())
			return
		}
	}
}

func readAll(t *testing.T, log journal.Log, batches uint64) {
	r, err := log.Read(1)
	if err != nil {
		t.Errorf("Read: %v", err)
		return
	}
	for last := bourse.Seq(0); last < bourse.Seq(batches); {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			runtime.Gosched()
			continue
		}
		last++
		if err != nil || b.First != last {
			t.Errorf("reading %d: %v", last, err)
			break
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing a reader: %v", err)
	}
}

func prepare(t *testing.T, log journal.Log, stop <-chan struct{}) {
	for {
		if _, err := log.Prepare(); err != nil {
			t.Errorf("Prepare: %v", err)
			return
		}
		select {
		case <-stop:
			return
		default:
			runtime.Gosched()
		}
	}
}
