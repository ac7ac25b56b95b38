package bench

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/history"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// HistoryReport is the result of `bench history`: the speed of writing rows to SQL, and
// its effect on the latency of trading.
type HistoryReport struct {
	Rows uint64 `json:"rows"`
	// PerSecond is the number of rows per second that the follower writes from a backlog,
	// including reading and applying the journal.
	PerSecond float64 `json:"rows_per_second"`
	Rate      float64 `json:"rate"`
	// Off and On are the p99 of pairs of windows, without the follower and with it; Ratio
	// is the median of their ratios.
	Off   []float64 `json:"p99_off_us"`
	On    []float64 `json:"p99_on_us"`
	Ratio float64   `json:"p99_ratio"`
}

// counted is a store that counts the rows written.
type counted struct {
	history.Store
	rows uint64
}

func (c *counted) Write(ctx context.Context, b *history.Batch) error {
	c.rows += uint64(b.Rows())
	return c.Store.Write(ctx, b)
}

// Windows are pairs of trading windows, one with a disturbance and one without.
type Windows struct {
	// Rate is in commands per second.
	Rate, Pairs int
	Each        time.Duration
}

// Place is the storage of a measurement.
type Place struct {
	// Dir gets a temporary directory.
	Dir string
	// Store is the URL of an empty database for the history; if empty, a file is used.
	Store string
}

// openHistory opens an empty store.
func openHistory(ctx context.Context, place string) (*sqlhistory.Store, error) {
	s, err := sqlhistory.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	if at, err := s.Cursor(ctx); err != nil || at.Seq != 0 {
		return nil, errors.Join(errors.New("the database has a history already"), err, s.Close())
	}
	return s, nil
}

// History commits backlog commands of a workload, measures a follower writing their
// history, and then measures windows of trading.
func History(ctx context.Context, w *Workload, at Place, backlog int, windows Windows) (_ *HistoryReport, err error) {
	l, err := newLine(at.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()

	file, err := openHistory(ctx, cmp.Or(at.Store, filepath.Join(l.path, "history.db")))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.halt(), file.Close()) }()
	store := &counted{Store: file}
	if err := l.follow(store); err != nil {
		return nil, err
	}

	cut := min(backlog, len(w.measured))
	rest := items(w.measured[cut:])
	if err := errors.Join(
		l.all(these(w.opening())), l.all(items(w.prefill)), l.all(items(w.measured[:cut])),
	); err != nil {
		return nil, err
	}

	began := time.Now()
	if err := l.catchUp(ctx); err != nil {
		return nil, err
	}
	r := &HistoryReport{
		Rows: store.rows, PerSecond: float64(store.rows) / time.Since(began).Seconds(), Rate: float64(windows.Rate),
	}

	for range windows.Pairs {
		if err := r.pair(ctx, l, rest, windows); err != nil {
			return nil, err
		}
	}
	r.Ratio = ratio(r.On, r.Off)
	return r, nil
}

// pair measures a window without the follower, and one with a follower that has caught
// up.
func (r *HistoryReport) pair(ctx context.Context, l *line, next source, w Windows) error {
	off, _, err := l.drive(next, w.Rate, w.Each)
	if err != nil {
		return err
	}

	if err := l.catchUp(ctx); err != nil {
		return err
	}

	follow, end := context.WithCancel(ctx)
	defer end()
	var following sync.WaitGroup
	following.Go(func() {
		if err := l.Follow(follow); err != nil {
			l.fail(err)
		}
	})

	on, _, err := l.drive(next, w.Rate, w.Each)
	end()
	following.Wait()
	if err != nil {
		return err
	}

	r.Off, r.On = append(r.Off, off.at(990)), append(r.On, on.at(990))
	return nil
}
