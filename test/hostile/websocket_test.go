package hostile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gobwas/ws"
)

// The words of websocket.txt. A connection is opened by the first one that needs
// it, with the headers that come before:
//
//	header NAME: VALUE   puts a header into the upgrade, or another one's place
//	without NAME         leaves one out
//	method NAME          asks with another method
//	path PATH            asks for another path than /stream
//	status N             wants the upgrade to be answered with this status
//	text TEXT            sends a text message
//	frame FLAGS KIND TEXT sends a frame. FLAGS are of fin, rsv1, rsv2, rsv3 and
//	                     unmasked, with commas, or - for none. KIND is text,
//	                     binary, continuation, ping, pong, close or a number
//	bytes TEXT           writes a text as it is
//	times N WORD ...     does a thing that sends N times, or until the exchange
//	                     has enough
//	answer TEXT          wants an answer that contains the text
//	pong TEXT            wants a pong with this payload
//	alive                wants a ping of the interface to be answered
//	closes CODE...       wants a close frame with one of these codes, then the end
//	gone                 wants the end, with or without a close frame
//	half                 says that nothing more will be written
//	cut                  closes the connection; reset breaks it off

func TestWebSocket(t *testing.T) { lay(t, "websocket.txt", (*attack).websocket) }

// frames is a connection with handmade frames.
type frames struct {
	*attack
	method  string
	path    string
	headers [][2]string
	conn    net.Conn
	in      *bufio.Reader
	status  int
}

// websocket carries out a case.
func (a *attack) websocket() {
	f := &frames{attack: a, method: http.MethodGet, path: "/stream", headers: [][2]string{
		{"Host", a.address}, {"Connection", "Upgrade"}, {"Upgrade", "websocket"},
		{"Sec-WebSocket-Version", "13"}, {"Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(make([]byte, 16))},
	}}
	defer func() {
		if f.conn != nil {
			_ = f.conn.Close()
		}
	}()
	a.each(f.do)
}

func (f *frames) do(word, text string) {
	f.Helper()
	switch word {
	case "header", "without":
		name, value, _ := strings.Cut(text, ": ")
		f.headers = slices.DeleteFunc(f.headers, func(h [2]string) bool { return h[0] == name })
		if word == "header" {
			f.headers = append(f.headers, [2]string{name, value})
		}
	case "method":
		f.method = text
	case "path":
		f.path = text
	case "status":
		if f.upgrade(); strconv.Itoa(f.status) != text {
			f.fail("status %d", f.status)
		}
	default:
		if f.conn == nil {
			if f.upgrade(); f.status != http.StatusSwitchingProtocols {
				f.fail("the upgrade was answered with %d", f.status)
			}
		}
		if !f.say(word, text) {
			f.hear(word, text)
		}
	}
}

// upgrade opens the connection.
func (f *frames) upgrade() {
	f.Helper()
	conn, err := new(net.Dialer).DialContext(f.Context(), "tcp", f.address)
	if err != nil {
		f.fail("%v", err)
	}
	f.conn, f.in = conn, bufio.NewReader(conn)
	_ = conn.SetDeadline(within(patience))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", f.method, f.path)
	for _, h := range f.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	_, _ = io.WriteString(conn, b.String()+"\r\n")
	res, err := http.ReadResponse(f.in, nil)
	if err != nil {
		f.fail("upgrade: %v", err)
	}
	f.status = res.StatusCode
	_ = res.Body.Close() // bytes after a successful upgrade are no body
}

// say carries out the words that send.
func (f *frames) say(word, text string) bool {
	f.Helper()
	switch word {
	case "text":
		f.write(f.compile("fin", "text", text))
	case "frame":
		flags, rest, _ := strings.Cut(text, " ")
		kind, payload, _ := strings.Cut(rest, " ")
		f.write(f.compile(flags, kind, payload))
	case "bytes":
		f.write([]byte(text))
	case "times":
		f.times(text)
	case "half":
		_ = f.conn.(*net.TCPConn).CloseWrite()
	case "cut", "reset":
		if word == "reset" {
			_ = f.conn.(*net.TCPConn).SetLinger(0)
		}
		_ = f.conn.Close()
	default:
		return false
	}
	return true
}

// write writes, and reports whether the connection is open.
func (f *frames) write(b []byte) bool {
	_, err := f.conn.Write(b)
	return err == nil
}

// times repeats a frame or bytes, many in one write.
func (f *frames) times(text string) {
	f.Helper()
	words := strings.SplitN(text, " ", 5)
	n, err := strconv.Atoi(words[0])
	if err != nil || len(words) < 3 {
		f.fail("how many times what?")
	}
	var b []byte
	switch words[1] {
	case "text":
		b = f.compile("fin", "text", strings.Join(words[2:], " "))
	case "frame":
		b = f.compile(words[2], words[3], strings.Join(words[4:], " "))
	default:
		f.fail("cannot be repeated")
	}
	const many = 100
	for ; n >= many; n -= many {
		if !f.write(bytes.Repeat(b, many)) {
			return
		}
	}
	f.write(bytes.Repeat(b, n))
}

var kinds = map[string]ws.OpCode{
	"continuation": ws.OpContinuation, "text": ws.OpText, "binary": ws.OpBinary,
	"close": ws.OpClose, "ping": ws.OpPing, "pong": ws.OpPong,
}

// compile returns a frame, which may be malformed.
func (f *frames) compile(flags, kind, payload string) []byte {
	f.Helper()
	code, known := kinds[kind]
	if n, err := strconv.Atoi(kind); !known && err == nil {
		code, known = ws.OpCode(n), true
	}
	if !known {
		f.fail("no such kind of frame")
	}
	h := ws.Header{OpCode: code, Length: int64(len(payload)), Masked: true, Mask: [4]byte{1, 2, 3, 4}}
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "fin":
			h.Fin = true
		case "rsv1":
			h.Rsv |= 4
		case "rsv2":
			h.Rsv |= 2
		case "rsv3":
			h.Rsv |= 1
		case "unmasked":
			h.Masked = false
		case "-":
		default:
			f.fail("no such flag: %s", flag)
		}
	}
	var b bytes.Buffer
	if err := ws.WriteHeader(&b, h); err != nil {
		f.fail("%v", err)
	}
	body := []byte(payload)
	if h.Masked {
		ws.Cipher(body, h.Mask, 0)
	}
	return append(b.Bytes(), body...)
}

// hear carries out the words of expectations.
func (f *frames) hear(word, text string) {
	f.Helper()
	switch word {
	case "alive":
		f.write(f.compile("fin", "text", `{"op":"ping","id":4711}`))
		f.answer(`"id":4711,"success":true`)
	case "answer":
		f.answer(text)
	case "pong":
		if h, payload, err := f.next(); err != nil || h.OpCode != ws.OpPong || string(payload) != text {
			f.fail("%+v %.80q %v", h, payload, err)
		}
	case "closes":
		f.closes(strings.Fields(text))
	case "gone":
		for {
			if _, _, err := f.next(); err != nil {
				if !isGone(err) {
					f.fail("%v", err)
				}
				return
			}
		}
	default:
		f.fail("no such word")
	}
}

// answer expects a message that contains a text, and skips data messages before it.
func (f *frames) answer(text string) {
	f.Helper()
	for {
		h, payload, err := f.next()
		if err != nil || h.OpCode != ws.OpText {
			f.fail("%+v %.120q %v", h, payload, err)
		}
		if !bytes.Contains(payload, []byte(`"id":`)) {
			continue
		}
		if !bytes.Contains(payload, []byte(text)) {
			f.fail("answered was %.200s", payload)
		}
		return
	}
}

// closes expects a close frame, then the end of the connection.
func (f *frames) closes(codes []string) {
	f.Helper()
	h, payload, err := f.next()
	for err == nil && h.OpCode != ws.OpClose {
		h, payload, err = f.next()
	}
	if err != nil {
		f.fail("no close frame: %v", err)
	}
	code, reason := ws.StatusNoStatusRcvd, ""
	if len(payload) > 0 {
		code, reason = ws.ParseCloseFrameData(payload)
	}
	if !slices.Contains(codes, strconv.Itoa(int(code))) {
		f.fail("closed with %d %q", code, reason)
	}
	if h, _, err := f.next(); !errors.Is(err, io.EOF) {
		f.fail("behind the close frame came %+v %v", h, err)
	}
}

// next reads a frame, which must be one that a server may send.
func (f *frames) next() (ws.Header, []byte, error) {
	f.Helper()
	h, err := ws.ReadHeader(f.in)
	if err != nil {
		return h, nil, err
	}
	if h.Masked || !h.Fin || h.Rsv != 0 || h.Length > maxFrame {
		f.fail("the exchange sent a frame with header %+v", h)
	}
	payload := make([]byte, h.Length)
	if _, err := io.ReadFull(f.in, payload); err != nil {
		return h, nil, err
	}
	if err := f.unleaked(string(payload)); err != nil {
		f.fail("%v", err)
	}
	return h, payload, nil
}
