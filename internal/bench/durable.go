package bench

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// DurableReport is the result of `bench durable`: the latency from a command's due time
// in an open-loop schedule to its ticket, when it is on disk, applied and visible, with
// views on and history lagging.
type DurableReport struct {
	// Rate is the scheduled rate, Reached the acknowledged one, in commands per second.
	Rate    float64 `json:"rate"`
	Reached float64 `json:"reached"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	// CPU is the process's CPU time per command, including the submitter.
	CPU float64 `json:"cpu_us_per_op"`
	// Anchor is the median time of a 4 KiB write and fdatasync over blocks of a file that
	// were written before, in the same directory, right before the run.
	Anchor float64 `json:"fdatasync_p50_us"`
	// Ratio is P50 over Anchor.
	Ratio float64 `json:"p50_to_fdatasync"`
}

// Durable runs a workload through journal, engine and views at a rate, in a temporary
// directory below dir.
func Durable(w *Workload, dir string, rate int, lasting time.Duration) (_ *DurableReport, err error) {
	anchor, err := syncMedian(dir)
	if err != nil {
		return nil, err
	}

	l, err := newLine(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	if err := errors.Join(l.all(these(w.opening())), l.all(items(w.prefill))); err != nil {
		return nil, err
	}

	before := cpu()
	took, reached, err := l.drive(items(w.measured), rate, lasting)
	if err != nil {
		return nil, err
	}
	return &DurableReport{
		Rate: float64(rate), Reached: reached, P50: took.at(500), P99: took.at(990), P999: took.at(999),
		CPU: micros(cpu()-before) / float64(len(took)), Anchor: anchor, Ratio: took.at(500) / anchor,
	}, nil
}

// syncMedian measures DurableReport's Anchor in microseconds.
func syncMedian(dir string) (_ float64, err error) {
	const block, blocks, rounds = 4096, 256, 2000
	f, err := os.CreateTemp(dir, "bourse-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()

	if _, err := f.Write(make([]byte, block*blocks)); err != nil {
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
		if err := disk.SyncData(f); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}

	slices.Sort(took)
	return micros(took[rounds/2]), nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
