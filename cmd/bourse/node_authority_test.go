package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// nodeAuthority is the operators' own, with certificates by the names of nodes.
type nodeAuthority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newNodeAuthority(t *testing.T) *nodeAuthority {
	t.Helper()
	a := &nodeAuthority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	return a
}

// sign writes a certificate and its key; parent is nil for the authority's own.
func (a *nodeAuthority) sign(name string, c *x509.Certificate, parent *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(a.t, err)
	c.SerialNumber, c.NotBefore, c.NotAfter = serial, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	c.Subject = pkix.Name{CommonName: name}
	signer := a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	must(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	write(a.t, filepath.Join(a.dir, name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(a.t, filepath.Join(a.dir, name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	made, err := x509.ParseCertificate(der)
	must(a.t, err)
	return made, key
}

// node makes a node's certificate and returns its flags.
func (a *nodeAuthority) node(name string) []string {
	a.t.Helper()
	a.sign(name, &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, a.cert)
	return []string{
		"--cluster-ca=" + filepath.Join(a.dir, "ca.pem"), "--cluster-cert=" + filepath.Join(a.dir, name+".pem"),
		"--cluster-key=" + filepath.Join(a.dir, name+".key"),
	}
}

// client returns an HTTP client with a node's certificate.
func (a *nodeAuthority) client(name string) *http.Client {
	a.t.Helper()
	own, err := tls.LoadX509KeyPair(filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key"))
	must(a.t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: pool}, DisableCompression: true,
	}}
}
