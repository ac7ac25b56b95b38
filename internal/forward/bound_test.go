package forward_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/forward"
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

// TestCrowdsKeepNoBoundWaiting has clients of many addresses fill all places of a node with requests that the leader does not answer.
// The node still gets bounds, with which it answers reads by itself.
func TestCrowdsKeepNoBoundWaiting(t *testing.T) {
	inside, answer := make(chan struct{}), make(chan struct{})
	p := newPair(t, nil)
	p.gate.Open(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case inside <- struct{}{}:
		case <-answer:
		}
		<-answer
	}), func(context.Context) (bourse.Seq, error) { return 7, nil })

	client := &http.Transport{}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	defer all.Wait()
	defer close(answer)
	for n := range forward.MostRequests {
		r := p.request(http.MethodGet, "/", "")
		r.Header.Set("Source", fmt.Sprintf("192.0.2.%d", n/forward.RequestsPerSource))
		all.Go(func() {
			for { // a machine that stands still for seconds ends requests
				if a, err := client.RoundTrip(r.Clone(r.Context())); err == nil {
					_ = a.Body.Close()
				}
				select {
				case <-answer:
					return
				default:
				}
			}
		})
	}
	for range forward.MostRequests {
		<-inside
	}
	if b, err := p.forwarder.Bound(t.Context()); b.Seq != 7 || err != nil {
		t.Errorf("beside a crowd the leader's bound is %d: %v", b.Seq, err)
	}
}
