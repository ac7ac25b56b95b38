package lane

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// answer is an http.ResponseWriter that buffers the answer. It reads the headers after
// the handler has returned.
type answer struct {
	header http.Header
	status int
	body   []byte
	// shared is a body owned by the handler, which is not copied.
	shared []byte
	// names is reused to sort the names of headers.
	names []string
	// date is the Date header of the Unix second dated.
	date  []byte
	dated int64
}

// Header returns the headers of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status unless it is set; informational ones are ignored.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write appends to the body.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !hasBody(a.status) {
		return 0, http.ErrBodyNotAllowed
	}
	a.body = append(a.body, p...)
	return len(p), nil
}

// WriteShared sets the body without a copy. The bytes must never change.
func (a *answer) WriteShared(p []byte) {
	a.WriteHeader(http.StatusOK)
	if hasBody(a.status) {
		a.shared = p
	}
}

// size returns the length of the body.
func (a *answer) size() int { return len(a.body) + len(a.shared) }

// hasBody reports whether answers of a status have a body, even an empty one.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// reset empties the answer for reuse.
func (a *answer) reset() {
	clear(a.header)
	a.status, a.body, a.shared = 0, a.body[:0], nil
}

// append appends the answer as net/http writes it: the handler's headers by name, then
// the server's own, then the body unless it is shared.
func (a *answer) append(b []byte, now time.Time, last bool) []byte {
	a.WriteHeader(http.StatusOK)
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(a.status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(a.status)...)
	b = append(b, "\r\n"...)

	a.names = a.names[:0]
	for name := range a.header {
		a.names = append(a.names, name)
	}
	slices.Sort(a.names)

	for _, name := range a.names {
		for _, value := range a.header[name] {
			b = appendHeader(b, name, value)
		}
	}

	b = append(b, a.dateOf(now)...)
	b = a.appendMissing(b)

	if last {
		b = append(b, "Connection: close\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, a.body...)
}

// appendMissing appends Content-Length and Content-Type unless the handler set them.
func (a *answer) appendMissing(b []byte) []byte {
	if !hasBody(a.status) {
		return b
	}
	if _, told := a.header["Content-Length"]; !told {
		b = appendHeader(b, "Content-Length", strconv.Itoa(a.size()))
	}
	if _, told := a.header["Content-Type"]; !told && len(a.body) > 0 {
		b = appendHeader(b, "Content-Type", http.DetectContentType(a.body))
	}
	return b
}

// appendHeader appends a header. Line breaks in the value become spaces.
func appendHeader(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	for i := range len(value) {
		c := value[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		b = append(b, c)
	}
	return append(b, "\r\n"...)
}

// dateOf returns the Date header of a time.
func (a *answer) dateOf(now time.Time) []byte {
	if second := now.Unix(); second != a.dated || a.date == nil {
		a.dated = second
		a.date = append(a.date[:0], "Date: "...)
		a.date = now.UTC().AppendFormat(a.date, http.TimeFormat)
		a.date = append(a.date, "\r\n"...)
	}
	return a.date
}
