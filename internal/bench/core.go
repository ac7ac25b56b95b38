package bench

import (
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

// CoreReport is the result of `bench core`: the whole engine with ledger, holds, fees and
// events, on one thread.
type CoreReport struct {
	CommandsPerSecond float64 `json:"commands_per_second"`
	// Encoded includes encoding and decoding each command's record, Replayed only
	// decoding records encoded before.
	Encoded  float64 `json:"commands_per_second_encoded"`
	Replayed float64 `json:"commands_per_second_replayed"`
	// CPU is the process's CPU time, which reveals other load on the machine.
	CPU float64 `json:"cpu_ns_per_command"`
	Totals
	AllocsPerCommand float64 `json:"allocs_per_command"`
	// BytesPerOrder is the heap that a resting order of the prefill takes: its record,
	// its index entry, its share of price pages and account lists.
	BytesPerOrder float64 `json:"bytes_per_resting_order"`
	// P50 and P99 come from a separate pass that reads the clock around each command.
	P50 int64 `json:"p50_ns"`
	P99 int64 `json:"p99_ns"`
}

// Core runs a workload through the engine. It returns an error if the totals differ from
// the workload's.
func Core(w *Workload) (*CoreReport, error) {
	plain, err := w.median(func(x *run) { x.apply(w.measured) })
	if err != nil {
		return nil, err
	}
	r := CoreReport{
		CommandsPerSecond: plain.rate, CPU: plain.cpu, Totals: plain.Totals,
		AllocsPerCommand: plain.allocs, BytesPerOrder: plain.bytes,
	}

	encoded, err := w.median(func(x *run) { x.applyEncoded(w.measured) })
	if err != nil {
		return nil, err
	}
	r.Encoded = encoded.rate

	written := encode(w.measured)
	replayed, err := w.median(func(x *run) { x.applyRecords(written, len(w.measured)) })
	if err != nil {
		return nil, err
	}
	r.Replayed = replayed.rate

	timed, err := w.run(func(x *run) { x.applyTimed(w.measured) })
	if err != nil {
		return nil, err
	}
	slices.Sort(timed.took)
	if n := len(timed.took); n > 0 {
		r.P50, r.P99 = int64(timed.took[n/2]), int64(timed.took[n*99/100])
	}
	return &r, nil
}

// CoresReport is the result of several workloads, in the order given.
type CoresReport struct {
	Runs []*CoreReport `json:"runs"`
	// Ratio is the last workload's speed over the first one's.
	Ratio float64 `json:"ratio"`
}

// Cores runs several workloads, one after the other.
func Cores(list []*Workload) (*CoresReport, error) {
	var r CoresReport
	for _, w := range list {
		one, err := Core(w)
		if err != nil {
			return nil, err
		}
		r.Runs = append(r.Runs, one)
	}
	r.Ratio = r.Runs[len(list)-1].CommandsPerSecond / r.Runs[0].CommandsPerSecond
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
	rate, allocs, cpu float64
	// bytes is the heap that a resting order of the prefill takes.
	bytes float64
}

// passes is the number of passes whose median counts: one takes less than a second, so
// other load on the machine can hit a whole pass.
const passes = 5

// median runs several passes and returns the one of median speed.
func (w *Workload) median(pass func(*run)) (*run, error) {
	var list [passes]*run
	for i := range list {
		x, err := w.run(pass)
		if err != nil {
			return nil, err
		}
		x.engine = nil // its engine must not stay on the heap of later passes
		list[i] = x
	}
	slices.SortFunc(list[:], func(a, b *run) int { return cmp.Compare(a.rate, b.rate) })
	return list[passes/2], nil
}

// run opens an exchange, applies the prefill, and measures pass on the remaining
// commands.
func (w *Workload) run(pass func(*run)) (*run, error) {
	x := &run{engine: engine.New()}
	for _, c := range w.opening() {
		x.step(&c)
		if reason := x.ev.Outcome.Reason; reason != 0 {
			return nil, fmt.Errorf("opening the exchange: %s", reason)
		}
	}

	empty := heap()
	x.apply(w.prefill)
	full := heap()
	if open := x.engine.OpenOrders(); open > 0 {
		x.bytes = (float64(full.HeapAlloc) - float64(empty.HeapAlloc)) / float64(open)
	}

	x.Totals = Totals{}
	n := float64(len(w.measured))
	before := heap()
	began, worked := time.Now(), cpu()
	pass(x)
	spent := time.Since(began)
	x.rate, x.cpu = n/spent.Seconds(), float64(cpu()-worked)/n
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	x.allocs = float64(after.Mallocs-before.Mallocs) / n

	if w.want != nil && x.Totals != *w.want {
		return nil, fmt.Errorf("the totals are %+v, must be %+v", x.Totals, *w.want)
	}
	return x, nil
}

// heap collects garbage and returns the memory statistics.
func heap() runtime.MemStats {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
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

func (x *run) apply(list []item) {
	var c bourse.Command
	for part := range x.parts(list) {
		for i := range part {
			part[i].write(&c)
			x.step(&c)
		}
	}
}

func (x *run) applyEncoded(list []item) {
	var c bourse.Command
	for part := range x.parts(list) {
		for i := range part {
			part[i].write(&c)
			x.buf = record.Append(x.buf[:0], &c)
			if _, err := record.Decode(x.buf, &c); err != nil {
				bourse.Impossible("workload does not encode: %v", err)
			}
			x.step(&c)
		}
	}
}

// applyRecords applies count records of encode.
func (x *run) applyRecords(data []byte, count int) {
	var c bourse.Command
	frame := record.Frame{First: x.seq + 1, Count: count, Time: 1, Commands: data}
	err := frame.Each(&c, x.engine.Expect, func() error {
		x.step(&c)
		return nil
	})
	if err != nil {
		bourse.Impossible("workload does not encode: %v", err)
	}
}

func (x *run) applyTimed(list []item) {
	x.took = make([]time.Duration, 0, len(list))
	var c bourse.Command
	for part := range x.parts(list) {
		for i := range part {
			part[i].write(&c)
			began := time.Now()
			x.step(&c)
			x.took = append(x.took, time.Since(began))
		}
	}
}

// parts yields the commands in parts of record.Ahead, and tells the engine before each
// which orders it cancels, as readers of the journal do.
func (x *run) parts(list []item) iter.Seq[[]item] {
	return func(yield func([]item) bool) {
		ids := make([]bourse.OrderID, 0, record.Ahead)
		for part := range slices.Chunk(list, record.Ahead) {
			x.engine.Expect(appendCanceled(ids, part))
			if !yield(part) {
				return
			}
		}
	}
}

// encode encodes a workload's commands as records.
func encode(list []item) []byte {
	var c bourse.Command
	var b []byte
	for i := range list {
		list[i].write(&c)
		b = record.Append(b, &c)
	}
	return b
}
