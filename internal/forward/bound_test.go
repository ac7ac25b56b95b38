package forward_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestBoundOfALeader asks a leader for bounds. One that cannot say that it leads names none, and clients get none.
func TestBoundOfALeader(t *testing.T) {
	missing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	p := newPair(t, nil)
	if _, err := p.forwarder.Bound(t.Context()); err == nil {
		t.Error("a node that does not lead names a bound")
	}

	var confirmed error
	p.gate.Open(missing, func(context.Context) (bourse.Seq, error) { return 1 << 60, confirmed })
	b, err := p.forwarder.Bound(t.Context())
	if b.Seq != 1<<60 || b.AsOf.IsZero() || err != nil {
		t.Errorf("%+v: %v", b, err)
	}
	confirmed = errors.New("no majority")
	if b, err := p.forwarder.Bound(t.Context()); err == nil {
		t.Errorf("a leader whom no majority confirms names %+v", b)
	}

	confirmed = nil
	r, err := http.Get(p.url + "/bound")
	must(t, err)
	text, err := io.ReadAll(r.Body)
	must(t, errors.Join(err, r.Body.Close()))
	if r.StatusCode != http.StatusNotFound {
		t.Errorf("a client is told %q, %s", text, r.Status)
	}

	p.unknown.Store(true)
	if _, err := p.forwarder.Bound(t.Context()); err == nil {
		t.Error("a bound without a leader")
	}
}
