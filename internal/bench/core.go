package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

// CoreReport is what `bench core` measures: the whole engine, ledger, holds,
// fees and events included, on one thread.
type CoreReport struct {
	CommandsPerSecond float64 `json:"commands_per_second"`
	// Encoded includes writing and reading each command's record.
	Encoded float64 `json:"commands_per_second_encoded"`
	Totals
	AllocsPerCommand float64 `json:"allocs_per_command"`
	// P50 and P99 come from a pass of their own, which reads the clock around
	// each command.
	P50 int64 `json:"p50_ns"`
	P99 int64 `json:"p99_ns"`
}

// Core runs a workload through the engine. It is an error if the totals are not
// those of the workload: then there is no speed to speak of.
func Core(w *Workload) (*CoreReport, error) {
	var r CoreReport
	plain, err := w.run(func(x *run, data []byte) { x.apply(data) })
	if err != nil {
		return nil, err
	}
	r.CommandsPerSecond, r.AllocsPerCommand, r.Totals = plain.rate, plain.allocs, plain.Totals
	encoded, err := w.run(func(x *run, data []byte) { x.applyEncoded(data) })
	if err != nil {
		return nil, err
	}
	r.Encoded = encoded.rate
	timed, err := w.run(func(x *run, data []byte) { x.applyTimed(data) })
	if err != nil {
		return nil, err
	}
	slices.Sort(timed.took)
	if n := len(timed.took); n > 0 {
		r.P50, r.P99 = int64(timed.took[n/2]), int64(timed.took[n*99/100])
	}
	return &r, nil
}

// run is one pass over a workload.
type run struct {
	engine *engine.Engine
	ev     bourse.Events
	seq    bourse.Seq
	buf    []byte
	took   []time.Duration
	Totals
	rate, allocs float64
}

// run opens an exchange, applies the prefill, and measures how pass applies the
// rest.
func (w *Workload) run(pass func(*run, []byte)) (*run, error) {
	x := &run{engine: engine.New()}
	for _, c := range w.opening() {
		x.step(&c)
		if reason := x.ev.Outcome.Reason; reason != 0 {
			return nil, fmt.Errorf("opening the exchange: %s", reason)
		}
	}
	x.apply(w.prefill)
	x.Totals = Totals{}
	x.took = make([]time.Duration, 0, len(w.measured)/recordSize)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	pass(x, w.measured)
	spent := time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(len(w.measured) / recordSize)
	x.rate, x.allocs = n/spent.Seconds(), float64(after.Mallocs-before.Mallocs)/n
	if w.want != nil && x.Totals != *w.want {
		return nil, fmt.Errorf("the totals are %+v, must be %+v", x.Totals, *w.want)
	}
	return x, nil
}

func (x *run) step(c *bourse.Command) {
	x.seq++
	c.Seq, c.Time = x.seq, 1
	x.ev.Reset()
	x.engine.Apply(c, &x.ev)
	for i := range x.ev.Trades {
		t := &x.ev.Trades[i]
		x.Trades++
		x.Volume += uint64(t.Lots)
		x.Notional += uint64(t.Lots) * uint64(t.Price)
	}
}

func (x *run) apply(data []byte) {
	var c bourse.Command
	for ; len(data) > 0; data = data[recordSize:] {
		c = bourse.Command{}
		read(data, &c)
		x.step(&c)
	}
}

func (x *run) applyEncoded(data []byte) {
	var c bourse.Command
	for ; len(data) > 0; data = data[recordSize:] {
		c = bourse.Command{}
		read(data, &c)
		x.buf = record.Append(x.buf[:0], &c)
		if _, err := record.Decode(x.buf, &c); err != nil {
			bourse.Impossible("workload does not encode: %v", err)
		}
		x.step(&c)
	}
}

func (x *run) applyTimed(data []byte) {
	var c bourse.Command
	for ; len(data) > 0; data = data[recordSize:] {
		c = bourse.Command{}
		read(data, &c)
		began := time.Now()
		x.step(&c)
		x.took = append(x.took, time.Since(began))
	}
}
