package node

import (
	"sync"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// framesAhead bounds how many frames are in memory, each of at most
// journal.MaxFrame: one that is applied, one that is read, and some between.
const framesAhead = 4

// ahead reads a journal on a goroutine of its own, a few frames in front of who
// applies them: while one is applied, the next one is read and verified.
type ahead struct {
	reader journal.Reader
	// read are frames in order; spent are those that may be filled again.
	read  chan frame
	spent chan *journal.Batch
	// last is what Next returned; it is the caller's until the next call.
	last frame

	stop    chan struct{}
	running sync.WaitGroup
}

// frame is what a reader's Next returned.
type frame struct {
	batch *journal.Batch
	err   error
}

// ReadAhead returns a reader of the same batches, for what is there already: an
// io.EOF is final like every error. Closing it closes r, which is its own from
// here on.
func ReadAhead(r journal.Reader) journal.Reader {
	a := &ahead{
		reader: r, read: make(chan frame, framesAhead), spent: make(chan *journal.Batch, framesAhead), stop: make(chan struct{}),
	}
	for range framesAhead {
		a.spent <- new(journal.Batch)
	}
	a.running.Go(a.run)
	return a
}

func (a *ahead) run() {
	for {
		var b *journal.Batch
		select {
		case <-a.stop:
			return
		case b = <-a.spent:
		}
		next, err := a.reader.Next()
		if err != nil {
			a.read <- frame{err: err}
			return
		}
		commands := append(b.Commands[:0], next.Commands...)
		*b = *next
		b.Commands = commands
		a.read <- frame{batch: b} // there is room for all there are
	}
}

// Next returns the next batch. It is good until the next call.
func (a *ahead) Next() (*journal.Batch, error) {
	if a.last.batch != nil {
		a.spent <- a.last.batch
	}
	if a.last.err == nil {
		a.last = <-a.read
	}
	return a.last.batch, a.last.err
}

// Close ends the goroutine and closes the reader.
func (a *ahead) Close() error {
	close(a.stop)
	a.running.Wait()
	return a.reader.Close()
}
