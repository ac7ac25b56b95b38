package lane_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/lane"
)

// here means that this package serves a request, there that net/http does.
const here, there = true, false

// conversations are clients' inputs. Each must be answered as by net/http.
var conversations = []struct {
	name  string
	bytes string
	// where is the server of the last request.
	where bool
}{
	{"plain", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", here},
	{"many headers", "POST /spot/a HTTP/1.1\r\nhost: x:80\r\nACCEPT: */*\r\nuser-agent:\t a b \t\r\nX-Forwarded-For: 1\r\nx-forwarded-for: 2\r\nConnection: Keep-Alive\r\nContent-Length:2\r\n\r\n{}", here},
	{"empty body", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", here},
	{"length told", "POST /spot/a HTTP/1.1\r\nHost: x\r\nWant: length\r\nContent-Length: 0\r\n\r\n", here},
	{"status alone", "POST /spot/a HTTP/1.1\r\nHost: x\r\nWant: empty\r\nContent-Length: 0\r\n\r\n", here},
	{"no content", "POST /spot/a HTTP/1.1\r\nHost: x\r\nWant: nothing\r\nContent-Length: 0\r\n\r\n", here},
	{"panic", "POST /spot/a HTTP/1.1\r\nHost: x\r\nWant: panic\r\nContent-Length: 0\r\n\r\n", here},
	{"pipelined", strings.Repeat("POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 3), here},
	{"large body", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 20000), here},
	{"body breaks off", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{}", there},
	{"large body breaks off", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 10000), there},
	{"body too large", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000), there},
	{"plain, then not", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET /spot/a HTTP/1.1\r\nHost: x\r\n\r\n", there},
	{"other path", "POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"query", "POST /spot/a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"escaped path", "POST /spot/%61 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"whole URL", "POST http://y/spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"no length", "POST /spot/a HTTP/1.1\r\nHost: x\r\n\r\n", there},
	{"two lengths", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", there},
	{"equal lengths", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", there},
	{"length with sign", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}", there},
	{"length twice in one", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\n{}", there},
	{"empty length", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n{}", there},
	{"huge length", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n{}", there},
	{"chunked", "POST /spot/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", there},
	{"chunked and length", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", there},
	{"space before colon", "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length : 2\r\n\r\n{}", there},
	{"folded", "POST /spot/a HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\n{}", there},
	{"no colon", "POST /spot/a HTTP/1.1\r\nHost: x\r\nnothing\r\nContent-Length: 2\r\n\r\n{}", there},
	{"no name", "POST /spot/a HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: 2\r\n\r\n{}", there},
	{"control character", "POST /spot/a HTTP/1.1\r\nHost: x\r\nA: \x00\r\nContent-Length: 2\r\n\r\n{}", there},
	{"lone feed", "POST /spot/a HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}", there},
	{"feed in a value", "POST /spot/a HTTP/1.1\r\nHost: x\r\nA: b\nContent-Length: 9\r\nContent-Length: 2\r\n\r\n{}", there},
	{"no host", "POST /spot/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", there},
	{"empty host", "POST /spot/a HTTP/1.1\r\nHost:\r\nContent-Length: 2\r\n\r\n{}", there},
	{"two hosts", "POST /spot/a HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 2\r\n\r\n{}", there},
	{"two hosts, one empty", "POST /spot/a HTTP/1.1\r\nHost:\r\nHost: y\r\nContent-Length: 2\r\n\r\n{}", there},
	{"odd host", "POST /spot/a HTTP/1.1\r\nHost: a/b\r\nContent-Length: 2\r\n\r\n{}", there},
	{"close", "POST /spot/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", there},
	{"HTTP/1.0", "POST /spot/a HTTP/1.0\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"HTTP/1.2", "POST /spot/a HTTP/1.2\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"small letters", "post /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", there},
	{"expects", "POST /spot/a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", there},
	{"upgrade", "POST /spot/a HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}", there},
	{"many", "POST /spot/a HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 40) + "Content-Length: 2\r\n\r\n{}", there},
	{"long", "POST /spot/a HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("b", 9000) + "\r\nContent-Length: 2\r\n\r\n{}", there},
	{"part of a head", "POST /spot/a HTTP/1.1\r\nHo", there},
	{"nothing of HTTP", "\x16\x03\x01\x00\x05hello", there},
}

// TestSame compares this package's answers with those of net/http.
func TestSame(t *testing.T) {
	var last atomic.Bool
	seen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, flushes := w.(http.Flusher)
		last.Store(!flushes)
		echo(w, r)
	})
	lanes := listen(t)
	both := serve(lanes, seen)
	defer both.stop(t)
	alone := restServer(http.HandlerFunc(echo))
	listener := listen(t)
	defer func() { _ = alone.Close() }()
	go func() { _ = alone.Serve(listener) }()
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			last.Store(there)
			got := converse(t, lanes.Addr(), c.bytes)
			if last.Load() != c.where {
				t.Errorf("served here: %t, want %t", last.Load(), c.where)
			}
			if want := converse(t, listener.Addr(), c.bytes); got != want {
				t.Errorf("answered\n%s\nbut net/http\n%s", got, want)
			}
		})
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var date = regexp.MustCompile(`Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

// converse sends bytes and returns the answers with a fixed date.
func converse(t *testing.T, to net.Addr, bytes string) string {
	t.Helper()
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, bytes); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return date.ReplaceAllString(string(all), "Date: now\r\n")
}

// TestBare unwraps a connection that was handed over, unless bytes would be lost.
func TestBare(t *testing.T) {
	const upgrade = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"
	large := "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n" + strings.Repeat("x", 10_000)
	for sent, stays := range map[string]bool{
		upgrade: false,
		// The buffer grown for the large body holds more bytes than net/http reads at
		// once.
		large + upgrade + strings.Repeat("x", 20_000): true,
	} {
		bare := make(chan net.Conn, 1)
		p := newPipes()
		s := serve(p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				return
			}
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			bare <- c.(interface{ Bare() net.Conn }).Bare()
			_ = c.Close()
		}))
		c := p.dial()
		go func() { _, _ = io.WriteString(c, sent) }()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		if _, resumed := (<-bare).(*lane.Resumed); resumed != stays {
			t.Errorf("after %d bytes it stays in what handed it over: %t, want %t", len(sent), resumed, stays)
		}
		s.stop(t)
	}
}
