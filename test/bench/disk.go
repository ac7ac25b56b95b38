package main

import (
	"errors"
	"flag"
	"os"
	"slices"
	"syscall"
	"time"
)

// measureSync measures a 4 KiB write with fdatasync in a file written before: the lowest
// cost of durability on a disk.
func measureSync(args []string) (err error) {
	var dir string
	var rounds int

	err = flags("sync", args, func(f *flag.FlagSet) {
		f.StringVar(&dir, "dir", ".", "directory on the disk to measure")
		f.IntVar(&rounds, "n", 5000, "how many")
	})
	if err != nil {
		return err
	}

	file, err := os.CreateTemp(dir, "bench-sync-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()

	took, err := syncs(file, rounds)
	if err != nil {
		return err
	}

	waits := waits(took)
	slices.Sort(took)
	return printJSON(map[string]float64{
		"p50_us": micros(took[len(took)/2]), "p99_us": micros(took[len(took)*99/100]),
		"wait_p50_us": micros(waits[len(waits)/2]), "wait_p99_us": micros(waits[len(waits)*99/100]),
	})
}

// waits returns, sorted, the waits of requests that arrive every 10 µs: the rest of the
// current sync and all of the next.
func waits(took []time.Duration) []time.Duration {
	const every = 10 * time.Microsecond
	var list []time.Duration
	due := time.Duration(0)
	for i := range len(took) - 1 {
		for ; due < took[i]; due += every {
			list = append(list, took[i]-due+took[i+1])
		}
		due -= took[i]
	}
	slices.Sort(list)
	return list
}

func syncs(file *os.File, rounds int) ([]time.Duration, error) {
	const block, blocks = 4096, 4096
	if _, err := file.Write(make([]byte, block*blocks)); err != nil {
		return nil, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}

	b := make([]byte, block)
	took := make([]time.Duration, rounds)
	for i := range took {
		b[0] = byte(i)
		began := time.Now()
		if _, err := file.WriteAt(b, int64(i%blocks)*block); err != nil {
			return nil, err
		}
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
