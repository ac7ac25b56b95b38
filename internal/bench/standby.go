package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// StandbyReport is the result of `bench standby`: the lag that a standby shows while its source takes
// orders at a rate. Both are processes of this machine, and share its disk.
type StandbyReport struct {
	// Rate is the scheduled rate, Reached the acknowledged one, in orders per second.
	Rate    float64 `json:"rate"`
	Reached float64 `json:"reached"`
	// P50, P99 and Most are of the lag at Samples moments, one each sampleEvery.
	P50     float64 `json:"lag_p50_ms"`
	P99     float64 `json:"lag_p99_ms"`
	Most    float64 `json:"lag_most_ms"`
	Samples int     `json:"samples"`
}

const (
	// loadConnections place orders at a rate, loadBatch in a request.
	loadConnections = 8
	loadBatch       = 50
	// sampleEvery is the time between two looks at the lag.
	sampleEvery = 10 * time.Millisecond
)

// Standby measures an exchange of its own, and a standby of it, in directories below dir.
func Standby(ctx context.Context, dir string, rate int, lasting time.Duration) (_ *StandbyReport, err error) {
	x, err := startExchange(ctx, dir, "--nodes", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	if err := x.open(ctx, loadConnections); err != nil {
		return nil, err
	}
	copied, stop, err := startStandby(ctx, dir, x.nodes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	clients, err := x.dialAll(loadConnections, loadBatch)
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	look := func() (int64, error) { return standbyLag(ctx, copied) }
	for lag := int64(-1); lag < 0; { // until the first copy is whole
		if lag, err = look(); err != nil {
			return nil, err
		}
	}

	if _, _, err := keepRate(clients, rate, lasting/10, look); err != nil { // warm up
		return nil, err
	}
	reached, lags, err := keepRate(clients, rate, lasting, look)
	if err != nil {
		return nil, err
	}
	r := &StandbyReport{Rate: float64(rate), Reached: reached, Samples: len(lags)}
	r.P50, r.P99, r.Most = spread(lags)
	return r, nil
}

// spread returns the median, the 99th percentile and the highest of lags.
func spread(lags []int64) (p50, p99, most float64) {
	slices.Sort(lags)
	n := len(lags)
	return float64(lags[n/2]), float64(lags[n*99/100]), float64(lags[n-1])
}

// startStandby follows a node port into a temporary directory below dir, and returns that.
func startStandby(ctx context.Context, dir, nodes string) (data string, stop func() error, err error) {
	process, data, stderr, err := begin(ctx, dir, (*exec.Cmd).StderrPipe, "follow", nodes)
	if err != nil {
		return "", nil, err
	}
	stop = func() error {
		_ = process.Process.Kill() // it may have ended
		_ = process.Wait()         // killed: an error is expected
		return os.RemoveAll(data)
	}
	if err := saysFollowing(stderr); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return data, stop, nil
}

// standbyLag returns the lag that a standby shows in milliseconds, -1 if it is unknown.
func standbyLag(ctx context.Context, data string) (int64, error) {
	var status struct {
		Lag int64 `json:"lag_ms"`
	}
	return status.Lag, operate(ctx, data, "status", nil, &status)
}

// keepRate places orders at a rate, and returns the rate that was reached and the lags that look saw meanwhile.
func keepRate(
	clients []*client, rate int, lasting time.Duration, look func() (int64, error),
) (reached float64, lags []int64, err error) {
	each := time.Duration(len(clients)*loadBatch) * time.Second / time.Duration(rate)
	began := time.Now()
	failed := make([]error, len(clients))
	var placing sync.WaitGroup
	for i, c := range clients {
		c.took = c.took[:0]
		placing.Go(func() {
			for due := each * time.Duration(i) / time.Duration(len(clients)); due < lasting && failed[i] == nil; due += each {
				time.Sleep(time.Until(began.Add(due)))
				failed[i] = c.order()
			}
		})
	}

	var unknown error
	for due := sampleEvery; due < lasting && unknown == nil; due += sampleEvery {
		time.Sleep(time.Until(began.Add(due)))
		var lag int64
		lag, unknown = look()
		lags = append(lags, lag)
	}
	placing.Wait()
	spent := time.Since(began)
	if err := errors.Join(unknown, errors.Join(failed...)); err != nil {
		return 0, nil, err
	}

	orders := 0
	for _, c := range clients {
		orders += len(c.took) * loadBatch
	}
	if orders == 0 || len(lags) == 0 {
		return 0, nil, fmt.Errorf("nothing to measure at %d orders a second in %s", rate, lasting)
	}
	return float64(orders) / spent.Seconds(), lags, nil
}
