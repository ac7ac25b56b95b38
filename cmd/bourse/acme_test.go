package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// acmeDomain is the name that the authority gives certificates for.
const acmeDomain = "exchange.example.org"

// authority is a running Pebble, which says of every name that it is 127.0.0.1.
type authority struct {
	t         *testing.T
	directory string
	// trusted is a PEM file with the certificate of its own HTTPS listener.
	trusted string
	// roots are the CA certificates that sign the certificates it issues.
	roots *x509.CertPool
	stop  func()
}

// pebble builds Pebble and its name server beside the program.
var pebble = sync.OnceValue(func() error {
	const module = "github.com/letsencrypt/pebble/v2/cmd/"
	build := exec.Command("go", "build", "-o", built, module+"pebble", module+"pebble-challtestsrv")
	build.Dir = filepath.Join("..", "..", "tools")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// newAuthority starts an authority whose certificates are good for some seconds, and
// which sees the domain at an address.
func newAuthority(t *testing.T, seconds int, address string) *authority {
	t.Helper()
	must(t, pebble())
	dir := t.TempDir()
	certify(t, dir, 1)
	listen, manage, names := freeAddress(t), freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": manage, "tlsPort": json.Number(port),
		"certificate": filepath.Join(dir, "cert.pem"), "privateKey": filepath.Join(dir, "key.pem"),
		"keyAlgorithm": "ecdsa", "profiles": map[string]any{"default": map[string]any{"description": "the only one", "validityPeriod": seconds}},
	}})
	must(t, err)
	write(t, filepath.Join(dir, "config.json"), string(config))

	dns := exec.Command(filepath.Join(built, "pebble-challtestsrv"), "-dns01", names, "-management", freeAddress(t),
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "")
	ca := exec.Command(filepath.Join(built, "pebble"), "-config", filepath.Join(dir, "config.json"), "-dnsserver", names)
	ca.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	var stops []func()
	for _, c := range []*exec.Cmd{dns, ca} {
		must(t, c.Start())
		stops = append(stops, sync.OnceFunc(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		}))
		t.Cleanup(stops[len(stops)-1])
	}

	a := &authority{t: t, directory: "https://" + listen + "/dir", trusted: filepath.Join(dir, "cert.pem"), roots: x509.NewCertPool()}
	a.stop = func() {
		for _, stop := range stops {
			stop()
		}
	}
	own := x509.NewCertPool()
	trusted, err := os.ReadFile(a.trusted)
	must(t, err)
	own.AppendCertsFromPEM(trusted)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own}}}
	within(t, patience, "an authority that answers", func() bool {
		r, err := client.Get("https://" + manage + "/roots/0")
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }()
		root, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || !a.roots.AppendCertsFromPEM(root) {
			return false
		}
		r, err = client.Get(a.directory)
		if err != nil {
			return false
		}
		return r.Body.Close() == nil
	})
	return a
}

// certified returns an exchange at an address that gets its certificate from an
// authority.
func (a *authority) certified(address string) *server {
	return &server{t: a.t, data: filepath.Join(a.t.TempDir(), "data"), args: []string{
		"--listen", address, "--tls-domain", acmeDomain, "--acme-directory", a.directory, "--acme-roots", a.trusted,
	}}
}

// shown returns the certificate that a client is shown who asks for the domain and
// trusts the authority.
func (a *authority) shown(address string) (*x509.Certificate, error) {
	c, err := tls.Dial("tcp", address, &tls.Config{ServerName: acmeDomain, RootCAs: a.roots})
	if err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], c.Close()
}

// eventually returns the certificate that a client is shown, as soon as there is one
// that is not the one before.
func (a *authority) eventually(address string, before *x509.Certificate) (now *x509.Certificate) {
	a.t.Helper()
	within(a.t, patience, "a certificate", func() bool {
		var err error
		now, err = a.shown(address)
		return err == nil && !now.Equal(before)
	})
	return now
}

// TestACME wants an exchange to get the certificate of its domain from an authority, to
// serve with it, and to show it again after a restart while the authority is away.
func TestACME(t *testing.T) {
	address := freeAddress(t)
	a := newAuthority(t, 90*24*3600, address)
	s := a.certified(address)
	t.Cleanup(func() { s.kill() })
	s.startAs("serve")
	first := a.eventually(address, nil)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{ServerName: acmeDomain, RootCAs: a.roots},
	}}
	r, err := client.Get("https://" + address + "/healthz")
	must(t, err)
	must(t, r.Body.Close())
	if r.StatusCode != http.StatusOK {
		t.Errorf("healthz: %s", r.Status)
	}
	if info, err := os.Stat(filepath.Join(s.data, "certificates", acmeDomain)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key can be read by others: %v %v", info.Mode(), err)
	}

	a.stop()
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	s.startAs("serve")
	if again := a.eventually(address, nil); !again.Equal(first) {
		t.Error("after a restart another certificate is shown")
	}
}

// TestRenewal wants a renewed certificate to be shown without a restart.
func TestRenewal(t *testing.T) {
	address := freeAddress(t)
	a := newAuthority(t, 9, address) // renewed when a third of that is left
	s := a.certified(address)
	t.Cleanup(func() { s.kill() })
	s.startAs("serve")
	first := a.eventually(address, nil)
	within(t, patience, "a renewed certificate", func() bool {
		must(t, s.cmd.Process.Signal(syscall.SIGHUP))
		now, err := a.shown(address)
		return err == nil && !now.Equal(first)
	})
	a.stop()
}

// TestStrangersCauseNoOrders wants handshakes, whatever name they ask for and whether
// they look like a challenge, to send nothing to the authority: it takes only some
// failures in an hour, and strangers could use them up.
func TestStrangersCauseNoOrders(t *testing.T) {
	var asked atomic.Int64
	ca := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer ca.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	write(t, trusted, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate().Raw})))
	address := freeAddress(t)
	a := &authority{t: t, directory: ca.URL, trusted: trusted}
	s := a.certified(address)
	t.Cleanup(func() { s.kill() })
	s.startAs("serve")
	within(t, patience, "a first attempt", func() bool { return asked.Load() > 0 })

	for _, protocol := range []string{"http/1.1", "acme-tls/1"} {
		for _, name := range []string{acmeDomain, "www." + acmeDomain, "other.example.com", ""} {
			for range 20 {
				c, err := tls.Dial("tcp", address, &tls.Config{ServerName: name, NextProtos: []string{protocol}, InsecureSkipVerify: true})
				if err == nil {
					_ = c.Close()
					t.Fatalf("%q was shown a certificate", name)
				}
			}
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the authority was asked %d times", n)
	}
	s.kill()
	<-s.logged
	if !strings.Contains(s.log.String(), "port 443 of the domain must reach this exchange") {
		t.Errorf("the log does not say what to do:\n%s", s.log)
	}
}

// TestDomainAlone wants a domain with files beside it, and what is no domain, refused.
func TestDomainAlone(t *testing.T) {
	for _, flags := range [][]string{
		{"--tls-domain=localhost"}, {"--tls-domain=https://a.example.org"},
		{"--tls-domain=a.example.org", "--tls-cert=c", "--tls-key=k"},
	} {
		_, stderr, code := run(t, append([]string{"serve", "--data", t.TempDir()}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "--tls-domain takes") {
			t.Errorf("%v: exit %d: %s", flags, code, stderr)
		}
	}
	empty := filepath.Join(t.TempDir(), "roots.pem")
	write(t, empty, "nothing")
	_, stderr, code := run(t, "serve", "--data", t.TempDir(), "--tls-domain=a.example.org", "--acme-roots", empty)
	if code != exitFailed || !strings.Contains(stderr, "holds no certificate") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
