package node

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
)

func TestRoom(t *testing.T) {
	for files, want := range map[uint64]int{0: 0, 100: 50, 1024: 768, 1 << 20: 1<<20 - 256, 1<<64 - 1: 1 << 30} {
		if got := room(files); got != want {
			t.Errorf("%d files leave %d connections, want %d", files, got, want)
		}
	}
}

// TestConnectionsAreBounded wants a connection too many to be closed, also when
// others have become streams, and room again when one has gone.
func TestConnectionsAreBounded(t *testing.T) {
	streams := 0
	c := &guests{most: 3, streams: func() int { return streams }, log: slog.New(slog.DiscardHandler)}
	come := func(welcome bool) {
		t.Helper()
		ours, theirs := net.Pipe()
		defer func() { _ = ours.Close() }()
		c.state(ours, http.StateNew)
		go func() { _, _ = ours.Write([]byte{1}) }()
		if _, err := theirs.Read(make([]byte, 1)); (err == nil) != welcome {
			t.Errorf("welcome %v: %v", welcome, err)
		}
	}
	come(true)
	come(true)
	c.state(nil, http.StateHijacked)
	streams++
	come(true)
	come(false)
	c.state(nil, http.StateClosed) // the one that was turned away
	come(false)
	c.state(nil, http.StateClosed)
	c.state(nil, http.StateClosed)
	come(true)
}
