package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/pinned"
)

// TestSocketModes checks that other users reach the exchange's socket under the usual umask, which takes
// writing from them, and that the operators' socket is their own.
func TestSocketModes(t *testing.T) {
	dir, err := os.MkdirTemp("", "bourse-signer-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, want := range map[string]fs.FileMode{"exchange": 0o666, "operators": 0o600} {
		path := filepath.Join(dir, name)
		for range 2 { // the second takes the place of a stale one
			l, err := listenUnix(t.Context(), path, want)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v; want %v", name, info.Mode(), err, want)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUserID reads ids and names of users.
func TestUserID(t *testing.T) {
	for text, want := range map[string]userID{"0": 0, "root": 0, "4294967294": 4294967294} {
		var id userID
		if err := id.UnmarshalText([]byte(text)); err != nil || id != want {
			t.Errorf("%s is %d, %v; want %d", text, id, err, want)
		}
	}
	for _, text := range []string{"", "-1", "4294967296", "nobody at all"} {
		var id userID
		if err := id.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is user %d", text, id)
		}
	}
}

// TestPinsOfMachines lets the machines of an exchange reach the signer by TLS, each with a key of its own, and nobody else.
func TestPinsOfMachines(t *testing.T) {
	if _, err := (&runCmd{Listen: "127.0.0.1:0"}).listen(t.Context()); err == nil || !strings.Contains(err.Error(), "--pin") {
		t.Errorf("without a pin: %v", err)
	}
	type key struct{ cert, key, pin string }
	certified := func() (k key) {
		t.Helper()
		cert, private, pin, err := pinned.Certify(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		k = key{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), pin}
		if err := errors.Join(os.WriteFile(k.cert, cert, 0o600), os.WriteFile(k.key, private, 0o600)); err != nil {
			t.Fatal(err)
		}
		return k
	}
	own, one, two, stranger := certified(), certified(), certified(), certified()
	l, err := (&runCmd{Listen: "127.0.0.1:0", Cert: own.cert, Key: own.key, Pins: []string{one.pin, strings.ToUpper(two.pin)}}).listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()

	for name, c := range map[string]struct {
		key  key
		want bool
	}{"the first": {one, true}, "the second": {two, true}, "a stranger": {stranger, false}} {
		config, err := pinned.TLS(c.key.cert, c.key.key, own.pin)
		if err != nil {
			t.Fatal(err)
		}
		taken := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				err = errors.Join(conn.(*tls.Conn).Handshake(), conn.Close())
			}
			taken <- err
		}()
		conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		if err := <-taken; (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
