package sim

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
)

// Options say what to simulate.
type Options struct {
	// Seed is what everything follows from, Commands how many commands clients
	// ask for while there are faults.
	Seed     uint64
	Commands int
}

// Report is what a simulation did.
type Report struct {
	// Commands is how many commands came into the journal.
	Commands uint64
	// Hash covers everything that was observed.
	Hash   [32]byte
	Counts Counts
}

// Run runs a seed twice. The error is a *SeedError.
func Run(o Options) (*Report, error) {
	first, err := runOnce(o)
	if err != nil {
		return nil, err
	}
	second, err := runOnce(o)
	if err != nil {
		return nil, err
	}
	if first.Hash != second.Hash {
		return nil, &SeedError{Options: o, Cause: errTwoRuns}
	}
	return first, nil
}

var errTwoRuns = errors.New("two runs of the seed went different ways")

// SeedError is what a simulation found.
type SeedError struct {
	Options
	Cause error
	// Trail is what happened last, Stack where it was noticed.
	Trail []string
	Stack []byte
}

// Error tells the cause and what led to it.
func (f *SeedError) Error() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "seed %d, %d commands: %v", f.Seed, f.Commands, f.Cause)
	for _, line := range f.Trail {
		b.WriteString("\n\t" + line)
	}
	if len(f.Stack) > 0 {
		fmt.Fprintf(&b, "\n%s", f.Stack)
	}
	return b.String()
}

// Unwrap returns the cause.
func (f *SeedError) Unwrap() error { return f.Cause }

// violation is what a check that fails panics with.
type violation struct{ error }

// runOnce runs a seed.
func runOnce(o Options) (_ *Report, err error) {
	w := newWorld(o)
	defer func() {
		if r := recover(); r != nil {
			err = &SeedError{Options: o, Cause: causeOf(r), Trail: w.trail.last(), Stack: debug.Stack()}
		}
	}()
	w.safety()
	w.liveness()
	return &Report{Commands: uint64(w.truth.last()), Hash: w.trail.sum(), Counts: w.counts}, nil
}

// causeOf returns what somebody panicked with as an error. A panic of the product
// is as much a finding as a check of ours.
func causeOf(r any) error {
	if v, ok := r.(violation); ok {
		return v.error
	}
	if err, ok := r.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", r)
}

// fail ends the simulation: something does not hold.
func fail(format string, args ...any) { panic(violation{fmt.Errorf(format, args...)}) }

// want ends the simulation unless there is no error.
func want(err error, about string) {
	if err != nil {
		fail("%s: %w", about, err)
	}
}
