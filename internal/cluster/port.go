package cluster

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// mostStrangers bounds the connections whose other end has not proved yet which node it is.
	mostStrangers = 32
	// readAhead is the size of a connection's read buffer, in bytes.
	readAhead = 64 << 10
)

// accept takes connections until the listener is closed.
func (t *Transport) accept(ctx context.Context, listener net.Listener) {
	var serving sync.WaitGroup
	defer serving.Wait()
	strangers := make(chan struct{}, mostStrangers)
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil {
				_ = conn.Close()
			}
			return
		case err != nil:
			t.Log.Warn("a connection to the node port was not taken", slog.Any("error", err))
			select {
			case <-ctx.Done():
			case <-t.After(firstAgain):
			}
			continue
		}

		select {
		case strangers <- struct{}{}:
			serving.Go(func() { t.serve(ctx, conn, func() { <-strangers }) })
		default:
			_ = conn.Close()
		}
	}
}

// serve reads a connection until it ends, or hands it to the server of requests if its protocol is that. known is called
// once the other end has proved which node it is, or the connection has ended before.
func (t *Transport) serve(ctx context.Context, tcp net.Conn, known func()) {
	plain := &watched{Conn: tcp, asking: &t.asking}
	stop := context.AfterFunc(ctx, func() { _ = plain.Close() })
	defer stop()
	conn := tls.Server(plain, t.portConfig())
	err := t.shake(ctx, conn)
	if err == nil && conn.ConnectionState().NegotiatedProtocol == protocolJoin {
		t.Welcome(ctx, conn)
		known()
		_ = plain.Close()
		return
	}
	if err == nil && conn.ConnectionState().NegotiatedProtocol != "" {
		known()
		t.admit(conn, plain)
		return
	}

	defer func() { _ = plain.Close() }()
	node := uint64(0)
	if err == nil {
		node, err = t.identify(conn)
	}
	known()
	if err != nil {
		t.Log.Debug("a connection to the node port is of no node", slog.Any("error", err))
		return
	}

	if err := t.hear(node, conn); ctx.Err() == nil {
		t.Log.Debug("a node's connection ended", slog.Uint64("node", node), slog.Any("error", err))
	}
}

// shake makes a connection's keys, and wants the other end to have one of a node. The other end's hello, too, has to come
// within helloWithin.
func (t *Transport) shake(ctx context.Context, conn *tls.Conn) error {
	if err := conn.SetDeadline(t.Clock().Add(helloWithin)); err != nil {
		return err
	}
	return conn.HandshakeContext(ctx)
}

// identify returns the node at the other end of a connection, known by its key, and checks its hello. An older program is
// answered, so that it says why it ends.
func (t *Transport) identify(conn *tls.Conn) (node uint64, err error) {
	theirs, err := readHello(conn)
	if err != nil {
		return 0, err
	}
	node = t.node(pinOf(conn))
	own := t.hello(node)
	if err := own.check(&theirs); err != nil {
		return 0, err
	}
	if _, err := conn.Write(own.bytes()); err != nil {
		return 0, err
	}
	if err := t.fits(&own, &theirs); err != nil {
		return 0, err
	}
	return node, conn.SetDeadline(time.Time{})
}

// hear hands a node's messages to Receive until one is malformed or refused, or the connection ends.
func (t *Transport) hear(node uint64, conn net.Conn) error {
	if !t.enter(node, conn) {
		return errStranger
	}
	defer t.leave(node, conn)
	r := bufio.NewReaderSize(conn, readAhead)
	for {
		m, err := readFrame(r)
		if err != nil {
			return err
		}
		if m.GetFrom() != node {
			return fmt.Errorf("%w: node %d says that it is node %d", errStranger, node, m.GetFrom())
		}
		if err := t.Receive(m); err != nil {
			return err
		}
	}
}

// enter notes the connection of a node, and closes its earlier one, which may be dead. It returns false
// if the node has left the cluster meanwhile.
func (t *Transport) enter(node uint64, conn net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links[node] == nil {
		return false
	}
	if old := t.heard[node]; old != nil {
		_ = old.Close()
	}
	t.heard[node] = conn
	return true
}

func (t *Transport) leave(node uint64, conn net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard[node] == conn {
		delete(t.heard, node)
	}
}
