package forward

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestBounds lets those who ask while the leader is asked share the next question: the answer to this one may have been
// given before they came.
func TestBounds(t *testing.T) {
	var b bounds
	asked, answers := make(chan struct{}), make(chan bourse.Seq)
	ask := func() (Bound, error) {
		asked <- struct{}{}
		return Bound{Seq: <-answers}, nil
	}
	paused := 0
	pause := func(Bound) { paused++ }
	got := func(q *question) bourse.Seq {
		<-q.done
		return q.bound.Seq
	}

	first := b.join(ask, pause)
	<-asked
	second, third := b.join(ask, pause), b.join(ask, pause)
	if second == first || third != second {
		t.Error("the callers do not share the next question, and it alone")
	}
	answers <- 1
	<-asked
	fourth := b.join(ask, pause)
	answers <- 2
	<-asked
	answers <- 3
	if a, b, c, d := got(first), got(second), got(third), got(fourth); a != 1 || b != 2 || c != 2 || d != 3 {
		t.Errorf("answers %d, %d, %d and %d", a, b, c, d)
	}
	if paused != 1 {
		t.Errorf("%d pauses behind three questions, of which two callers shared one", paused)
	}

	// Whenever the last answer has come, the next caller is answered as well.
	for n := range bourse.Seq(100) {
		q := b.join(ask, pause)
		<-asked
		answers <- n
		if got(q) != n {
			t.Fatalf("answer %d to question %d", q.bound.Seq, n)
		}
	}
}
