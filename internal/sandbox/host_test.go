package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// hosting serves a Host of networks without block times, and returns its socket.
func hosting(t *testing.T, dir string) (socket string, stop func()) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := disk.Open(filepath.Join(dir, signer.Dir))
	must(err)
	keys, err := Keys(d)
	must(errors.Join(err, d.Close()))
	h, err := OpenHost(&HostOptions{
		Dir: filepath.Join(dir, networksDir), Signer: keys, Clock: func() bourse.Time { return 1_700_000_000_000_000 },
	})
	must(err)
	socket = filepath.Join(dir, "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	must(err)
	s := &http.Server{Handler: h.Handler()}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return socket, func() {
		must(s.Close())
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		must(h.Close())
	}
}

// shut takes the place of a network's directory.
var shut = io.NopCloser(nil)

// TestHost uses each control of a network in another process, and a client's request. The network is there
// again with another host in the directory, and refusals have their codes.
func TestHost(t *testing.T) {
	dir := t.TempDir()
	socket, stop := hosting(t, dir)
	n := newOutside(socket, "BTC", shut)
	defer func() { _ = n.Close() }()
	head, err := n.Mine(3)
	if now, again := n.Head(); err != nil || again != nil || now != head || head.Height < 3 {
		t.Fatalf("three blocks lead to %+v, %v, and the head is %+v, %v", head, err, now, again)
	}
	to, err := n.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	pay := chain.Pay{To: chain.Destination{Address: to}, Coin: "BTC", Amount: bourse.Units(5_000)}
	if hash, err := n.Send(pay); err != nil || hash == (chain.Hash{}) {
		t.Fatalf("a payment: %v", err)
	}
	if _, err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	if has, err := n.Balance(to, "BTC"); err != nil || has != pay.Amount {
		t.Errorf("%v arrived, %v", has, err)
	}

	refused := new(bourse.Error)
	if _, err := n.Mine(0); !errors.As(err, &refused) || refused.Code != bourse.CodeInvalid {
		t.Errorf("no block: %v", err)
	}
	if _, err := newOutside(socket, "XYZ", shut).Head(); !errors.As(err, &refused) || refused.Code != bourse.CodeUnavailable {
		t.Errorf("a network that is not there: %v", err)
	}
	if at, err := n.Reorg(1, false); err != nil || at.Height <= head.Height {
		t.Errorf("a reorganisation leads to %+v, %v", at, err)
	}
	n.answers(t, true)
	if err := errors.Join(n.Lag(2), n.Lag(0), n.Stop(true)); err != nil {
		t.Fatal(err)
	}
	n.answers(t, false)
	if err := n.Stop(false); err != nil {
		t.Fatal(err)
	}
	n.answers(t, true)

	last, err := n.Head()
	stop()
	if _, gone := n.Head(); err != nil || gone == nil {
		t.Errorf("a host that is gone answers: %v", err)
	}
	socket, stop = hosting(t, dir)
	defer stop()
	if now, err := newOutside(socket, "BTC", shut).Head(); err != nil || now != last {
		t.Errorf("the head was %+v and is %+v, %v", last, now, err)
	}
}

// TestHostEndsInAControl ends a host that may have carried a control out: its outcome is unknown. One that is
// gone before has carried none out.
func TestHostEndsInAControl(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = http.ReadRequest(bufio.NewReader(conn))
			err = errors.Join(err, conn.Close())
		}
		taken <- err
	}()
	n := newOutside(socket, "BTC", shut)
	_, unknown := n.Send(chain.Pay{})
	if err := errors.Join(<-taken, l.Close()); err != nil {
		t.Fatal(err)
	}
	_, gone := n.Send(chain.Pay{})
	for code, err := range map[bourse.Code]error{bourse.CodeUnknown: unknown, bourse.CodeUnavailable: gone} {
		if known := (*bourse.Error)(nil); !errors.As(err, &known) || known.Code != code {
			t.Errorf("want code %d: %v", code, err)
		}
	}
}

// answers wants a client's request to be answered, or not to be.
func (o *outside) answers(t *testing.T, want bool) {
	t.Helper()
	var seed [32]byte
	p := devnet.Lookup(o.network)
	c := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), o, devnet.ClientOptions{
		Clock: func() bourse.Time { return 1_700_000_000_000_000 },
	})
	if _, err := c.Health(context.Background()); (err == nil) != want {
		t.Errorf("a request is answered: %v", err)
	}
}
