package admin_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// TestSocketStaysInTheDataDirectory checks that the socket is in the data directory even
// if its path is too long for one, with access for the owner alone, and never in a shared
// directory.
func TestSocketStaysInTheDataDirectory(t *testing.T) {
	for name, deep := range map[string]int{"short": 0, "long": 10} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), strings.Repeat(strings.Repeat("x", 40)+"/", deep))
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", t.TempDir())
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			serveAt(t, data)
			for _, shared := range []string{os.Getenv("TMPDIR"), os.Getenv("XDG_RUNTIME_DIR")} {
				if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
					t.Errorf("%s holds %v, %v", shared, left, err)
				}
			}
		})
	}
}

// TestNobodyElsesFiles opens sockets while another goroutine makes directories, which
// must keep their modes.
func TestNobodyElsesFiles(t *testing.T) {
	data, others := t.TempDir(), t.TempDir()
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			dir := filepath.Join(others, fmt.Sprint(i))
			err := os.Mkdir(dir, 0o700)
			if is, missing := os.Stat(dir); err == nil && missing == nil && is.Mode().Perm() != 0o700 {
				err = fmt.Errorf("%s: %v", dir, is.Mode())
			}
			if err != nil {
				<-stop
				stopped <- err
				return
			}
		}
	}()
	for range 300 {
		l, err := admin.Listen(t.Context(), data)
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// serveAt calls a verb of an exchange on a data directory twice.
func serveAt(t *testing.T, data string) {
	t.Helper()
	socket := filepath.Join(data, "admin.sock")
	for range 2 {
		l, err := admin.Listen(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		is, err := os.Lstat(socket)
		if err != nil || is.Mode() != fs.ModeSocket|0o600 {
			t.Fatalf("%v %v", is, err)
		}

		s := &http.Server{
			ConnContext: admin.Peer,
			Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(`"` + r.URL.Path + `"`)) }),
		}
		ended := make(chan error)
		go func() { ended <- s.Serve(l) }()
		if got, err := admin.Call(t.Context(), data, "balances", struct{}{}); err != nil || string(got) != `"/balances"` {
			t.Errorf("%s %v", got, err)
		}
		_ = s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
	}
	if _, err := admin.Call(t.Context(), data, "balances", struct{}{}); err == nil || !strings.Contains(err.Error(), "no exchange is running") {
		t.Errorf("nobody listens: %v", err)
	}
}
