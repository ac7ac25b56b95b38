package lane

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	// limit has the numbers of SetLimit; its first one is zero without a limit.
	limit [len(limitNames)]int
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

// limitNames are the headers of SetLimit, in the order of its numbers.
var limitNames = [...]string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

// SetLimit sets the headers of a request limit. Unlike entries of Header they need no memory.
func (a *answer) SetLimit(limit, remaining, reset int) { a.limit = [...]int{limit, remaining, reset} }

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
	a.limit = [len(limitNames)]int{}
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

	limited := a.limit[0] == 0 // nothing is to be told
	for _, name := range a.names {
		if !limited && name > limitNames[0] {
			b, limited = a.appendLimit(b), true
		}
		for _, value := range a.header[name] {
			b = appendHeader(b, name, value)
		}
	}
	if !limited {
		b = a.appendLimit(b)
	}

	b = append(b, a.dateOf(now)...)
	b = a.appendMissing(b)

	if last {
		b = append(b, "Connection: close\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, a.body...)
}

// appendLimit appends the headers of SetLimit. No other header's name is between theirs.
func (a *answer) appendLimit(b []byte) []byte {
	for i, name := range limitNames {
		b = append(b, name...)
		b = append(b, ": "...)
		b = strconv.AppendInt(b, int64(a.limit[i]), 10)
		b = append(b, "\r\n"...)
	}
	return b
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
	start := len(b)
	b = append(b, value...)

	if strings.IndexByte(value, '\n') >= 0 || strings.IndexByte(value, '\r') >= 0 {
		for i := start; i < len(b); i++ {
			if b[i] == '\r' || b[i] == '\n' {
				b[i] = ' '
			}
		}
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
