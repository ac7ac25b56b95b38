package standby

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// Reach asks the node for its Hello, and reports whether anything that holds the node's key, or
// speaks its protocol, answered, even if it refused or said nonsense. A connection that was taken
// and closed is no answer: a forwarder does that for a node that is gone.
func (p *Peer) Reach(ctx context.Context) (answered bool, err error) {
	var spoke atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The node proved its key. With TLS 1.3 its refusal of this node's certificate comes later, and
		// may be lost in the reset of the connection.
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				spoke.Store(true)
			}
		},
		GotFirstResponseByte: func() { spoke.Store(true) },
	})
	_, err = p.Hello(ctx)
	return err == nil || spoke.Load() || isRefusal(err), err
}

// isRefusal reports whether an error proves that the other end spoke: one end refused the other's
// certificate or its version of TLS, or the other end speaks no TLS.
func isRefusal(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	if errors.As(err, &verify) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) {
		return true
	}
	// Package tls returns the peer's alerts as an unexported type in such an operation, and those that
	// it sends itself in the other.
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
