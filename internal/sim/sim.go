package sim

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
)

// Options configure a simulation.
type Options struct {
	// Seed determines everything, Commands is the number of commands that clients send
	// while there are faults.
	Seed     uint64
	Commands int
}

// Report is the result of a simulation.
type Report struct {
	// Commands is the number of commands in the journal.
	Commands uint64
	// Hash covers everything observed.
	Hash   [32]byte
	Counts Counts
}

// Run runs a seed twice and compares the runs. The error is a *SeedError.
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

// SeedError is a finding of a simulation.
type SeedError struct {
	Options
	Cause error
	// Trail has the last events, Stack the place of the check.
	Trail []string
	Stack []byte
}

// Error prints the cause and the trail.
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

// violation is the panic of a failed check.
type violation struct{ error }

// runOnce runs a seed once.
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

// causeOf turns a panic into an error. A panic of the product is a finding as well.
func causeOf(r any) error {
	if v, ok := r.(violation); ok {
		return v.error
	}
	if err, ok := r.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", r)
}

// fail ends the simulation with a violation.
func fail(format string, args ...any) { panic(violation{fmt.Errorf(format, args...)}) }

// want ends the simulation if there is an error.
func want(err error, about string) {
	if err != nil {
		fail("%s: %w", about, err)
	}
}
