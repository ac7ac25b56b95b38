package stream

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/gobwas/ws"
)

// unwatched returns a connection without a writer.
func unwatched(raw net.Conn) *Conn {
	s := NewServer(Options{Feed: feed.New(), View: view.New(), Clock: time.Now})
	s.writers = newWriters(0)
	return newConn(s, raw, netip.Addr{}, own)
}

// TestOneWriteForAllThatIsQueued writes to a socket that preserves write boundaries.
func TestOneWriteForAllThatIsQueued(t *testing.T) {
	at := &net.UnixAddr{Net: "unixpacket", Name: filepath.Join(t.TempDir(), "s")}
	listener, err := net.ListenUnix(at.Net, at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	theirs, err := net.DialUnix(at.Net, nil, at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = theirs.Close() }()
	ours, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	c, p := unwatched(ours), newPen()
	for _, queued := range []string{"a", "abc"} {
		for _, m := range queued {
			c.subscriber.Push([]byte(string(m)))
		}
		if !p.visit(c) || p.visit(c) {
			t.Error("not one visit wrote all")
		}
		got := make([]byte, 16)
		if n, err := theirs.Read(got); err != nil || string(got[:n]) != queued {
			t.Errorf("the first write was %q, %v, want %q", got[:n], err, queued)
		}
	}
	if waiting := len(c.server.writers.waiting); waiting != 2 {
		t.Errorf("writers were asked for %d times", waiting)
	}
}

// patient is a connection without a raw socket, like an encrypted one.
type patient struct {
	net.Conn

	until time.Time
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.until = t
	return p.Conn.SetWriteDeadline(t)
}

// TestRestOfAMessage continues a partly sent message, whose rest looks like a close frame
// and is none.
func TestRestOfAMessage(t *testing.T) {
	ours, theirs := net.Pipe()
	p := &patient{Conn: ours}
	c := unwatched(p)
	c.subscriber.Push([]byte("queued"))
	var got bytes.Buffer
	var work sync.WaitGroup
	work.Go(func() { _, _ = io.Copy(&got, theirs) })
	c.flush([][]byte{[]byte("gone8left ")}, len("gone"))
	if !p.until.IsZero() {
		t.Error("the next write has a deadline already")
	}
	_ = ours.Close()
	work.Wait()
	if want := "8left queued"; got.String() != want {
		t.Errorf("sent %q, want %q", got.String(), want)
	}
}

// TestEncryptedConnections checks that writers leave encrypted connections to flush.
func TestEncryptedConnections(t *testing.T) {
	ours, theirs := net.Pipe()
	c := newConn(NewServer(Options{Feed: feed.New(), View: view.New(), Clock: time.Now}), &patient{Conn: ours}, netip.Addr{}, own)
	for _, m := range []string{"first", "later"} {
		c.subscriber.Push([]byte(m))
		got := make([]byte, len(m))
		if _, err := io.ReadFull(theirs, got); err != nil || string(got) != m {
			t.Errorf("got %q, %v, want %q", got, err, m)
		}
	}
	_ = ours.Close()
	_ = theirs.Close()
}

// metered is a connection without a raw socket that records its writes.
type metered struct {
	net.Conn

	deadlines int
	most      int
}

func (m *metered) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() {
		m.deadlines++
	}
	return m.Conn.SetWriteDeadline(t)
}

func (m *metered) Write(b []byte) (int, error) {
	m.most = max(m.most, len(b))
	return m.Conn.Write(b)
}

// TestLongMessagesHaveTime sends a message of a mebibyte: each part of it has the time of a
// chunk. It is sent whole even if the client is cut meanwhile, and the close frame follows.
func TestLongMessagesHaveTime(t *testing.T) {
	ours, theirs := net.Pipe()
	m := &metered{Conn: ours}
	c := unwatched(m)
	long := bytes.Repeat([]byte{0x81}, 1<<20)
	var work sync.WaitGroup
	work.Go(func() { c.flush([][]byte{long, []byte("dropped")}, 0) })
	got := make([]byte, 1<<20)
	if _, err := io.ReadFull(theirs, got[:100]); err != nil {
		t.Fatal(err)
	}
	c.endSlow()
	if _, err := io.ReadFull(theirs, got[100:]); err != nil || !bytes.Equal(got, long) {
		t.Fatalf("the message did not come: %v", err)
	}
	rest, err := io.ReadAll(theirs)
	if err != nil || len(rest) == 0 || !isClose(rest) {
		t.Errorf("behind the message came %q, %v", rest, err)
	}
	work.Wait()
	if m.most > writeChunk || m.deadlines < 1<<20/writeChunk {
		t.Errorf("%d bytes were written at once, with %d deadlines", m.most, m.deadlines)
	}
}

// TestAccessEndsWithinAMessage wants a client without access any more to get no further chunk of
// a long message, however fast it reads.
func TestAccessEndsWithinAMessage(t *testing.T) {
	ours, theirs := net.Pipe()
	c := unwatched(ours)
	var work sync.WaitGroup
	work.Go(func() { c.flush([][]byte{bytes.Repeat([]byte{0x81}, 1<<20)}, 0) })
	if _, err := io.ReadFull(theirs, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	c.end(ws.StatusPolicyViolation, "key revoked", true)
	if rest, err := io.ReadAll(theirs); err != nil || len(rest) > writeChunk {
		t.Errorf("%d more bytes came, %v", len(rest), err)
	}
	work.Wait()
}
