package bench

import (
	"context"
	"errors"
	"time"
)

// StartReport is the result of `bench start`: an exchange in an empty directory.
type StartReport struct {
	// Start is the median time until it serves, in seconds.
	Start float64 `json:"start_s"`
	// Resident is the median of its idle memory in bytes.
	Resident float64 `json:"resident_bytes"`
	// PerStream is the memory of each of Streams idle WebSockets in bytes.
	Streams   int     `json:"streams"`
	PerStream float64 `json:"bytes_per_stream"`
}

// Start starts exchanges in directories below dir.
func Start(ctx context.Context, dir string, rounds, streams int) (*StartReport, error) {
	var took, memory, each []float64
	for range rounds {
		s, m, e, err := startOnce(ctx, dir, streams)
		if err != nil {
			return nil, err
		}
		took, memory, each = append(took, s), append(memory, m), append(each, e)
	}
	return &StartReport{median(took), median(memory), streams, median(each)}, nil
}

func startOnce(ctx context.Context, dir string, streams int) (took, memory, each float64, err error) {
	x, err := startExchange(ctx, dir)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	const calm = 2 * time.Second
	time.Sleep(calm)
	resident, err := residentOf(x.PID)
	if err != nil {
		return 0, 0, 0, err
	}
	a := newAudience()
	defer a.leave()
	if err := a.join(&x.Target, streams); err != nil {
		return 0, 0, 0, err
	}
	more, err := residentOf(x.PID)
	return x.took.Seconds(), float64(resident), float64(more-resident) / float64(streams), err
}
