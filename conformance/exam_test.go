package conformance

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// T is what a check needs of a test: *testing.T, or the recorder that the
// mutation pass watches it with.
type T interface {
	Helper()
	Name() string
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

// crediting is a T that wants to know which clauses a failure is about.
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
	// exchange is examined; url is where, which may be a proxy before it.
	exchange *exchange
	url      string
	// patience is how long a message may take.
	patience time.Duration
	clauses  []string
	// undescribed says that requests are taken although they are not as described.
	undescribed bool
}

// patience is how long a message may take that has to come. Messages that must not
// come are not waited for.
const patience = 30 * time.Second

// examine runs checks as subtests, beside each other.
func examine(t *testing.T, checks []check) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			defer func() {
				if p := recover(); p != nil { // the others go on
					t.Errorf("the check fell over: %v\n%s", p, debug.Stack())
				}
			}()
			c(&exam{T: t, exchange: examined, url: examined.url, patience: patience})
		})
	}
}

// covers says which clauses the assertions from here on are about.
func (x *exam) covers(clauses ...string) { x.clauses = clauses }

// Errorf fails the check: the exchange does not do what the clauses say.
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

// broken ends the check because what comes before its assertions failed: that
// proves nothing about its clauses.
func (x *exam) broken(format string, args ...any) {
	x.Helper()
	x.T.Fatalf("cannot examine "+strings.Join(x.clauses, ", ")+": "+format, args...)
}
