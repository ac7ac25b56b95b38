package conformance

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// T is the part of *testing.T that a check needs. The mutation pass replaces it by a
// recorder.
type T interface {
	Helper()
	Name() string
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

// crediting is a T that records the clauses of a failure.
type crediting interface {
	credit(clauses []string)
}

// check examines some clauses.
type check func(x *exam)

// name returns the name of a check's function.
func (c check) name() string {
	full := runtime.FuncForPC(reflect.ValueOf(c).Pointer()).Name()
	return full[strings.LastIndex(full, ".")+1:]
}

// exam is one run of a check.
type exam struct {
	T
	// exchange is the examined exchange; url is its address or that of a proxy.
	exchange *exchange
	url      string
	// patience is the timeout of a message.
	patience time.Duration
	clauses  []string
	// undescribed permits requests that differ from the description.
	undescribed bool
}

// patience is the timeout of an expected message. Checks do not wait for the absence of a
// message.
const patience = 30 * time.Second

// examine runs checks as parallel subtests.
func examine(t *testing.T, checks []check) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// examineAlone runs checks while no other check runs.
func examineAlone(t *testing.T, checks []check) {
	for _, c := range checks {
		t.Run(c.name(), c.run)
	}
}

func (c check) run(t *testing.T) {
	defer func() {
		if p := recover(); p != nil { // let the other checks continue
			t.Errorf("the check fell over: %v\n%s", p, debug.Stack())
		}
	}()
	e, err := on(c)
	if err != nil {
		t.Fatal(err)
	}
	if e.cluster != nil && *unrestFlag {
		e.cluster.examine(t, e, c)
		return
	}
	c(&exam{T: t, exchange: e, url: e.url, patience: patience})
}

// covers names the clauses of the following assertions.
func (x *exam) covers(clauses ...string) { x.clauses = clauses }

// Errorf fails the check: the exchange violates its clauses.
func (x *exam) Errorf(format string, args ...any) {
	x.Helper()
	x.blame()
	x.T.Errorf(strings.Join(x.clauses, ", ")+": "+format, args...)
}

// Fatalf fails and ends the check.
func (x *exam) Fatalf(format string, args ...any) {
	x.Helper()
	x.blame()
	x.T.Fatalf(strings.Join(x.clauses, ", ")+": "+format, args...)
}

func (x *exam) blame() {
	if c, ok := x.T.(crediting); ok {
		c.credit(x.clauses)
	}
}

// broken ends the check because its preparation failed, which proves nothing about its
// clauses.
func (x *exam) broken(format string, args ...any) {
	x.Helper()
	x.T.Fatalf("cannot examine "+strings.Join(x.clauses, ", ")+": "+format, args...)
}
