package forward_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestStreamsEndOnceAnotherLeads opens a stream to a leader that is cut off then and sends nothing more, not even an end.
// The stream ends once another node leads.
func TestStreamsEndOnceAnotherLeads(t *testing.T) {
	cut := make(chan struct{})
	defer close(cut)
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switched(t, w, r, func(net.Conn, *bufio.ReadWriter) { <-cut })
	}))
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	must(t, err)
	if n, err := c.Read(make([]byte, 1<<10)); n == 0 {
		t.Fatal(err)
	}

	p.leads.Add(1)
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
}
