package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// Options name the source of the certificate: files, an ACME authority, or none.
type Options struct {
	// Cert and Key are PEM files; both or none.
	Cert, Key string
	// ACME configures an authority, instead of files.
	ACME ACME
}

// Encrypted reports whether clients speak TLS with the exchange itself.
func (o *Options) Encrypted() bool { return o.Cert != "" || o.ACME.Domain != "" }

// ACME configures how an exchange gets the certificate of its name from an authority: by
// RFC 8555, with the challenge of RFC 8737, for which the authority connects to port 443
// of the name and must reach the exchange.
type ACME struct {
	// Domain is the name in the certificate; empty for a certificate from files, or none.
	Domain string
	// Directory is the URL of the authority's ACME directory.
	Directory string
	// Roots is a PEM file of CA certificates that verify the authority's own certificate;
	// empty for the system's.
	Roots string
}

const (
	// renewalLook is the time between two requests to the manager for the certificate,
	// which it renews when a third of its life is left, at most 30 days.
	renewalLook = time.Hour
	// The time between two attempts doubles from firstRetry to lastRetry: an authority
	// takes only a few failures of a name an hour.
	firstRetry = 2 * time.Minute
	lastRetry  = 2 * time.Hour
	// failureKept is the time for which the manager answers with a failed order's error
	// instead of asking the authority.
	failureKept = time.Minute
)

// errNoCertificate fails handshakes until there is a certificate.
var errNoCertificate = errors.New("there is no certificate yet")

// File returns the PEM file with a name's certificate and key from an authority, for an
// exchange with its data in dir.
func File(dir, domain string) string {
	return filepath.Join(dir, "certificates", domain)
}

// Source holds the current certificate. Safe for concurrent use.
type Source struct {
	Options
	log *slog.Logger
	// current is nil until there is a certificate.
	current atomic.Pointer[tls.Certificate]
	// authority is nil for a certificate from files, ask gets one from it, and now makes
	// Run ask at once.
	authority *autocert.Manager
	ask       func(context.Context) (*tls.Certificate, error)
	now       chan struct{}
}

// Open reads the certificate from files, or prepares the authority's manager, which keeps
// certificates in the data directory. It makes no request.
func Open(o Options, data string, log *slog.Logger) (*Source, error) {
	s := &Source{Options: o, log: log}
	switch {
	case o.Cert != "":
		return s, s.load()
	case o.ACME.Domain == "":
		return s, nil
	}

	client, err := o.ACME.client()
	if err != nil {
		return nil, err
	}
	s.authority = &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(o.ACME.Domain), Client: client,
		Cache: autocert.DirCache(filepath.Dir(File(data, o.ACME.Domain))),
	}
	s.ask, s.now = s.askAuthority, make(chan struct{}, 1)
	return s, nil
}

// Config returns the TLS configuration of the listener.
func (s *Source) Config() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: s.handshake}
	if s.authority != nil {
		config.NextProtos = append(config.NextProtos, acme.ALPNProto)
	}
	return config
}

// client returns a client of the authority.
func (a *ACME) client() (*acme.Client, error) {
	client := &acme.Client{DirectoryURL: a.Directory, UserAgent: "bourse"}
	if a.Roots == "" {
		return client, nil
	}

	pem, err := os.ReadFile(a.Roots)
	if err != nil {
		return nil, fmt.Errorf("roots of the authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("roots of the authority: %s holds no certificate in PEM", a.Roots)
	}
	client.HTTPClient = &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}}
	return client, nil
}

// handshake returns the certificate for a client. Strangers begin handshakes with any
// name as often as they like, so that none but the authority's challenge reaches the
// manager.
func (s *Source) handshake(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if s.authority != nil && hello.ServerName == s.ACME.Domain &&
		slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return s.authority.GetCertificate(hello) // the authority's challenge
	}
	if c := s.current.Load(); c != nil {
		return c, nil
	}
	return nil, errNoCertificate
}

// Reload reads the files again, or has Run ask the authority.
func (s *Source) Reload() {
	switch {
	case s.ask != nil:
		select {
		case s.now <- struct{}{}:
		default: // Run has yet to follow the last call
		}
	case s.Cert != "":
		if err := s.load(); err != nil {
			s.log.Error("the certificate stays as it is", slog.Any("error", err))
		}
	}
}

// load reads the certificate from its files.
func (s *Source) load() error {
	c, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	s.current.Store(&c)
	return nil
}

// Left returns how long the certificate is good for; zero if there is none.
func (s *Source) Left() time.Duration {
	c := s.current.Load()
	if c == nil {
		return 0
	}
	return time.Until(c.Leaf.NotAfter)
}

// Run gets the certificate from the authority, follows its renewals and retries failures,
// until ctx ends. Reload makes it ask at once, after a failure once the manager has
// forgotten it. Without an authority Run returns at once.
func (s *Source) Run(ctx context.Context) error {
	if s.ask == nil {
		return nil
	}

	retry := firstRetry
	for ctx.Err() == nil {
		next, forgotten := renewalLook, time.After(0)
		c, err := s.ask(ctx)
		switch {
		case err == nil:
			s.show(c)
			retry = firstRetry
		case ctx.Err() == nil:
			forgotten = time.After(failureKept)
			s.log.Error("no certificate from the authority; port 443 of the domain must reach this exchange",
				slog.String("domain", s.ACME.Domain), slog.Any("error", err), slog.Duration("again_in", retry))
			next, retry = retry, min(2*retry, lastRetry)
		}

		select {
		case <-ctx.Done():
		case <-s.now:
			select {
			case <-ctx.Done():
			case <-forgotten:
			}
		case <-time.After(next):
		}
	}
	return nil
}

// show serves a certificate from the authority to clients from now on.
func (s *Source) show(c *tls.Certificate) {
	if was := s.current.Swap(c); was == nil || !was.Leaf.Equal(c.Leaf) {
		s.log.Info("certificate", slog.String("domain", s.ACME.Domain), slog.Time("ends", c.Leaf.NotAfter))
	}
}

// askAuthority returns the manager's certificate, which may order a new one. It ends with
// ctx.
func (s *Source) askAuthority(ctx context.Context) (*tls.Certificate, error) {
	type answer struct {
		certificate *tls.Certificate
		err         error
	}
	answers := make(chan answer, 1)
	go func() {
		c, err := s.authority.GetCertificate(&tls.ClientHelloInfo{
			ServerName:       s.ACME.Domain,
			SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
			SupportedCurves:  []tls.CurveID{tls.CurveP256},
			CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		})
		answers <- answer{c, err}
	}()

	select {
	case a := <-answers:
		return a.certificate, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
