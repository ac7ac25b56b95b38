package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// SnapshotReport is the result of `bench snapshot`: the effect of a snapshot of many open
// orders on the latency of trading.
type SnapshotReport struct {
	Orders int     `json:"orders"`
	Rate   float64 `json:"rate"`
	// Quiet and During are the p99.9 of each pair of windows, without a snapshot and with
	// one; Ratio is the median of their ratios.
	Quiet  []float64 `json:"p999_without_us"`
	During []float64 `json:"p999_during_us"`
	Ratio  float64   `json:"p999_ratio"`
	// Took is the duration of each snapshot in seconds.
	Took []float64 `json:"snapshot_s"`
	// PerOrder is the memory that a resting order takes in the whole process: engine,
	// views, the tail of the history and the follower's engine.
	PerOrder float64 `json:"bytes_per_order"`
}

// Snapshot places resting orders, and measures windows of trading.
func Snapshot(ctx context.Context, dir string, orders int, windows Windows) (_ *SnapshotReport, err error) {
	l, err := newLine(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()

	store, err := sqlhistory.Open(ctx, filepath.Join(l.path, "history.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := l.follow(store); err != nil {
		return nil, err
	}

	r := &SnapshotReport{Orders: orders, Rate: float64(windows.Rate)}
	if r.PerOrder, err = l.crowd(ctx, orders); err != nil {
		return nil, err
	}

	s := &snapshots{line: l, want: make(chan struct{}), took: make(chan time.Duration, 1)}
	follow, end := context.WithCancel(ctx)
	l.spawn(func(context.Context) error { return s.follow(follow) })
	defer func() {
		end()
		err = errors.Join(err, l.halt()) // before the store is closed
	}()

	next := traders()
	for range windows.Pairs {
		if err := r.pair(ctx, s, next, windows); err != nil {
			return nil, err
		}
	}

	r.Ratio = ratio(r.During, r.Quiet)
	return r, nil
}

// crowd places resting orders, also in the follower's engine, and returns the memory that
// each took.
func (l *line) crowd(ctx context.Context, orders int) (float64, error) {
	opening := &Workload{users: crowdUsers}
	if err := l.all(these(opening.opening())); err != nil {
		return 0, err
	}
	before, err := resident()
	if err != nil {
		return 0, err
	}
	if err := l.all(crowd(orders)); err != nil {
		return 0, err
	}
	if err := l.catchUp(ctx); err != nil {
		return 0, err
	}
	after, err := resident()
	return float64(after-before) / float64(orders), err
}

// catchUp steps the follower until it has caught up.
func (l *line) catchUp(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = l.Follower.Step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resident returns the memory of this process without garbage.
func resident() (int64, error) {
	debug.FreeOSMemory()
	return residentOf(os.Getpid())
}

// pair measures a window without a snapshot and one that begins with a snapshot.
func (r *SnapshotReport) pair(ctx context.Context, s *snapshots, next source, w Windows) error {
	quiet, _, err := s.drive(next, w.Rate, w.Each)
	if err != nil {
		return err
	}

	select {
	case s.want <- struct{}{}:
	case err := <-s.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}

	during, _, err := s.drive(next, w.Rate, w.Each)
	if err != nil {
		return err
	}

	select {
	case took := <-s.took:
		r.Took = append(r.Took, took.Seconds())
	case err := <-s.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}

	r.Quiet, r.During = append(r.Quiet, quiet.at(999)), append(r.During, during.at(999))
	return nil
}

// snapshots is a line whose follower takes snapshots on demand.
type snapshots struct {
	*line
	want chan struct{}
	took chan time.Duration
}

// follow steps the follower until ctx ends.
func (s *snapshots) follow(ctx context.Context) error {
	const pause = 50 * time.Millisecond
	for ctx.Err() == nil {
		select {
		case <-s.want:
			took, err := s.snapshot(ctx)
			if err != nil {
				return err
			}
			s.took <- took
		default:
		}

		more, err := s.Follower.Step(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if !more {
			time.Sleep(pause)
		}
	}
	return nil
}

// snapshot makes the follower take a snapshot as its next step, after the rows due before
// it.
func (s *snapshots) snapshot(ctx context.Context) (time.Duration, error) {
	s.Follower.SnapshotEvery = 0
	defer func() { s.Follower.SnapshotEvery = never }()
	began := time.Now()
	for before := s.newest(); s.newest() == before; {
		if _, err := s.Follower.Step(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// newest returns the newest snapshot.
func (s *snapshots) newest() bourse.Seq {
	list, err := s.Follower.Snapshots.List()
	if err != nil || len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

// ratio returns the median of the ratios of pairs.
func ratio(of, to []float64) float64 {
	list := make([]float64, len(of))
	for i := range of {
		list[i] = of[i] / to[i]
	}
	return median(list)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
