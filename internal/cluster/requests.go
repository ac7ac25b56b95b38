package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// protocolNodes is the protocol of the nodes' own questions. Requests of clients that nodes pass on have other protocols,
	// so that no client asks one of these questions.
	protocolNodes = "bourse-nodes"
	// protocolJoin is that of a node that is to join: its key is no member's yet.
	protocolJoin = "bourse-join"
	// protocolStreams is that of streams, which have a connection each.
	protocolStreams = "http/1.1"
)

// protocols are those of TLS in which nodes send each other requests: HTTP/2, and HTTP/1.1 for streams, which
// upgrade, both for requests of clients, and protocolNodes.
var protocols = []string{"h2", protocolStreams, protocolNodes}

// streamBuffer bounds each of the kernel's two buffers between the nodes for a stream that its client does not read, in
// bytes. By themselves they grow to megabytes, which such a client would cost both nodes before the leader finds it slow.
const streamBuffer = 128 << 10

// mostAsking bounds the connections on which a node sends requests: one for all of them, and one for each stream.
const mostAsking = 1100

// requests is the listener of a node's connections on which others send requests.
type requests struct {
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

func newRequests() *requests { return &requests{next: make(chan net.Conn), done: make(chan struct{})} }

// Accept implements [net.Listener].
func (q *requests) Accept() (net.Conn, error) {
	select {
	case conn := <-q.next:
		return conn, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (q *requests) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr implements [net.Listener]. It is that of no port: the connections come from the node port.
func (q *requests) Addr() net.Addr { return &net.TCPAddr{} }

// watched is a connection to the node port. A close may come under the transport's mu.
type watched struct {
	net.Conn
	asking *askers
	// node is the one that sends requests on it; zero if none does. Guarded by asking's mu.
	node uint64
}

// Close closes the connection, and uncounts it.
func (w *watched) Close() error {
	err := w.Conn.Close()
	w.asking.remove(w)
	return err
}

// askers are the connections on which other nodes send requests, by node.
type askers struct {
	mu   sync.Mutex
	open map[uint64]map[*watched]struct{}
}

// add counts a connection of a node; false if it has too many.
func (a *askers) add(node uint64, conn *watched) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open[node]) >= mostAsking {
		return false
	}
	if a.open[node] == nil {
		a.open[node] = map[*watched]struct{}{}
	}
	a.open[node][conn], conn.node = struct{}{}, node
	return true
}

// remove uncounts a connection.
func (a *askers) remove(conn *watched) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.open[conn.node], conn); len(a.open[conn.node]) == 0 {
		delete(a.open, conn.node)
	}
}

// cut closes the connections of a node. Their server ends them.
func (a *askers) cut(node uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for conn := range a.open[node] {
		_ = conn.Conn.Close()
	}
}

// admit hands a connection to the server of requests, if the other end has room for one more and is a node still: one that left
// before it was counted is not cut.
func (t *Transport) admit(conn *tls.Conn, plain *watched) {
	to, hand := t.requests, net.Conn(conn)
	if conn.ConnectionState().NegotiatedProtocol == protocolNodes {
		to, hand = t.asked, struct{ net.Conn }{conn} // a server of HTTP/1.1 speaks no protocol of TLS that it does not know
	}
	if tcp, ok := plain.Conn.(*net.TCPConn); ok && conn.ConnectionState().NegotiatedProtocol == protocolStreams {
		_ = tcp.SetWriteBuffer(streamBuffer) // a hint: the leader's queue is bounded too
	}
	node := t.node(pinOf(conn))
	if node == 0 || !t.asking.add(node, plain) || t.node(pinOf(conn)) != node || conn.SetDeadline(time.Time{}) != nil {
		_ = plain.Close()
		return
	}

	select {
	case to.next <- hand:
	case <-to.done:
		_ = plain.Close()
	}
}

// Dial connects to a node for one of the protocols of requests.
func (t *Transport) Dial(ctx context.Context, node uint64, protocol string) (net.Conn, error) {
	t.mu.Lock()
	l := t.links[node]
	t.mu.Unlock()
	if l == nil {
		return nil, errStranger
	}
	config := l.config.Clone()
	config.NextProtos = []string{protocol}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", l.peer.Address)
	if err != nil {
		return nil, err
	}
	if got := conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; got != protocol {
		_ = conn.Close()
		return nil, fmt.Errorf("the node speaks %q, not %s: it is of an earlier version", got, protocol)
	}
	if tcp, ok := conn.(*tls.Conn).NetConn().(*net.TCPConn); ok && protocol == protocolStreams {
		_ = tcp.SetReadBuffer(streamBuffer) // as at the other end
	}
	return conn, nil
}

// Requests returns the listener of the connections on which other nodes send requests.
func (t *Transport) Requests() net.Listener { return t.requests }

// Requests returns the listener of the connections on which other nodes send requests. It must be served.
func (n *Node) Requests() net.Listener { return n.transport.Requests() }

// Dial connects to another node, on its node port, for one of the protocols of requests.
func (n *Node) Dial(ctx context.Context, node uint64, protocol string) (net.Conn, error) {
	return n.transport.Dial(ctx, node, protocol)
}
