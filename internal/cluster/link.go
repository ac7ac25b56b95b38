package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"go.etcd.io/raft/v3/raftpb"
)

const (
	// mostQueued bounds the queued messages to a node, mostQueuedBytes their size: twice the bytes that
	// raft sends to a node ahead of its answers.
	mostQueued      = 4096
	mostQueuedBytes = 32 << 20
	// mostWritten is the size of a write, in bytes, after which no further message joins it.
	mostWritten = 1 << 20
	// helloWithin bounds dialing, the handshake and the hello; writeWithin a write, after which the
	// other end counts as gone.
	helloWithin = 2 * time.Second
	writeWithin = 2 * time.Second
	// firstAgain and lastAgain bound the wait before a node is dialed again.
	firstAgain = 20 * time.Millisecond
	lastAgain  = 500 * time.Millisecond
	// mostRefusals is the number of refusals, those of 10 s, after which a node is believed that this one is no
	// member. Before, it may not have heard of a newcomer.
	mostRefusals = 20
)

// link carries this node's messages to another one.
type link struct {
	*Transport
	peer   Peer
	config *tls.Config
	wake   chan struct{}
	// end ends run, if it has begun. Guarded by the transport's mu.
	end context.CancelFunc

	mu sync.Mutex
	// up is true while there is a connection: without one messages are dropped.
	up bool
	// known are the versions that the peer's program said to know at the last connection.
	known Versions
	queue []*raftpb.Message
	bytes int
	// refusals is the number of times that the peer has refused this node's key, since there was a connection.
	refusals int
}

func newLink(t *Transport, p Peer, config *tls.Config) *link {
	return &link{Transport: t, peer: p, config: config, wake: make(chan struct{}, 1)}
}

// add queues a message. It drops the message if there is no connection or no room.
func (l *link) add(m *raftpb.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := sizeOf(m)
	if !l.up || len(l.queue) >= mostQueued || l.bytes+size > mostQueuedBytes {
		return
	}
	l.queue, l.bytes = append(l.queue, m), l.bytes+size
	select {
	case l.wake <- struct{}{}:
	default: // the writer knows
	}
}

// take empties the queue, and returns its messages.
func (l *link) take() []*raftpb.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.queue
	l.queue, l.bytes = nil, 0
	return list
}

// set notes whether there is a connection, and drops the queue.
func (l *link) set(up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up, l.queue, l.bytes = up, nil, 0
	if up {
		l.refusals = 0
	}
}

// connected reports whether there is a connection.
func (l *link) connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}

// refuse counts a refusal, and warns of the one from which on the peer is believed.
func (l *link) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals++
	if l.refusals == mostRefusals {
		l.Log.Warn("another node says that this one is no member of the cluster: it left, was replaced, or the other one went on alone",
			slog.Uint64("node", l.peer.Node))
	}
}

// refuses reports whether the peer is believed that this node is no member.
func (l *link) refuses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusals >= mostRefusals
}

// run keeps a connection until ctx ends.
func (l *link) run(ctx context.Context) {
	for wait := firstAgain; ctx.Err() == nil; {
		conn, err := l.dial(ctx)
		if err == nil {
			wait = firstAgain
			l.Log.Debug("connected to a node", slog.Uint64("node", l.peer.Node))
			l.set(true)
			err = l.pump(ctx, conn)
			l.set(false)
			_ = conn.Close() // the error that counts is that of pump
		}
		if ctx.Err() == nil {
			l.Log.Debug("no connection to a node", slog.Uint64("node", l.peer.Node), slog.Any("error", err))
		}

		select {
		case <-ctx.Done():
		case <-l.After(wait):
			wait = min(2*wait, lastAgain)
		}
	}
}

// dial connects to the peer, and checks its key and its hello.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	d := tls.Dialer{Config: l.config}
	conn, err := d.DialContext(ctx, "tcp", l.peer.Address)
	if err != nil {
		return nil, err
	}
	if err := l.greet(conn); err != nil {
		_ = conn.Close()
		// The peer has proved its key, so that the alert is its own: it takes no connection of this node's key.
		if refused(err) {
			l.refuse()
		}
		return nil, err
	}
	return conn, nil
}

// greet says hello and reads the answer. A peer that refuses this node's key closes the connection behind its alert,
// which is read also if the hello could not be written any more.
func (l *link) greet(conn net.Conn) error {
	if err := conn.SetDeadline(l.Clock().Add(helloWithin)); err != nil {
		return err
	}
	own := l.hello(l.peer.Node)
	_, failed := conn.Write(own.bytes())
	theirs, err := readHello(conn)
	if err := errors.Join(err, failed); err != nil {
		return err // that of the read first, which refused finds
	}
	if err := own.check(&theirs); err != nil {
		return err
	}
	if err := l.fits(&own, &theirs); err != nil {
		return err
	}
	l.mu.Lock()
	l.known = theirs.known
	l.mu.Unlock()
	return conn.SetDeadline(time.Time{})
}

// refused reports whether an error of greet is an alert.
func refused(err error) bool {
	alert := (*net.OpError)(nil)
	return errors.As(err, &alert) && alert.Op == "remote error"
}

// pump writes the messages that are queued until the connection breaks or ctx ends.
func (l *link) pump(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var buf []byte
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
		list := l.take()
		for len(list) > 0 {
			var err error
			if buf, list, err = pack(buf[:0], list); err != nil {
				return err
			}
			if err := conn.SetWriteDeadline(l.Clock().Add(writeWithin)); err != nil {
				return err
			}
			if _, err := conn.Write(buf); err != nil {
				return err
			}
		}
	}
}

// pack appends the frames of the first messages of a list, and returns the others.
func pack(b []byte, list []*raftpb.Message) ([]byte, []*raftpb.Message, error) {
	for len(list) > 0 && len(b) < mostWritten {
		for _, m := range split(list[0]) {
			var err error
			if b, err = appendFrame(b, m); err != nil {
				return b, list, err
			}
		}
		list = list[1:]
	}
	return b, list, nil
}
