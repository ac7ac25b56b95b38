package needs_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// recorder is a T that only notes how a test ends.
type recorder struct {
	testing.TB
	ended string
}

func (*recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.ended = "skip: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.ended = "fail: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct{ require, name, want string }{
		{"", "go", ""},
		{"go other", "go", ""},
		{"", "no-such-program", "skip: needs no-such-program"},
		{"no-such", "no-such-program", "skip: needs no-such-program"},
		{"go no-such-program", "no-such-program", "fail: needs no-such-program, which BOURSE_REQUIRE says is there"},
	} {
		t.Setenv("BOURSE_REQUIRE", c.require)
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			needs.Program(r, c.name)
		}()
		<-done
		if r.ended != c.want {
			t.Errorf("%q of %q: %q, want %q", c.name, c.require, r.ended, c.want)
		}
	}
}
