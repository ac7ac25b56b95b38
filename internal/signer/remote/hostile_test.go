package remote_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// dial connects with the exchange's credentials.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := tls.Dial("tcp", r.address.TCP, r.address.TLS)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	return c
}

func frame(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

const goodHello = `{"n":1,"hello":{"exchange":"09000000000000000000000000000000","sandbox":true,"incarnation":1,"term":1,"networks":[]}}`

// answered reads one frame.
func answered(t *testing.T, c net.Conn) string {
	t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGarbage sends what is no request, before and after hello: the connection ends without an
// answer, and others go on.
func TestGarbage(t *testing.T) {
	r := newRig(t)
	honest := r.client(r.of(1, 1))
	if _, _, err := honest.After(t.Context(), btc, 0); err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string][]byte{
		"empty frame":     frame(""),
		"oversized":       binary.BigEndian.AppendUint32(nil, remote.MaxFrame+1),
		"huge":            {0xff, 0xff, 0xff, 0xff, '{'},
		"no JSON":         frame("signed"),
		"no object":       frame(`[]`),
		"null":            frame(`null`),
		"no request":      frame(`{"n":2}`),
		"two requests":    frame(`{"n":2,"signed":{"network":"BTC","after":0},"void":{"network":"BTC","id":1}}`),
		"unknown member":  frame(`{"n":2,"signed":{"network":"BTC","after":0,"all":true}}`),
		"a member twice":  frame(`{"n":2,"void":{"network":"BTC","id":1},"void":{"network":"BTC","id":2}}`),
		"trailing bytes":  frame(`{"n":2,"signed":{"network":"BTC","after":0}} {}`),
		"bad UTF-8":       frame("{\"n\":2,\"signed\":{\"network\":\"\xff\",\"after\":0}}"),
		"negative amount": frame(`{"n":2,"sign":{"network":"BTC","kind":1,"coin":"BTC","amount":"-1","address":"","cost_cap":"0","raw":""}}`),
		"for operators":   frame(`{"n":2,"status":{}}`),
		"an approval":     frame(`{"n":2,"approve":{}}`),
		"hello again":     frame(goodHello),
		"look after all":  frame(`{"n":2,"look":{}}`),
		"look and hello":  frame(`{"look":{},` + goodHello[1:]),
		"HTTP":            []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		for _, greeted := range []bool{false, true} {
			if !greeted && (name == "hello again" || name == "look after all") {
				continue
			}
			c := r.dial()
			if greeted {
				if _, err := c.Write(frame(goodHello)); err != nil {
					t.Fatal(err)
				}
				answered(t, c)
			}
			_, _ = c.Write(bytes) // it may have been closed already
			if n, err := io.Copy(io.Discard, c); n > 0 {
				t.Errorf("%s, greeted %t: %d bytes are answered, %v", name, greeted, n, err)
			}
		}
	}
	c, err := net.Dial("unix", r.operators)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(frame(goodHello)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, c); n > 0 || err != nil {
		t.Errorf("operators' socket answers an exchange: %d, %v", n, err)
	}
	if _, _, err := honest.After(t.Context(), btc, 0); err != nil {
		t.Error(err)
	}
}

// TestSlowPeers stop in the middle of a frame, or say nothing: their connections end, and
// meanwhile others are answered.
func TestSlowPeers(t *testing.T) {
	r := newRig(t)
	honest := r.client(r.of(1, 1))
	if _, _, err := honest.After(t.Context(), btc, 0); err != nil {
		t.Fatal(err)
	}
	r.end()
	r.server = func() time.Time { return time.Now().Add(-4 * time.Second) } // 1 s is left of 5
	r.listen()
	for _, part := range []string{"", "\x00", "\x00\x00\x00\x10{", string(frame(goodHello)) + "\x00\x00"} {
		c := r.dial()
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c)
		if err != nil || strings.Count(string(text), "greeting") != strings.Count(part, "hello") {
			t.Errorf("%q: %q, %v", part, text, err)
		}
	}
}

// TestManyConnections holds more connections open than there is room for, with and without hello: the
// oldest of them are closed, and the exchange is answered at its first try.
func TestManyConnections(t *testing.T) {
	r := newRig(t)
	first := r.client(r.of(1, 1))
	asks := func(c *remote.Client, wants error) {
		t.Helper()
		if _, _, err := c.After(t.Context(), btc, 0); !errors.Is(err, wants) {
			t.Errorf("got %v, want %v", err, wants)
		}
	}
	asks(first, nil)
	var open []net.Conn
	for range 300 {
		c, err := net.Dial("tcp", r.address.TCP)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		open = append(open, c)
	}
	asks(r.client(r.of(1, 1)), nil)
	for _, c := range open[:40] {
		if n, err := io.Copy(io.Discard, c); n > 0 {
			t.Errorf("a connection too many gets %d bytes, %v", n, err)
		}
	}
	for range 40 {
		r.dial() // with the exchange's key, and without hello
	}
	asks(first, nil)
	asks(r.client(r.of(1, 1)), nil)

	for range 16 {
		c := r.dial()
		if _, err := c.Write(frame(goodHello)); err != nil {
			t.Fatal(err)
		}
		answered(t, c)
	}
	asks(first, remote.ErrAway) // it was displaced, and comes back
	asks(r.client(r.of(1, 1)), nil)
	promoted := r.client(r.of(1, 2))
	asks(promoted, nil)
	for range 20 {
		asks(r.client(r.of(1, 1)), signer.ErrEpoch)
	}
	asks(promoted, nil)
}

// listener is a listener that fails before some connections.
type listener struct {
	net.Listener
	fails []error
}

func (l *listener) Accept() (net.Conn, error) {
	if len(l.fails) == 0 {
		return l.Listener.Accept()
	}
	err := l.fails[0]
	l.fails = l.fails[1:]
	return nil, err
}

// TestNoFileLeft goes on after errors of the listener, such as that the process has no file left.
func TestNoFileLeft(t *testing.T) {
	r := newRig(t)
	plain, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &remote.Server{Local: r.local, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.ServeOperators(ctx, &listener{plain, []error{syscall.EMFILE, syscall.ECONNABORTED}})
	}()
	operators := &remote.Operators{Socket: plain.Addr().String(), Now: time.Now}
	if _, err := operators.Status(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFewWarnings ends many connections in a short time: the log has a line of strangers, and one of the
// exchange's connections.
func TestFewWarnings(t *testing.T) {
	r := newRig(t)
	r.end()
	at := time.Now().Add(time.Hour)
	r.server = func() time.Time { return at }
	r.listen()
	for range 20 {
		c, err := net.Dial("tcp", r.address.TCP)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
		known := r.dial()
		_, _ = known.Write(frame("{}"))
		_, _ = io.Copy(io.Discard, known)
	}
	r.end()
	if lines := strings.Count(r.log.String(), "\n"); lines != 2 {
		t.Errorf("%d lines:\n%s", lines, r.log.String())
	}
	r.listen()
}

// TestStrangersKeys connects with other keys and without: neither side talks to a stranger.
func TestStrangersKeys(t *testing.T) {
	r := newRig(t)
	stranger := r.certify()
	own, err := tls.LoadX509KeyPair(stranger.cert, stranger.key)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*tls.Config){
		"another key": func(c *tls.Config) { c.Certificates = []tls.Certificate{own} },
		"no key":      func(c *tls.Config) { c.Certificates = nil },
		"TLS 1.2":     func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"another signer": func(c *tls.Config) {
			other, err := pinned.TLS(stranger.cert, stranger.key, stranger.pin)
			if err != nil {
				t.Fatal(err)
			}
			c.VerifyConnection = other.VerifyConnection
		},
	} {
		o := r.of(1, 1)
		o.Address.TLS = r.address.TLS.Clone()
		change(o.Address.TLS)
		if _, _, err := r.client(o).After(t.Context(), btc, 0); !errors.Is(err, remote.ErrAway) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, pin := range []string{"", "00", strings.Repeat("z", 64)} {
		if _, err := pinned.TLS(stranger.cert, stranger.key, pin); err == nil {
			t.Errorf("pin %q is taken", pin)
		}
	}
}

// TestLostAnswers loses the answer to each request: the record tells what was signed, and the
// same request gets the same transaction.
func TestLostAnswers(t *testing.T) {
	r := newRig(t)
	u, e := r.payment(btc, 1, 100)
	lossy := r.of(1, 1)
	lossy.Address = r.lossy(2) // hello is answered
	if _, err := r.client(lossy).Sign(t.Context(), u, e); !errors.Is(err, remote.ErrAway) {
		t.Fatalf("without an answer: %v", err)
	}
	own := r.client(r.of(1, 1))
	_, list, err := own.After(t.Context(), btc, 0)
	if err != nil || len(list) != 1 || list[0].ID != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	again, err := own.Sign(t.Context(), u, e)
	if err != nil || again.Hash != list[0].Hash || again.Record != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}

// lossy is a signer that ends a connection in place of its answer with this number.
func (r *rig) lossy(number int) remote.Address {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	own := r.certify()
	config, err := pinned.TLS(own.cert, own.key, own.pin)
	if err != nil {
		r.t.Fatal(err)
	}
	config.VerifyConnection = nil
	far := r.dial()
	go func() {
		near, err := tls.NewListener(l, config).Accept()
		if err != nil {
			return
		}
		defer func() { _ = near.Close() }()
		go func() { _, _ = io.Copy(far, near) }()
		for n := 1; ; n++ {
			var head [4]byte
			if _, err := io.ReadFull(far, head[:]); err != nil || n == number {
				return
			}
			_, _ = near.Write(head[:])
			if _, err := io.CopyN(near, far, int64(binary.BigEndian.Uint32(head[:]))); err != nil {
				return
			}
		}
	}()
	address := r.address
	address.TLS = r.address.TLS.Clone()
	address.TLS.VerifyConnection = nil
	address.TCP = l.Addr().String()
	return address
}

// TestLongRecord tells a record in as many answers as its size takes.
func TestLongRecord(t *testing.T) {
	r := newRig(t)
	n := r.networks[btc-10]
	n.Limit = signer.Unlimited
	r.networks[btc-10] = n
	c := r.client(r.of(1, 1))
	size := 0
	for xid := bourse.WalletID(1); xid <= 130; xid++ {
		_, e := r.payment(btc, xid, 100)
		p := chain.Payment{Kind: e.Kind, Coin: e.Coin, Amount: e.Amount, To: e.To, CostCap: e.CostCap, Inputs: r.outputs(btc)}
		u, err := r.clients[btc].Prepare(t.Context(), &p)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := c.Sign(t.Context(), u, e)
		if err != nil {
			t.Fatal(err)
		}
		size += len(signed.Raw)
	}
	if size < 2*remote.MaxFrame {
		t.Fatalf("%d bytes fit into a few frames", size)
	}
	_, first, err := c.After(t.Context(), btc, 0)
	if err != nil || len(first) != signer.MaxRecorded {
		t.Fatalf("%d, %v", len(first), err)
	}
	chained, rest, err := c.After(t.Context(), btc, first[99].Record)
	if err != nil || len(rest) != 30 || chained != first[99].Chain {
		t.Errorf("%d, %x, %v", len(rest), chained, err)
	}
	if _, _, err := c.After(t.Context(), btc, 131); !errors.Is(err, signer.ErrUnrecorded) {
		t.Error(err)
	}
}
