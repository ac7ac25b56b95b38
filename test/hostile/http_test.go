package hostile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The words of http.txt:
//
//	send LINE          writes a line and CRLF, on a connection that is opened first
//	bytes TEXT         writes a text as it is
//	flood N TEXT       writes a text N times, or until the exchange has enough
//	half               says that nothing more will be written
//	cut                closes the connection
//	reset              breaks the connection off
//	status N...        reads an answer with one of these statuses; gone stands for
//	                   a connection that was closed without an answer, and an
//	                   answer with 400 may be lost to a reset: who is talked to
//	                   in a language that is not his does not listen to the end
//	refused TEXT       reads an answer with status 200 and success false
//	taken TEXT         reads an answer with status 200 and success true
//	has NAME: VALUE    wants a header in the last answer
//	hasnt NAME         wants none of the name
//	gone               wants the connection to be closed, and nothing before that
//	again              wants the connection to be good for another request

func TestHTTP(t *testing.T) { lay(t, "http.txt", (*attack).http) }

// line is a raw connection.
type line struct {
	*attack
	conn net.Conn
	in   *bufio.Reader
	last *http.Response
	body []byte
	// method is the last sent request line's.
	method string
}

// http carries out a case on raw connections.
func (a *attack) http() {
	l := &line{attack: a}
	defer func() {
		if l.conn != nil {
			_ = l.conn.Close()
		}
	}()
	a.each(l.do)
}

// open opens the connection to a HOST:PORT unless it is open.
func (l *line) open(to string) {
	l.Helper()
	if l.conn != nil {
		return
	}
	conn, err := new(net.Dialer).DialContext(l.Context(), "tcp", to)
	if err != nil {
		l.fail("%v", err)
	}
	_ = conn.SetDeadline(within(patience))
	l.conn, l.in = conn, bufio.NewReader(conn)
}

func (l *line) do(word, text string) {
	l.Helper()
	l.open(l.address)
	switch word {
	case "send":
		if method, _, begins := strings.Cut(text, " /"); begins {
			l.method = method
		}
		l.write(text + "\r\n")
	case "bytes":
		l.write(text)
	case "flood":
		times, what, _ := strings.Cut(text, " ")
		n, _ := strconv.Atoi(times)
		for ; n > 0 && l.write(what); n-- {
		}
	case "half":
		_ = l.conn.(*net.TCPConn).CloseWrite()
	case "cut", "reset":
		if word == "reset" {
			_ = l.conn.(*net.TCPConn).SetLinger(0)
		}
		_ = l.conn.Close()
		l.conn = nil
	default:
		l.see(word, text)
	}
}

// write writes, and reports whether the connection is open.
func (l *line) write(text string) bool {
	_, err := io.WriteString(l.conn, text)
	return err == nil
}

// see carries out the words of expectations.
func (l *line) see(word, text string) {
	l.Helper()
	switch word {
	case "status":
		wanted := strings.Fields(text)
		if got := l.read(wanted...); !slices.Contains(wanted, got) {
			l.fail("status %s: %.300s", got, l.body)
		}
	case "refused", "taken":
		l.read()
		if err := wellAnswered(l.last.StatusCode, l.body, word == "taken", text); err != nil {
			l.fail("%v", err)
		}
	case "has":
		name, value, _ := strings.Cut(text, ": ")
		if got := l.last.Header.Get(name); got != value {
			l.fail("it is %q", got)
		}
	case "hasnt":
		if got, there := l.last.Header[http.CanonicalHeaderKey(text)]; there {
			l.fail("it is %q", got)
		}
	case "gone":
		got, err := io.ReadAll(l.in)
		if len(got) > 0 || err != nil && !isGone(err) {
			l.fail("%.200q %v", got, err)
		}
	case "again":
		l.write("POST /spot/time HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		if l.read(); l.last.StatusCode != http.StatusOK || !bytes.HasPrefix(l.body, []byte(`{"success":true`)) {
			l.fail("%d %.200s", l.last.StatusCode, l.body)
		}
	default:
		l.fail("no such word")
	}
}

// read reads an answer and returns its status; words are the expected ones.
func (l *line) read(words ...string) string {
	l.Helper()
	var err error
	asked := &http.Request{Method: l.method}                      // an answer to HEAD has no body
	if l.last, err = http.ReadResponse(l.in, asked); err == nil { //nolint:bodyclose // the connection is closed with the case
		l.body, err = io.ReadAll(l.last.Body)
		_ = l.last.Body.Close()
	}
	switch {
	case err != nil && slices.Contains(words, "gone") && isGone(err):
		return "gone"
	case errors.Is(err, syscall.ECONNRESET) && slices.Contains(words, "400"):
		return "400"
	case err != nil:
		l.fail("no answer: %v", err)
	}
	if err := l.unleaked(string(l.body)); err != nil {
		l.fail("%v", err)
	}
	for _, values := range l.last.Header {
		if err := l.unleaked(strings.Join(values, "\n")); err != nil {
			l.fail("header: %v", err)
		}
	}
	return strconv.Itoa(l.last.StatusCode)
}
