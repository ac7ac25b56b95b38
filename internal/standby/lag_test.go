package standby_test

import (
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// TestLag shows the time of the question, not of the answer, and never one that is too late.
func TestLag(t *testing.T) {
	var l standby.Lag
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	if asOf, _ := l.At(100); !asOf.IsZero() {
		t.Errorf("as of %s before any question", asOf)
	}
	l.Answered(at(1000), 10, 0)
	l.Answered(at(1020), 20, 0)
	for _, step := range []struct {
		copied, source bourse.Seq
		asOf           int64
	}{{9, 20, 0}, {10, 20, 1000}, {19, 20, 1000}, {25, 20, 1020}} {
		asOf, source := l.At(step.copied)
		if source != step.source || step.asOf == 0 != asOf.IsZero() || step.asOf != 0 && !asOf.Equal(at(step.asOf)) {
			t.Errorf("a copy up to %d is whole as of %v, the source at %d", step.copied, asOf, source)
		}
	}

	for i := range int64(1_000_000) { // nobody asks
		l.Answered(at(2000+i), bourse.Seq(100+i), bourse.Seq(100+i))
	}
	if asOf, _ := l.At(100); !asOf.Equal(at(1_001_999)) {
		t.Errorf("whole as of %s, and the copy had all", asOf)
	}
}

// TestLagOfCatchingUp lets the copy stand still for long, and then catch up: what is shown is never
// too late, and early by a small part of the time that it stood still.
func TestLagOfCatchingUp(t *testing.T) {
	var l standby.Lag
	const probes = 200_000 // more than an hour
	at := func(n int) time.Time { return time.UnixMilli(int64(20 * n)) }
	for n := 1; n <= probes; n++ {
		l.Answered(at(n), bourse.Seq(100*n), 0)
	}
	for n := 1; n <= probes; n += 97 {
		asOf, source := l.At(bourse.Seq(100*n + 50))
		if asOf.After(at(n)) || asOf.Before(at(n-probes/200)) || source != 100*probes {
			t.Fatalf("a copy with probe %d is whole as of probe %d", n, asOf.UnixMilli()/20)
		}
	}
	l.Answered(at(probes+1), 100*probes+1, 100*probes+1)
	if asOf, _ := l.At(0); !asOf.Equal(at(probes + 1)) {
		t.Errorf("once it has caught up: whole as of probe %d", asOf.UnixMilli()/20)
	}
}
