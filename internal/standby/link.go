package standby

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
)

// Credentials are the files, PEM, that prove a node to another: the certificates of the operators'
// own authority, and the node's certificate and key. All or none: without them only a
// sandbox's nodes on one machine speak to each other.
type Credentials struct {
	CA, Cert, Key string
}

// ErrPlain says that a link without certificates would leave the machine, or carry real money's
// data.
var ErrPlain = errors.New("nodes need certificates (cluster-ca, cluster-cert, cluster-key), unless both are a sandbox's on this machine")

// Plain reports whether there are none.
func (c *Credentials) Plain() bool { return *c == Credentials{} }

// load returns the node's certificate, and the pool of the authority.
func (c *Credentials) load() (own tls.Certificate, ca *x509.CertPool, err error) {
	if c.CA == "" || c.Cert == "" || c.Key == "" {
		return own, nil, errors.New("cluster-ca, cluster-cert and cluster-key go together")
	}
	if own, err = tls.LoadX509KeyPair(c.Cert, c.Key); err != nil {
		return own, nil, err
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return own, nil, err
	}
	ca = x509.NewCertPool()
	if !ca.AppendCertsFromPEM(text) {
		return own, nil, fmt.Errorf("%s holds no certificate in PEM", c.CA)
	}
	return own, ca, nil
}

// Server returns the TLS configuration of a node port; nil for a plain one, which only a
// sandbox may have, and only on loopback.
func (c *Credentials) Server(address net.Addr, sandbox bool) (*tls.Config, error) {
	if c.Plain() {
		if !sandbox || !isLoopback(address.String()) {
			return nil, ErrPlain
		}
		return nil, nil
	}
	own, ca, err := c.load()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{own},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca,
	}, nil
}

// Client returns the TLS configuration to dial a node port with, whose certificate names the host
// of the address; nil for a plain one.
func (c *Credentials) Client(address string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no HOST:PORT: %w", address, err)
	}
	if c.Plain() {
		if !isLoopback(address) {
			return nil, ErrPlain
		}
		return nil, nil
	}
	own, ca, err := c.load()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{own},
		RootCAs: ca, ServerName: host,
	}, nil
}

func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}
