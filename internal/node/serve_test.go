package node

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// openLog opens a log on files.
func openLog(d disk.Disk, o journal.Options) (journal.Log, *journal.Recovery, error) {
	return filelog.Open(d, o)
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// assembled returns an exchange that does not serve yet.
func assembled(t *testing.T, o Options) *Node {
	t.Helper()
	o.Data, o.Sandbox, o.SegmentSize, o.Log = t.TempDir(), sandbox.New(sandbox.Options{}), 256<<10, slog.New(slog.DiscardHandler)
	o.Networks = o.Sandbox.Attachments()
	o.OpenLog, o.Serving = openLog, func(string, string) {}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := assemble(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.stopLine()
		n.running.Wait()
		_ = n.close()
	})
	return n
}

// TestNothingIsLeftOpen has the exchange fail to serve, and wants it to leave neither
// its address nor its socket taken.
func TestNothingIsLeftOpen(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()

	for name, fail := range map[string]func(t *testing.T, n *Node) context.Context{
		"no traders": func(t *testing.T, n *Node) context.Context {
			n.Sandbox.Bots = true
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx
		},
		"no metrics": func(t *testing.T, n *Node) context.Context {
			n.MetricsListen = taken.Addr().String()
			return t.Context()
		},
		"no bots": func(t *testing.T, n *Node) context.Context {
			n.BinanceListen = taken.Addr().String()
			return t.Context()
		},
		"no socket": func(t *testing.T, n *Node) context.Context {
			if err := os.MkdirAll(filepath.Join(n.Data, "admin.sock", "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			return t.Context()
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := assembled(t, Options{Listen: freeAddress(t)})
			if err := n.serve(fail(t, n)); err == nil {
				t.Fatal("it served")
			}
			again, err := new(net.ListenConfig).Listen(t.Context(), "tcp", n.Listen)
			if err != nil {
				t.Fatalf("its address is still taken: %v", err)
			}
			_ = again.Close()
			if is, err := os.Lstat(filepath.Join(n.Data, "admin.sock")); err == nil && is.Mode().Type() == fs.ModeSocket {
				t.Error("its socket is left")
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	}
}

// TestMetricsHaveADoorOfTheirOwn wants the main listener to know no metrics, and their own one nothing else; and
// the interface of Binance's bots below its prefix there, and from the root of its own one alone.
func TestMetricsHaveADoorOfTheirOwn(t *testing.T) {
	metrics, bots, world := freeAddress(t), freeAddress(t), sandbox.New(sandbox.Options{})
	serving, ended := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ended <- Run(ctx, Options{
			Data: t.TempDir(), OpenLog: openLog, Listen: "127.0.0.1:0", BinanceListen: bots, MetricsListen: metrics, Sandbox: world, Networks: world.Attachments(), SegmentSize: 256 << 10,
			Log: slog.New(slog.DiscardHandler), Serving: func(address, _ string) { serving <- address },
		})
	}()
	var address string
	select {
	case address = <-serving:
	case err := <-ended:
		t.Fatal(err)
	}

	for at, want := range map[string]int{
		"http://" + address + "/metrics": 404, "http://" + address + "/debug/pprof/": 404, "http://" + address + "/healthz": 200,
		"http://" + metrics + "/metrics": 200, "http://" + metrics + "/debug/pprof/": 200, "http://" + metrics + "/healthz": 404,
		"http://" + address + "/binance/api/v3/ping": 200, "http://" + address + "/api/v3/ping": 404,
		"http://" + bots + "/api/v3/ping": 200, "http://" + bots + "/binance/api/v3/ping": 404, "http://" + bots + "/healthz": 404,
		"http://" + bots + "/spot/time": 404, "http://" + bots + "/api/v3/../v3/ping": 404,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = got.Body.Close(); got.StatusCode != want {
			t.Errorf("%s: %d, want %d", at, got.StatusCode, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDocumentationComesLater asks for the documentation while it is rendered: the request waits for it, and
// ends with its client.
func TestDocumentationComesLater(t *testing.T) {
	n := assembled(t, Options{})
	n.rest = n.newREST()
	docs := n.documentation()
	gone, leave := context.WithCancel(t.Context())
	leave()
	docs.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/docs", nil))

	answer := httptest.NewRecorder()
	docs.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", nil))
	if answer.Code != http.StatusOK || answer.Body.Len() == 0 {
		t.Errorf("the documentation: %d, %d bytes", answer.Code, answer.Body.Len())
	}
}
