package conformance

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gobwas/ws"
)

// place is the position of an answer or message in a run: the HTTP answer of an index, on
// connection 0, or the message of an index on a WebSocket connection.
type place struct{ connection, index int }

// passage is an answer or message on its way to the client.
type passage struct {
	at     place
	method string
	// status, header and value belong to an answer; a message has only a value, a close
	// frame only a status.
	status int
	header http.Header
	value  *value
}

// proxy stands between a check and the exchange. It records the passages and changes one
// of them.
type proxy struct {
	exchange *exchange
	server   *httptest.Server
	change   *mutation
	applied  atomic.Bool

	mu          sync.Mutex
	answers     int
	connections int
	passed      []passage
}

func newProxy(e *exchange, change *mutation) *proxy {
	p := &proxy{exchange: e, change: change}
	p.server = httptest.NewServer(p)
	return p
}

// note records a passage.
func (p *proxy) note(at passage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.value != nil {
		at.value = at.value.clone()
	}
	at.header = at.header.Clone()
	p.passed = append(p.passed, at)
}

// ServeHTTP forwards a request and its answer.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		p.tunnel(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	a, err := p.exchange.send(r.Method, p.exchange.url+r.URL.RequestURI(), string(body), r.Header)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	coding := a.header.Get("Content-Encoding")
	p.mu.Lock()
	at := passage{place{0, p.answers}, r.Method, a.status, a.header, a.value}
	p.answers++
	p.mu.Unlock()
	p.note(at)
	if p.change != nil && p.change.at == at.at && p.change.apply(&at) {
		p.applied.Store(true)
		if at.value != a.value {
			a.body = []byte(at.value.String())
		}
	}
	if a.body, err = recode(coding, a.body, encoded); err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for name, values := range at.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	if at.status == http.StatusNoContent {
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(at.status)
	_, _ = w.Write(a.body)
}

// tunnel forwards a WebSocket connection.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.connections++
	number := p.connections
	p.mu.Unlock()
	up, err := net.Dial("tcp", strings.TrimPrefix(p.exchange.url, "http://"))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = r.Write(up)
	down, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = up.Close()
		return
	}
	// A client that does not read is to be slow for the exchange, not for the proxy.
	_ = up.(*net.TCPConn).SetReadBuffer(socketBuffer)
	_ = down.(*net.TCPConn).SetWriteBuffer(socketBuffer)
	go func() {
		_, _ = io.Copy(up, rw)
		_ = up.Close()
	}()
	p.stream(number, up, down)
	_ = up.Close()
	_ = down.Close()
}

// stream forwards the exchange's messages frame by frame.
func (p *proxy) stream(number int, up io.Reader, down io.Writer) {
	from := newHead(up)
	if _, err := down.Write(from.head()); err != nil {
		return
	}
	var held []byte
	for index := 0; ; {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		frames := [][]byte{encode(f)}
		switch f.Header.OpCode { //nolint:exhaustive // the others pass as they are
		case ws.OpText:
			if !bytes.Contains(f.Payload, []byte(markerStream)) {
				frames, held = p.message(place{number, index}, f, held)
				index++
			}
		case ws.OpClose:
			frames[0] = encode(p.closing(place{number, -1}, f))
		}
		for _, b := range frames {
			if _, err := down.Write(b); err != nil {
				return
			}
		}
	}
}

// message returns the frames to send for a message, and one to hold until the next
// message.
func (p *proxy) message(at place, f ws.Frame, held []byte) (frames [][]byte, hold []byte) {
	v, err := parseValue(f.Payload)
	if err != nil {
		return [][]byte{encode(f)}, held
	}
	p.note(passage{at: at, value: v})
	if p.change != nil && p.change.at == at {
		m := passage{at: at, value: v}
		switch {
		case p.change.name == dropMessage:
			p.applied.Store(true)
			return nil, held
		case p.change.name == swapMessages:
			p.applied.Store(true)
			return nil, encode(f)
		case p.change.name == repeatMessage:
			p.applied.Store(true)
			return [][]byte{encode(f), encode(f)}, held
		case p.change.apply(&m):
			p.applied.Store(true)
			f = ws.NewTextFrame([]byte(m.value.String()))
		}
	}
	frames = [][]byte{encode(f)}
	if held != nil {
		frames = append(frames, held)
	}
	return frames, nil
}

// closing returns the close frame to send.
func (p *proxy) closing(at place, f ws.Frame) ws.Frame {
	code, reason := ws.ParseCloseFrameData(f.Payload)
	m := passage{at: at, status: int(code)}
	p.note(m)
	if p.change != nil && p.change.at == at && p.change.apply(&m) {
		p.applied.Store(true)
		return ws.NewCloseFrame(ws.NewCloseFrameBody(ws.StatusCode(m.status), reason))
	}
	return f
}

func encode(f ws.Frame) []byte {
	var b bytes.Buffer
	_ = ws.WriteFrame(&b, f)
	return b.Bytes()
}

// head reads an HTTP head byte by byte, so that no byte after it is consumed.
type head struct{ io.Reader }

func newHead(r io.Reader) head { return head{r} }

// head returns the head up to the empty line.
func (h head) head() []byte {
	var b []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		if _, err := io.ReadFull(h, one); err != nil {
			break
		}
		b = append(b, one[0])
	}
	return b
}
