package standby_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// authority signs nodes' certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes a certificate and its key. The first one is the authority's own.
func (a *authority) sign(name string, c *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	if c.NotBefore = time.Now().Add(-2 * time.Hour); c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	must(a.t, err)
	if a.cert == nil {
		a.cert, err = x509.ParseCertificate(der)
		a.key = key
		must(a.t, err)
	}

	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	for ext, block := range map[string]*pem.Block{
		".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		must(a.t, os.WriteFile(filepath.Join(a.dir, name+ext), pem.EncodeToMemory(block), 0o600))
	}
}

// node makes a certificate of a node on loopback, changed if change is not nil, whose holder trusts
// another authority if trusts is not nil.
func (a *authority) node(name string, change func(*x509.Certificate), trusts *authority) standby.Credentials {
	a.t.Helper()
	c := &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(c)
	}
	a.sign(name, c)
	if trusts == nil {
		trusts = a
	}
	return standby.Credentials{
		CA: filepath.Join(trusts.dir, "ca.pem"), Cert: filepath.Join(a.dir, name+".pem"), Key: filepath.Join(a.dir, name+".key"),
	}
}

// nodePort serves a source's node port with credentials, and returns its address.
func nodePort(t *testing.T, c standby.Credentials) string {
	t.Helper()
	s := newSource(t, 1, nil)
	port := httptest.NewUnstartedServer(s.Handler())
	port.Config.ErrorLog = log.New(io.Discard, "", 0)
	config, err := c.Server(port.Listener.Addr(), true)
	must(t, err)
	if port.TLS = config; config == nil {
		port.Start()
	} else {
		port.StartTLS()
	}
	t.Cleanup(port.Close)
	return port.Listener.Addr().String()
}

// TestPromoteBesideSource refuses to promote while the source is there, whoever refuses whose
// certificate, over real TLS, and goes on once nothing of it is.
func TestPromoteBesideSource(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	late := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	elsewhere := func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} }
	noClient := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	source, plain := ours.node("source", nil, nil), standby.Credentials{}
	for name, c := range map[string]struct{ source, own standby.Credentials }{
		"both are taken":                    {source, ours.node("own", nil, nil)},
		"it refuses our authority":          {source, others.node("stranger", nil, ours)},
		"it refuses our certificate's age":  {source, ours.node("late", late, nil)},
		"it refuses our certificate's use":  {source, ours.node("server", noClient, nil)},
		"we refuse its authority":           {source, ours.node("wary", nil, others)},
		"both refuse":                       {source, others.node("other", nil, nil)},
		"we refuse its certificate's age":   {ours.node("old", late, nil), ours.node("own", nil, nil)},
		"we refuse its certificate's names": {ours.node("far", elsewhere, nil), ours.node("own", nil, nil)},
		"it wants certificates":             {source, plain},
		"it has no certificate":             {plain, ours.node("own", nil, nil)},
		"both are plain":                    {plain, plain},
	} {
		for range 5 { // a refusal may be lost in the reset that follows it
			if err := promote(t, nodePort(t, c.source), c.own); !errors.Is(err, standby.ErrAnswers) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPromoteAlone promotes once nothing speaks at the source's address: nothing listens there, or
// a forwarder takes connections and closes them.
func TestPromoteAlone(t *testing.T) {
	ours := newAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	for _, own := range []standby.Credentials{{}, ours.node("own", nil, nil)} {
		if err := promote(t, l.Addr().String(), own); err == nil || errors.Is(err, standby.ErrAnswers) {
			t.Errorf("beside a forwarder: %v", err)
		}
	}
	must(t, l.Close())
	if err := promote(t, l.Addr().String(), standby.Credentials{}); err == nil || errors.Is(err, standby.ErrAnswers) {
		t.Errorf("with nothing there: %v", err)
	}
}

// promote promotes an empty copy of what is at an address.
func promote(t *testing.T, address string, own standby.Credentials) error {
	t.Helper()
	dir := t.TempDir()
	d, err := disk.OpenExisting(dir)
	must(t, err)
	must(t, standby.Role{Follows: address}.Write(d))
	must(t, d.Close())
	_, err = standby.Promote(t.Context(), standby.PromoteOptions{Dir: dir, Credentials: own, Gone: true})
	return err
}
