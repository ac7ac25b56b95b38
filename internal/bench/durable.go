package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// DurableReport is what `bench durable` measures: from a command's moment in an
// open-loop schedule to its ticket, that is on disk, applied and visible, with
// views on and history left to lag.
type DurableReport struct {
	// Rate is the schedule's, Reached what was acknowledged.
	Rate    float64 `json:"rate"`
	Reached float64 `json:"reached"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	// Anchor is the median of a 4 KiB write and fdatasync into a file that was
	// written before, in the same directory, right before the run.
	Anchor float64 `json:"fdatasync_p50_us"`
	// Ratio is P50 to Anchor.
	Ratio float64 `json:"p50_to_fdatasync"`
}

// Durable runs a workload through journal, engine and views at a rate, in a
// temporary directory below dir, for a while.
func Durable(w *Workload, dir string, rate int, lasting time.Duration) (_ *DurableReport, err error) {
	path, err := os.MkdirTemp(dir, "bourse-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(path)) }()
	d, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	anchor, err := syncMedian(d)
	if err != nil {
		return nil, err
	}
	l, err := newLine(d)
	if err != nil {
		return nil, err
	}
	r, err := l.measure(w, rate, lasting)
	if err := errors.Join(err, l.stop()); err != nil {
		return nil, err
	}
	r.Anchor = anchor
	r.Ratio = r.P50 / anchor
	return r, nil
}

// syncMedian measures the anchor, in microseconds.
func syncMedian(d disk.Disk) (float64, error) {
	const block, blocks, rounds = 4096, 256, 2000
	f, err := d.Create("anchor")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // the directory is removed
	if _, err := f.WriteAt(make([]byte, block*blocks), 0); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	b := make([]byte, block)
	took := make([]time.Duration, rounds)
	for i := range took {
		b[0] = byte(i)
		began := time.Now()
		if _, err := f.WriteAt(b, int64(i%blocks)*block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return micros(took[rounds/2]), nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// line is journal, engine and views, run like node runs them.
type line struct {
	node.Line
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	failed  chan error
}

func newLine(d disk.Disk) (*line, error) {
	var id journal.Identity
	if _, err := rand.Read(id.Exchange[:]); err != nil {
		return nil, err
	}
	id.Sandbox = true
	log, _, err := filelog.Open(d, filelog.Options{Identity: id})
	if err != nil {
		return nil, err
	}
	const tailRows = 200_000
	l := &line{failed: make(chan error, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.Line = node.Line{
		Log: log,
		Sequencer: sequencer.New(sequencer.Options{
			Log: log, Engine: engine.New(), Observers: []sequencer.Observer{history.NewTail(tailRows), view.New()},
			Voided: func(bourse.Seq) bool { return false },
		}),
		Now: func() bourse.Time { return bourse.TimeOf(time.Now()) }, Wrote: func(time.Duration) {}, Retrying: func(error) {},
	}
	for _, part := range [...]func(context.Context) error{l.Write, l.Apply, l.Prepare} {
		l.spawn(part)
	}
	return l, nil
}

func (l *line) spawn(part func(context.Context) error) {
	l.running.Go(func() {
		if err := part(l.ctx); err != nil {
			select {
			case l.failed <- err:
			default:
			}
		}
	})
}

func (l *line) stop() error {
	l.cancel()
	l.running.Wait()
	select {
	case err := <-l.failed:
		return err
	default:
		return l.Log.Close()
	}
}

// all carries commands, as fast as they are taken.
func (l *line) all(commands []bourse.Command) error {
	for i := range commands {
		if err := l.submit(&commands[i], nil); err != nil {
			return err
		}
	}
	for !l.Sequencer.Idle() {
		time.Sleep(time.Millisecond)
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

// sent is a command on its way.
type sent struct {
	due    time.Time
	ticket *sequencer.Ticket
}

// measure opens the exchange, applies the prefill, and keeps to the schedule.
func (l *line) measure(w *Workload, rate int, lasting time.Duration) (*DurableReport, error) {
	if err := l.all(w.opening()); err != nil {
		return nil, err
	}
	if err := l.all(commands(w.prefill)); err != nil {
		return nil, err
	}
	n := min(int(float64(rate)*lasting.Seconds()), len(w.measured)/recordSize)
	if n == 0 {
		return nil, fmt.Errorf("nothing to measure at %d commands a second in %s", rate, lasting)
	}
	took := make([]time.Duration, 0, n)
	flying := make(chan sent, n)
	done := make(chan struct{})
	free := make(chan *sequencer.Ticket, n)
	go func() {
		defer close(done)
		for s := range flying {
			<-s.ticket.Done()
			took = append(took, time.Since(s.due))
			free <- s.ticket
		}
	}()
	began := time.Now()
	err := l.keepTo(w, rate, n, began, flying, free)
	close(flying)
	<-done
	if err != nil {
		return nil, err
	}
	spent := time.Since(began)
	slices.Sort(took)
	return &DurableReport{
		Rate: float64(rate), Reached: float64(n) / spent.Seconds(),
		P50: micros(took[n/2]), P99: micros(took[n*99/100]), P999: micros(took[n*999/1000]),
	}, nil
}

// keepTo submits n commands at their moments.
func (l *line) keepTo(w *Workload, rate, n int, began time.Time, flying chan<- sent, free <-chan *sequencer.Ticket) error {
	var c bourse.Command
	for i := range n {
		due := began.Add(time.Duration(float64(i) / float64(rate) * float64(time.Second)))
		if wait := time.Until(due); wait > 50*time.Microsecond {
			time.Sleep(wait)
		}
		c = bourse.Command{}
		read(w.measured[i*recordSize:], &c)
		var t *sequencer.Ticket
		select {
		case t = <-free:
		default:
			t = sequencer.NewTicket()
		}
		if err := l.submit(&c, t); err != nil {
			return err
		}
		flying <- sent{due, t}
	}
	return nil
}

func commands(data []byte) []bourse.Command {
	list := make([]bourse.Command, len(data)/recordSize)
	for i := range list {
		read(data[i*recordSize:], &list[i])
	}
	return list
}
