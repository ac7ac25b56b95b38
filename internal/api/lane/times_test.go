package lane_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

const order = "POST /spot/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"

// ask sends a request and reads the answer.
func ask(t *testing.T, c net.Conn, request string) {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	readAnswer(t, c)
}

func readAnswer(t *testing.T, c net.Conn) (status int, last bool) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	return r.StatusCode, r.Close
}

// closedAfter checks that the server closes a connection this long from now.
func closedAfter(t *testing.T, c net.Conn, want time.Duration) {
	t.Helper()
	began := time.Now()
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("read %d bytes and %v, want the end", n, err)
	}
	if took := time.Since(began); took != want {
		t.Errorf("closed after %s, want %s", took, want)
	}
}

// served serves in-memory connections in a synctest bubble, then stops.
func served(t *testing.T, handler http.HandlerFunc, visit func(t *testing.T, p *pipes, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		s := serve(p, handler)
		visit(t, p, s)
		s.stop(t)
	})
}

func TestSilence(t *testing.T) {
	served(t, echo, func(t *testing.T, p *pipes, _ *server) {
		closedAfter(t, p.dial(), 5*time.Second)
		c := p.dial()
		ask(t, c, order)
		closedAfter(t, c, time.Minute)
	})
}

// TestAccept checks that Serve continues after a failed Accept.
func TestAccept(t *testing.T) {
	served(t, echo, func(t *testing.T, p *pipes, _ *server) {
		p.conns <- nil
		c := p.dial()
		ask(t, c, order)
		closedAfter(t, c, time.Minute)
	})
}

// TestSlowBody checks that a late body goes to net/http, with its own timeout.
func TestSlowBody(t *testing.T) {
	var failed error
	read := func(_ http.ResponseWriter, r *http.Request) { _, failed = io.ReadAll(r.Body) }
	served(t, read, func(t *testing.T, p *pipes, _ *server) {
		c := p.dial()
		began := time.Now()
		ask(t, c, order[:len(order)-1])
		if took := time.Since(began); took != 17*time.Second || failed == nil {
			t.Errorf("answered after %s, and the handler read %v", took, failed)
		}
		_ = c.Close()
	})
}

// TestBodyInPieces sends a body in pieces, then another request.
func TestBodyInPieces(t *testing.T) {
	served(t, echo, func(t *testing.T, p *pipes, _ *server) {
		c := p.dial()
		for range 2 {
			if _, err := io.WriteString(c, order[:len(order)-1]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Millisecond)
			ask(t, c, "}")
		}
		closedAfter(t, c, time.Minute)
	})
}

// TestNobodyReads checks that a client that does not read its answer is cut.
func TestNobodyReads(t *testing.T) {
	served(t, echo, func(t *testing.T, p *pipes, _ *server) {
		c := p.dial()
		if _, err := io.WriteString(c, order); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		closedAfter(t, c, 0)
	})
}

// TestSharedBodyIsNotCopied sends a shared body: a client that does not read it costs no
// memory and is cut.
func TestSharedBodyIsNotCopied(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	share := func(w http.ResponseWriter, _ *http.Request) {
		w.(interface{ WriteShared(p []byte) }).WriteShared(body)
	}
	served(t, http.HandlerFunc(share), func(t *testing.T, p *pipes, _ *server) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := p.dial()
		if _, err := io.WriteString(c, order); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReaderSize(c, 64<<10), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		part := make([]byte, 64<<10)
		for at := 0; at < len(body); at += len(part) {
			if _, err := io.ReadFull(r.Body, part); err != nil || !bytes.Equal(part, body[at:at+len(part)]) {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
		runtime.ReadMemStats(&after)
		if r.ContentLength != int64(len(body)) || after.TotalAlloc-before.TotalAlloc > uint64(len(body))/2 {
			t.Errorf("%d bytes took %d", r.ContentLength, after.TotalAlloc-before.TotalAlloc)
		}
		ask(t, c, order)
		if _, err := io.WriteString(c, order); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		closedAfter(t, c, 0)
	})
}

// TestPatience checks that requests of one second end together, none late.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		took := make(chan time.Duration, 2)
		s := serve(p, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			began := time.Now()
			<-r.Context().Done()
			took <- time.Since(began)
		}))
		for range 2 {
			go func() { _, _ = io.WriteString(p.dial(), order) }()
			time.Sleep(500 * time.Millisecond)
		}
		// Both end at the same moment, in any order.
		if sum := <-took + <-took; sum != 19500*time.Millisecond {
			t.Errorf("the two took %s together, want 10 and 9.5 s", sum)
		}
		_ = s.Close()
		_ = s.rest.Close()
		s.wait(t)
	})
}

// TestShutdown checks that silent connections close at once and requests are answered.
func TestShutdown(t *testing.T) {
	late := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Second)
		echo(w, r)
	}
	served(t, late, func(t *testing.T, p *pipes, s *server) {
		silent, busy := p.dial(), p.dial()
		if _, err := io.WriteString(busy, order+order); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a shutdown that is too short: %v", err)
		}
		closedAfter(t, silent, 0)
		if status, last := readAnswer(t, busy); status != http.StatusOK || !last {
			t.Errorf("answered %d, close %t", status, last)
		}
		closedAfter(t, busy, 0) // the second request gets no answer
	})
}
