package node

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/wire"
)

const (
	// streamPath is the path of streams, at the leader as well.
	streamPath = "/stream"
	// aloneFor is the time without a bound, after which a replica ends its streams. It is longer than elections take: the view is a
	// part of the committed journal under every leader, and streams outlive a change.
	aloneFor = 5 * time.Second
	// confirmEvery is the time between two questions to the leader while the journal does not grow and clients have streams, so
	// that they do not outlive it by more than aloneFor.
	confirmEvery = time.Second
	// lone is the reason for which a replica ends its streams after aloneFor without a leader.
	lone = "this node hears of none that leads, resume with since at another one"
)

// openPublisher makes the parts of streams that the view feeds.
func (r *replica) openPublisher() {
	r.feed = feed.New()
	r.publisher = stream.NewPublisher(r.feed, r.view, func(*wire.Writer, *history.Movement) error {
		bourse.Impossible("a replica has no subscriber of an account's transfers")
		return nil
	})
	r.spot = &spotv1.Spot{View: r.view, History: r.reader}
}

// observers see each command that the view applies, in the order of buildLine.
func (r *replica) observers() []sequencer.Observer {
	return []sequencer.Observer{r.tail, r.view, r.publisher}
}

// openStreams makes the server of the replica's own streams. Clients who authenticate depart to the leader.
func (r *replica) openStreams() {
	r.streams = stream.NewServer(stream.Options{
		Feed: r.feed, View: r.view, History: r.reader, State: r.streamState, From: r.proxies.From,
		Clock: time.Now, After: time.After, Log: r.Log, Limits: r.limits, PerSource: r.Limits.Connections,
		Elsewhere: func(opened *http.Request) (io.ReadWriteCloser, error) { return r.forwarder.Open(opened, streamPath) },
		Current: func(ctx context.Context) error {
			_, err := r.reads.catchUp(ctx)
			return err
		},
	})
}

// isOwnStream reports whether a request opens a stream that a replica has itself: a public one, until its client authenticates.
// A page's belongs to the account of its cookie.
func isOwnStream(q *http.Request) bool {
	if !forward.IsStream(q) {
		return false
	}
	return q.URL.Path == streamPath || q.URL.Path == "/web"+streamPath && !hasSession(q)
}

// hasSession reports whether a request may have a session's cookie, whatever port is in its name.
func hasSession(q *http.Request) bool {
	for _, c := range q.Cookies() {
		if strings.HasPrefix(c.Name, browser.CookieName("")) {
			return true
		}
	}
	return false
}

// openStream opens a stream from the view, or at the leader if the view is behind.
func (r *replica) openStream(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeout(q.Context(), reachWithin)
	defer cancel()
	if _, err := r.reads.catchUp(ctx); err != nil {
		r.others.ServeHTTP(w, q)
		return
	}
	r.streams.ServeHTTP(w, q)
}

// tendStreams pings the clients of streams, and ends streams that are alone.
func (r *replica) tendStreams(ctx context.Context) error {
	return every(ctx, time.Second, func() {
		r.streams.Ping()
		r.endLoneStreams()
	})
}

// endLoneStreams ends streams after aloneFor: all without a bound of a leader, and those from the view without one that the view
// has reached.
func (r *replica) endLoneStreams() {
	switch now := r.reads.clock(); {
	case r.streams.Len() == 0:
	case r.reads.heard.age(now) > aloneFor:
		r.streams.Suspend(lone)
		r.streams.Resume() // openStream asks the leader
	case r.reads.reached.age(now) > aloneFor:
		r.streams.EndOwn("this node is behind the one that leads, resume with since")
	}
}
