package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/pprof/profile"
)

// Spent is an exchange's cost of the orders of a measurement.
type Spent struct {
	// CPU is the server's CPU time per order.
	CPU float64 `json:"cpu_us_per_op"`
	// OwnCPU is CPU without that of the history's goroutines. HistoryCPU is theirs, per order that
	// they wrote meanwhile: they may lag. Both are zero without metrics.
	OwnCPU     float64 `json:"own_cpu_us_per_op"`
	HistoryCPU float64 `json:"history_cpu_us_per_op"`
	// Allocs is the number of the server's allocations per order; zero without metrics.
	Allocs float64 `json:"allocs_per_op"`
	// Lag is the number of commands that the history was behind at the end.
	Lag uint64 `json:"history_lag"`
}

// meter measures a server's cost under load.
type meter struct {
	*Target

	cpu    time.Duration
	allocs float64
	lag    uint64
	// share is the share of the CPU time that goes to the history, once the load has ended.
	share <-chan shared
}

type shared struct {
	share float64
	err   error
}

// meter begins to measure a load that lasts for a while.
func (t *Target) meter(ctx context.Context, lasting time.Duration) (_ *meter, err error) {
	m := &meter{Target: t}
	if t.Metrics != "" {
		if m.lag, err = t.lag(ctx); err != nil {
			return nil, err
		}
		if m.allocs, err = t.allocations(ctx); err != nil {
			return nil, err
		}
		m.share = t.historyShare(ctx, lasting)
	}
	m.cpu, err = cpuOf(t.PID)
	return m, err
}

// end returns the cost of some orders. It waits for the end of the profile.
func (m *meter) end(ctx context.Context, orders int) (s Spent, err error) {
	cpu, err := cpuOf(m.PID)
	if err != nil {
		return s, err
	}
	spent, n := micros(cpu-m.cpu), float64(orders)
	s.CPU = spent / n
	if m.Metrics == "" {
		return s, nil
	}

	allocs, err := m.allocations(ctx)
	if err != nil {
		return s, err
	}
	if s.Lag, err = m.Target.lag(ctx); err != nil {
		return s, err
	}
	history := <-m.share
	if history.err != nil {
		return s, history.err
	}
	s.Allocs = (allocs - m.allocs) / n
	s.OwnCPU = s.CPU * (1 - history.share)
	if written := n + float64(m.lag) - float64(s.Lag); written > 0 {
		s.HistoryCPU = spent * history.share / written
	}
	return s, nil
}

// historyShare profiles the server for a while, and sends the share of its CPU time that goes to
// goroutines of the history.
func (t *Target) historyShare(ctx context.Context, lasting time.Duration) <-chan shared {
	result := make(chan shared, 1)
	go func() {
		seconds := max(1, int(lasting.Seconds()))
		text, err := get(ctx, t.Metrics, fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds))
		if err != nil {
			result <- shared{err: err}
			return
		}
		share, err := shareOf(text, "history")
		result <- shared{share, err}
	}()
	return result
}

// shareOf returns the share of a profile's time that goroutines of a part of the process take.
func shareOf(text []byte, part string) (float64, error) {
	p, err := profile.Parse(bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	const nanoseconds = 1 // the second value of a sample
	var all, own int64
	for _, s := range p.Sample {
		all += s.Value[nanoseconds]
		if slices.Contains(s.Label["part"], part) {
			own += s.Value[nanoseconds]
		}
	}
	return float64(own) / float64(max(all, 1)), nil
}
