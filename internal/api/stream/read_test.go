package stream

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// FuzzReader reads arbitrary bytes as frames: messages are bounded UTF-8, and the close
// code is one that may be sent.
func FuzzReader(f *testing.F) {
	add := func(frames ...ws.Frame) {
		var b []byte
		for _, fr := range frames {
			b = append(b, ws.MustCompileFrame(ws.MaskFrameWith(fr, [4]byte{1, 2, 3, 4}))...)
		}
		f.Add(b)
	}
	add(ws.NewTextFrame([]byte(`{"op":"ping","id":1}`)), ws.NewPingFrame([]byte("x")), ws.NewCloseFrame(nil))
	add(ws.NewFrame(ws.OpText, false, []byte("a\xe2")), ws.NewPongFrame(nil), ws.NewFrame(ws.OpContinuation, true, []byte("\x82\xac")))
	add(ws.NewTextFrame(bytes.Repeat([]byte("x"), maxMessage)), ws.NewCloseFrame(ws.NewCloseFrameBody(4000, "bye")))
	add(ws.NewBinaryFrame([]byte("x")))
	f.Add([]byte{0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4})
	server := NewServer(Options{Feed: feed.New(), View: view.New(), Clock: time.Now})
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := net.Pipe()
		_ = theirs.Close()
		defer func() { _ = ours.Close() }()
		r := reader{conn: newConn(server, ours, netip.Addr{}, own), early: in}
		for {
			message, err := r.next()
			if err != nil {
				checkEnd(t, err)
				return
			}
			if len(message) > maxMessage || !utf8.Valid(message) {
				t.Fatalf("%d bytes: %q", len(message), message)
			}
		}
	})
}

func checkEnd(t *testing.T, err error) {
	t.Helper()
	var e *CloseError
	if !errors.As(err, &e) || e.Code == ws.StatusNoStatusRcvd {
		return
	}
	if err := ws.CheckCloseFrameData(e.Code, e.Reason); err != nil || len(e.Reason) > 123 {
		t.Errorf("it ends with %d %q: %v", e.Code, e.Reason, err)
	}
}

// TestFrames frames messages of each length encoding.
func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 1<<16 - 1, 1 << 16, 100_000} {
		text := bytes.Repeat([]byte("x"), n)
		got := Frame(append(make([]byte, HeaderRoom), text...))
		if want := ws.MustCompileFrame(ws.NewTextFrame(text)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: begins %x, want %x", n, got[:min(len(got), 12)], want[:min(len(want), 12)])
		}
	}
}

// TestChunks checks that every message is in one chunk, and that chunks have at most
// writeChunk bytes.
func TestChunks(t *testing.T) {
	list := [][]byte{make([]byte, 1), make([]byte, writeChunk-1), make([]byte, 1), make([]byte, 2*writeChunk), nil}
	for _, want := range []int{2, 1, 1, 1} {
		n := chunk(list)
		if n != want {
			t.Fatalf("a chunk of %d messages, want %d", n, want)
		}
		list = list[n:]
	}
}
