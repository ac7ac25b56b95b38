package journal

import "sync"

// framesAhead bounds the frames in memory, each of at most MaxFrame: one being applied,
// one being read, the others read ahead.
const framesAhead = 4

// ahead reads a journal on its own goroutine, a few frames ahead of the caller: the next
// frame is read and verified while the caller applies this one.
type ahead struct {
	reader Reader
	// read holds frames in order; spent holds buffers to fill again.
	read  chan frame
	spent chan *Batch
	// last is the result of the last Next; the caller owns it until the next call.
	last frame

	stop    chan struct{}
	running sync.WaitGroup
}

// frame is one result of a reader's Next.
type frame struct {
	batch *Batch
	err   error
}

// ReadAhead returns a reader of the same batches, for a journal that no longer grows: an
// io.EOF is final, like every error. It takes ownership of r; Close closes r.
func ReadAhead(r Reader) Reader {
	a := &ahead{
		reader: r, read: make(chan frame, framesAhead), spent: make(chan *Batch, framesAhead),
		stop: make(chan struct{}),
	}
	for range framesAhead {
		a.spent <- new(Batch)
	}
	a.running.Go(a.run)
	return a
}

func (a *ahead) run() {
	for {
		var b *Batch
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
		a.read <- frame{batch: b} // never blocks: capacity is framesAhead
	}
}

// Next returns the next batch. It is good until the next call.
func (a *ahead) Next() (*Batch, error) {
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
