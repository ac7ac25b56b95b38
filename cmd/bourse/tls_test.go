package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// certify writes a certificate with a serial number, and its key.
func certify(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
}

// certified returns the flags of an exchange with a certificate that is good for an hour.
func certified(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	certify(t, dir, 1)
	return []string{"--tls-cert=" + filepath.Join(dir, "cert.pem"), "--tls-key=" + filepath.Join(dir, "key.pem")}
}

// serial returns the serial number of the certificate that an address shows.
func serial(t *testing.T, address string) int64 {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestCertificate serves over TLS, and takes a new certificate on SIGHUP.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	certify(t, dir, 1)
	s := &server{t: t, data: t.TempDir(), args: []string{
		"--tls-cert=" + filepath.Join(dir, "cert.pem"), "--tls-key=" + filepath.Join(dir, "key.pem"),
	}}
	s.startAs("serve")
	t.Cleanup(s.kill)
	address := strings.TrimPrefix(s.url, "http://")
	if got := serial(t, address); got != 1 {
		t.Fatalf("certificate %d", got)
	}
	certify(t, dir, 2)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for serial(t, address) != 2 { // until the test's own deadline
	}
	if _, stderr, code := run(t, "serve", "--data", t.TempDir(), "--tls-cert", filepath.Join(dir, "cert.pem")); code != exitFailed || !strings.Contains(stderr, "--tls-key") {
		t.Errorf("half a pair: exit %d: %s", code, stderr)
	}
}
