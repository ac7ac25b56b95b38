package conformance

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	mutateFlag = flag.String("mutate", "1/40", "N/M: let TestMutations examine the Nth of M parts of the checks; 1/1 takes minutes")
	onlyFlag   = flag.String("only", "", "expression: let TestMutations examine the checks with such names alone")
	everyFlag  = flag.Bool("every-mutation", false, "let TestMutations apply all mutations and list those that nobody notices")
)

// maxMutations bounds the runs of one check.
const maxMutations = 400

// recorder is a T that records failures instead of failing the test.
type recorder struct {
	name string

	mu       sync.Mutex
	failures []string
	noticed  map[string]bool
	cleanups []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return r.name }
func (r *recorder) Logf(string, ...any) {}

// Errorf records a failure.
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf records a failure and ends the check.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// Cleanup defers f to the end of the check.
func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// credit records that a check of these clauses noticed a change.
func (r *recorder) credit(clauses []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range clauses {
		r.noticed[c] = true
	}
}

// changedPatience is the timeout of a message in a run whose change may suppress it.
const changedPatience = 2 * time.Second

// watch runs a check behind a proxy of an exchange and returns the recorder and the proxy.
func watch(e *exchange, c check, change *mutation) (*recorder, *proxy) {
	wait := patience
	if change != nil {
		wait = changedPatience
	}
	p := newProxy(e, change)
	defer p.server.Close()
	return observe(c, &exam{exchange: e, url: p.server.URL, patience: wait}), p
}

// observe runs a check and returns its failures.
func observe(c check, x *exam) *recorder {
	r := &recorder{name: c.name(), noticed: map[string]bool{}}
	x.T = r
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("the check fell over: %v", p)
			}
			for _, f := range slices.Backward(r.cleanups) {
				f()
			}
		}()
		c(x)
	}()
	<-done
	return r
}

// TestMutations fails for a clause whose checks notice no change of an answer. It runs
// the part of the checks selected by -mutate and -only, because all of them take minutes.
// With unrest it examines nothing: a check would notice another leader as well.
func TestMutations(t *testing.T) {
	if *unrestFlag {
		t.Log("checks are not examined while leaders change")
		return
	}
	checks := toMutate(t)
	noticed := &tally{clauses: map[string]bool{}}
	t.Run("checks", func(t *testing.T) {
		for _, c := range checks {
			t.Run(c.name(), func(t *testing.T) {
				if !isIn(walletOffChecks, c) { // those run alone, before the others begin
					t.Parallel()
				}
				mutate(t, c, noticed)
			})
		}
	})
	for _, clause := range clausesOf(t, checks) {
		if !noticed.clauses[clause] {
			t.Errorf("%s: no change of an answer was noticed", clause)
		}
	}
}

// toMutate returns the checks that -mutate and -only select.
func toMutate(t *testing.T) []check {
	t.Helper()
	var part, parts int
	if _, err := fmt.Sscanf(*mutateFlag, "%d/%d", &part, &parts); err != nil || parts < 1 {
		t.Fatalf("-mutate %s: want N/M", *mutateFlag)
	}
	only, err := regexp.Compile(*onlyFlag)
	if err != nil {
		t.Fatalf("-only %s: %v", *onlyFlag, err)
	}

	var list []check
	for i, c := range slices.Concat(allChecks...) {
		if i%parts == part%parts && only.MatchString(c.name()) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Fatalf("-mutate %s -only %s: no check", *mutateFlag, *onlyFlag)
	}
	return list
}

// tally collects the clauses whose changes were noticed.
type tally struct {
	mu      sync.Mutex
	clauses map[string]bool
}

func (y *tally) add(clauses map[string]bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for c := range clauses {
		y.clauses[c] = true
	}
}

func (y *tally) has(clauses []string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, c := range clauses {
		if !y.clauses[c] {
			return false
		}
	}
	return true
}

// mutate repeats a check with different changes until one was noticed for each of its
// clauses.
func mutate(t *testing.T, c check, noticed *tally) {
	e, err := on(c)
	if err != nil {
		t.Fatal(err)
	}
	r, p := watch(e, c, nil)
	if len(r.failures) > 0 {
		t.Fatalf("fails without a change: %s", r.failures[0])
	}
	var list []mutation
	for _, passed := range p.passed {
		list = append(list, mutations(passed)...)
	}
	random := rand.New(rand.NewPCG(1, uint64(len(list))))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b mutation) int { return a.rank - b.rank })
	clauses := clausesIn(t, c)
	runs, red, survived := 0, 0, []string{}
	for i := range list {
		if !*everyFlag && (runs >= maxMutations || noticed.has(clauses)) {
			break
		}
		runs++
		r, p := watch(e, c, &list[i])
		switch {
		case len(r.failures) > 0:
			red++
			if list[i].rank < crude {
				noticed.add(r.noticed)
			}
		case p.applied.Load():
			survived = append(survived, list[i].String())
		}
	}
	t.Logf("%d of %d mutations tried, %d noticed", runs, len(list), red)
	if *everyFlag {
		t.Logf("not noticed:\n%s", strings.Join(survived, "\n"))
	}
}
