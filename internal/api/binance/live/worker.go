package live

import (
	"iter"
	"sync"
)

// worker runs work that pauses. It is a coroutine: resume runs it on the caller's goroutine, until
// it pauses or the work ends, without a switch of the scheduler.
type worker struct {
	work  work
	next  func() (struct{}, bool)
	end   func()
	yield func(struct{}) bool
	// paused is set while the work has not ended.
	paused bool
}

// work is a job of a worker.
type work interface{ do() }

func newWorker() *worker {
	w := new(worker)
	w.next, w.end = iter.Pull(func(yield func(struct{}) bool) {
		w.yield = yield
		for more := true; more; more = yield(struct{}{}) {
			w.work.do()
			w.work, w.paused = nil, false
		}
	})
	return w
}

// start does work until it pauses or ends, and reports whether it paused.
func (w *worker) start(work work) (paused bool) {
	w.work, w.paused = work, true
	return w.resume()
}

// resume continues the work, and reports whether it paused again.
func (w *worker) resume() (paused bool) {
	w.next()
	return w.paused
}

// pause returns from start or resume. The work calls it.
func (w *worker) pause() { w.yield(struct{}{}) }

// maxIdleWorkers bounds the workers that are kept; one has a stack of some KiB.
const maxIdleWorkers = 1024

// workers keeps workers that have nothing to do. Safe for concurrent use.
type workers struct {
	mu   sync.Mutex
	idle []*worker
}

// get returns a worker.
func (w *workers) get() *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.idle); n > 0 {
		last := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return last
	}
	return newWorker()
}

// put takes back a worker whose work has ended.
func (w *workers) put(done *worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) < maxIdleWorkers {
		w.idle = append(w.idle, done)
		return
	}
	done.end()
}

// stop ends the idle workers.
func (w *workers) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, idle := range w.idle {
		idle.end()
	}
	w.idle = nil
}
