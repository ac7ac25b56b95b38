package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// listeners are the open listeners of an exchange; bots, desk, metrics and nodes are nil without
// an address of their own.
type listeners struct{ public, bots, desk, socket, metrics, nodes net.Listener }

// openListeners opens all listeners, or none.
func (n *Node) openListeners(ctx context.Context) (l *listeners, err error) {
	l = new(listeners)
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()

	if l.public, err = n.listen(ctx, n.Listen); err != nil {
		return l, err
	}
	if n.BinanceListen != "" {
		if l.bots, err = n.listen(ctx, n.BinanceListen); err != nil {
			return l, fmt.Errorf("binance: %w", err)
		}
	}
	if n.AdminListen != "" {
		if l.desk, err = n.listenDesk(ctx); err != nil {
			return l, fmt.Errorf("operators: %w", err)
		}
	}
	if l.socket, err = admin.Listen(ctx, n.Data); err != nil {
		return l, fmt.Errorf("admin socket: %w", err)
	}
	if n.MetricsListen != "" {
		if l.metrics, err = new(net.ListenConfig).Listen(ctx, "tcp", n.MetricsListen); err != nil {
			return l, fmt.Errorf("metrics: %w", err)
		}
	}
	if n.Cluster.Listen != "" {
		if l.nodes, err = n.listenToNodes(ctx); err != nil {
			return l, fmt.Errorf("node port: %w", err)
		}
	}
	return l, nil
}

// close closes the listeners that are open.
func (l *listeners) close() error {
	var errs []error
	for _, one := range []net.Listener{l.nodes, l.metrics, l.socket, l.desk, l.bots, l.public} {
		if one != nil {
			errs = append(errs, one.Close())
		}
	}
	return errors.Join(errs...)
}

// listen opens a listener of the public interfaces.
func (n *Node) listen(ctx context.Context, address string) (net.Listener, error) {
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}

	if !n.certificate.Encrypted() {
		return bounded{tcp}, nil
	}
	return tls.NewListener(bounded{tcp}, n.certificate.Config()), nil
}

// sendBuffer bounds the kernel's buffer for answers that the client does not read, in
// bytes.
const sendBuffer = 128 << 10

// bounded is a listener whose connections have small buffers.
type bounded struct{ net.Listener }

// Accept waits for a connection.
func (b bounded) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // a hint: unread answers end anyhow
	}
	return c, err
}

func (n *Node) scheme() string {
	if n.certificate.Encrypted() {
		return "https://"
	}
	return "http://"
}
