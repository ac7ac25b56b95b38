package pinned

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// ErrPin means that the peer has another key.
var ErrPin = errors.New("the peer's key is not a pinned one")

// Pin returns the name of a certificate's public key: the SHA-256 of it, in hex.
func Pin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// TLS returns the configuration of either side: TLS 1.3, with a certificate of its own and the
// pins of the keys that a peer may have. Names and authorities have no meaning: only the key counts.
func TLS(certFile, keyFile string, pins ...string) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return Config(own, pins...)
}

// Config is TLS for a certificate in memory.
func Config(own tls.Certificate, pins ...string) (*tls.Config, error) {
	known := make([]string, len(pins))
	for i, pin := range pins {
		known[i] = strings.ToLower(pin) // as Pin names a key
		if b, err := hex.DecodeString(pin); err != nil || len(b) != sha256.Size {
			return nil, fmt.Errorf("a pin is 64 hex digits, and %q is not", pin)
		}
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the key with the pins
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !slices.Contains(known, Pin(s.PeerCertificates[0])) {
				return ErrPin
			}
			return nil
		},
		SessionTicketsDisabled: true,
	}, nil
}

// certified is the validity of a certificate. Peers compare its key alone.
const certified = 100 * 365 * 24 * time.Hour

// Certify makes a key and its certificate, both as PEM.
func Certify(now time.Time) (cert, key []byte, pin string, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bourse"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certified),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, nil, "", err
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, "", err
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, "", err
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), Pin(made), nil
}
