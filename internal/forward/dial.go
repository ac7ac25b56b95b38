package forward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// dialWithin bounds the making of a connection.
	dialWithin = 2 * time.Second
	// askAfter and goneAfter find a leader that stands still: a connection that is silent for askAfter is asked for a sign, and
	// given up without one after goneAfter more. Then the outcomes of its requests are unknown.
	askAfter  = time.Second
	goneAfter = 3 * time.Second
	// mostDials bounds the connections for streams that a node makes at once: each costs the leader some milliseconds, and a place among
	// those whose keys it does not know yet, of which it has 32 for all nodes.
	mostDials = 4
	// mostUnread bounds what the leader sends of an answer ahead of the client, in bytes.
	mostUnread = 64 << 10
	// fewest is the number of requests for which a connection has room at least: HTTP/2 counts on it before the leader has named its
	// own bound.
	fewest = 100
)

// The protocols of TLS on the node port.
const (
	ProtocolHTTP1 = "http/1.1"
	ProtocolHTTP2 = "h2"
)

// pool has the connection to the leader. Requests share it; streams, which HTTP/2 has no upgrade for, have their own.
type pool struct {
	// dials has an element for each connection that is made for a stream.
	dials chan struct{}

	mu     sync.Mutex
	newest *dialed
	closed bool
}

// dialed is a connection that is made, or about to be.
type dialed struct {
	leader uint64
	// done is closed after conn or err was set.
	done chan struct{}
	conn *http.ClientConn
	err  error
}

var errClosed = errors.New("this node forwards no more")

// conn returns a connection on which to send one request to a leader. An error means that nothing was sent.
func (p *pool) conn(ctx context.Context, leader *Leader, stream bool) (*http.ClientConn, error) {
	if stream {
		ctx, cancel := context.WithTimeout(ctx, dialWithin)
		defer cancel()
		select {
		case p.dials <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-p.dials }()
		return connect(ctx, leader, ProtocolHTTP1)
	}

	d, err := p.current(ctx, leader)
	if err != nil {
		return nil, err
	}
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current returns the connection to a leader, and makes it if there is none that can be used. It is made for all requests, also when
// the first of them leaves.
func (p *pool) current(ctx context.Context, leader *Leader) (*dialed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.newest != nil && p.newest.leader == leader.ID && p.newest.usable() {
		return p.newest, nil
	}

	// An earlier connection stays until its last answer has come: its node ends it.
	d := &dialed{leader: leader.ID, done: make(chan struct{})}
	p.newest = d
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialWithin)
		defer cancel()
		d.conn, d.err = connect(ctx, leader, ProtocolHTTP2)
		close(d.done)
	}()
	return d, nil
}

// usable reports whether a connection takes requests, or may once it is made.
func (d *dialed) usable() bool {
	select {
	case <-d.done:
		return d.err == nil && d.conn.Err() == nil && !d.spent()
	default:
		return true
	}
}

// spent reports whether a connection that is open takes no more requests: its node ends it behind the last answer, or it has had
// as many as HTTP/2 can number, some 2^30.
func (d *dialed) spent() bool { return d.conn.Available() == 0 && d.conn.InFlight() < fewest }

// close closes the newest connection, and makes no more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if d := p.newest; d != nil {
		go func() {
			if <-d.done; d.err == nil {
				_ = d.conn.Close()
			}
		}()
	}
}

// connect makes a connection of its own to a leader, for a protocol. It is never used a second time for a request that failed.
func connect(ctx context.Context, leader *Leader, protocol string) (*http.ClientConn, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(protocol == ProtocolHTTP1)
	protocols.SetHTTP2(protocol == ProtocolHTTP2)
	t := &http.Transport{
		Protocols: protocols, DisableCompression: true,
		HTTP2:          &http.HTTP2Config{MaxReceiveBufferPerStream: mostUnread, SendPingTimeout: askAfter, PingTimeout: goneAfter},
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return leader.Dial(ctx, protocol) },
	}
	return t.NewClientConn(ctx, "https", "node:443")
}
