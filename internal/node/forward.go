package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/forward"
)

const (
	// nodesIdleFor is longer than a connection of a node is idle: one that ended would take the request with it that
	// comes at that moment.
	nodesIdleFor = 24 * time.Hour
	// goneWithin is the time in which other nodes learn that a connection takes no more requests. It is less than an election takes, so that
	// nodes that end together elect no leader meanwhile.
	goneWithin = 50 * time.Millisecond
	// maxHeaderOfNodes is more than what maxHeader lets a replica take, as HTTP/2 counts it: 32 bytes more for each field, of
	// which the shortest has three, and for each cookie, of which package forward takes no more than some.
	maxHeaderOfNodes = 16 * maxHeader
)

// takeRequests serves the requests that other nodes send, for as long as the process runs: while the node does not lead,
// they are refused as not taken. end ends the server. What it has answered leaves, unless the process ends by a failure.
func (o *MemberOptions) takeRequests(ctx context.Context) (end func(why error)) {
	s := &http.Server{
		Handler: o.Gate, Protocols: new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: forward.MostAtOnce, WriteByteTimeout: writeWithin},
		ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: writeWithin, IdleTimeout: nodesIdleFor,
		MaxHeaderBytes: maxHeaderOfNodes, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	var idle idleConns
	s.ConnState = idle.note
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(o.Member.Requests()) // the listener fails by its end alone
	}()

	return func(why error) {
		if why == nil || errors.Is(why, ErrDeposed) {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
			defer cancel()
			defer time.AfterFunc(goneWithin, idle.close).Stop()
			_ = s.Shutdown(last) // requests under way then get no answer
		}
		_ = s.Close()
		<-done
	}
}

// idleConns are the connections of nodes without a request. The server waits a second for those of HTTP/2, which the other ends keep.
type idleConns struct {
	mu sync.Mutex
	// ended is true once they are closed.
	ended bool
	conns map[net.Conn]struct{}
}

// note takes the state of a connection.
func (i *idleConns) note(conn net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case state != http.StateIdle:
		delete(i.conns, conn)
	case i.ended:
		_ = conn.Close()
	case i.conns == nil:
		i.conns = map[net.Conn]struct{}{conn: {}}
	default:
		i.conns[conn] = struct{}{}
	}
}

// close closes them, and others once they have no request.
func (i *idleConns) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	for conn := range i.conns {
		_ = conn.Close()
	}
}

// shown returns the last command whose effect clients may have seen at this leader, once a majority has said that it leads still.
func (n *Node) shown(ctx context.Context) (bourse.Seq, error) {
	seq := n.view.Seq()
	return seq, n.Member.Log.Confirm(ctx)
}

// leader returns the node that leads, as this one reaches it; nil if none does.
func (n *Node) leader() *forward.Leader {
	leader := n.Member.Leader()
	if leader == nil {
		return nil
	}
	id := leader.Node
	return &forward.Leader{ID: id, Dial: func(ctx context.Context, protocol string) (net.Conn, error) {
		return n.Member.Dial(ctx, id, protocol)
	}}
}

// forClients sends a request to the leader. The node answers health checks itself.
func (r *replica) forClients(w http.ResponseWriter, q *http.Request) {
	switch q.URL.Path {
	case "/healthz":
		answer(w, http.StatusOK, map[string]any{"status": "ok", "version": r.Version})
	case "/readyz":
		status, ready := http.StatusOK, r.Member.Leader() != nil
		if !ready {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, map[string]any{"ready": ready, "cluster": r.place()})
	default:
		switch {
		case isOwnStream(q):
			r.ownStreams.ServeHTTP(w, q)
		case isLocal(q.URL.Path):
			r.reads.ServeHTTP(w, q)
		default:
			r.others.ServeHTTP(w, q)
		}
	}
}

// forOthers sends a request to the leader.
func (r *replica) forOthers(w http.ResponseWriter, q *http.Request) {
	// A stream costs the leader a connection before it can count it.
	if !forward.IsStream(q) || r.limits.AdmitPage(w, api.Payer{Source: r.proxies.From(q)}) {
		r.forwarder.ServeHTTP(w, q)
	}
}

var errNoFiles = bourse.Errorf(bourse.CodeBusy, "This node has no room for more streams; open it again in a moment, or at another node")

// withRoom serves a request by a handler, unless it opens a stream for which room says that there is no file descriptor. A stream
// that nodes forward takes one more at either of them than the client's connection, and the journal needs the last ones.
func withRoom(room func() bool, refuse func(http.ResponseWriter, *http.Request, error), next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if forward.IsStream(q) && !room() {
			refuse(w, q, errNoFiles)
			return
		}
		next(w, q)
	})
}

// notServed answers a request that this node does not serve, in its interface's form. It names the leader if the request was
// not taken.
func (o *Options) notServed(w http.ResponseWriter, q *http.Request, err error) {
	status := http.StatusOK
	var known *bourse.Error
	if errors.As(err, &known) && (known.Code == bourse.CodeUnavailable || known.Code == bourse.CodeBusy) {
		if leader := o.Member.Leader(); leader != nil {
			scheme := "http://"
			if o.Certificate.Encrypted() {
				scheme = "https://"
			}
			w.Header().Set("Bourse-Leader", scheme+leader.Listen)
		}
		w.Header().Set("Retry-After", "1")
		if status = http.StatusServiceUnavailable; known.Code == bourse.CodeBusy {
			status = http.StatusTooManyRequests
		}
	}
	if !ofV1(q.URL.Path) {
		v2.Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(api.FailV1(err)) // the client may be gone
}

// leave ends a replica's servers: their listeners at once, so that the exchange can open them, and requests under way
// once they are answered, for a moment. Those that are not have an unknown outcome then.
func (r *replica) leave(ctx context.Context, servers []*http.Server) (left <-chan struct{}) {
	now, cancel := context.WithCancel(ctx)
	cancel()
	var all []stoppable
	for _, s := range servers {
		_ = s.Shutdown(now) // it closes the listener, and waits for nothing
		all = append(all, s)
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		var streams sync.WaitGroup
		streams.Go(func() { r.endStreams(ctx) })
		defer streams.Wait()
		lastAnswers(ctx, all)
		r.forwarder.Close()
		lastAnswers(ctx, all)
		for _, s := range servers {
			_ = s.Close()
		}
	}()
	return done
}

// endStreams closes streams, whose clients find another node, or this one again in a moment.
func (r *replica) endStreams(ctx context.Context) {
	last, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	r.streams.Suspend("this node serves in another role in a moment, resume with since")
	r.streams.Close(last)
}

// lastAnswers is answerLast for answerWithin.
func lastAnswers(ctx context.Context, servers []stoppable) {
	last, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	answerLast(last, servers)
}
