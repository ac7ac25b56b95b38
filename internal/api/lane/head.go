package lane

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"
)

// Bounds of a head; net/http has wider ones.
const (
	maxHead    = 8 << 10
	maxHeaders = 32
)

// head is the parsed head of a request. It is valid until the next read.
type head struct {
	// size is the length of the head, length the Content-Length.
	size, length int
	path, host   string
	header       http.Header
	// values backs the slices in header.
	values [maxHeaders]string
}

var blankLine = []byte("\r\n\r\n")

// read parses the head at the start of b. It returns false unless the head is complete
// and plain.
func (h *head) read(b []byte) bool {
	end := bytes.Index(b[:min(len(b), maxHead)], blankLine)
	if end < 0 {
		return false
	}

	h.size = end + len(blankLine)
	h.host, h.length = "", -1
	clear(h.header)

	line, rest, _ := strings.Cut(string(b[:end]), "\r\n")
	if !h.readLine(line) {
		return false
	}

	for i := 0; rest != ""; i++ {
		line, rest, _ = strings.Cut(rest, "\r\n")
		if i == maxHeaders || !h.readHeader(line, i) {
			return false
		}
	}
	return h.host != "" && h.length >= 0
}

// readLine parses the request line.
func (h *head) readLine(line string) bool {
	path, post := strings.CutPrefix(line, "POST ")
	path, http11 := strings.CutSuffix(path, " HTTP/1.1")
	h.path = path
	return post && http11 && all(path, inPath)
}

// readHeader parses header number number.
func (h *head) readHeader(line string, number int) bool {
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !ok || name == "" || !all(name, inName) || !all(value, inValue) {
		return false
	}

	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Host":
		once := h.host == ""
		h.host = value
		return once && value != "" && all(value, inHost)
	case "Content-Length":
		if h.length >= 0 || !h.readLength(value) {
			return false
		}
	case "Connection":
		if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Transfer-Encoding", "Trailer", "Te", "Upgrade", "Expect", "Pragma":
		return false
	}

	h.values[number] = value
	if before, twice := h.header[name]; twice {
		h.header[name] = append(before, value)
	} else {
		h.header[name] = h.values[number : number+1 : number+1]
	}
	return true
}

// readLength parses Content-Length.
func (h *head) readLength(value string) bool {
	const digits = 5
	if value == "" || len(value) > digits {
		return false
	}
	h.length = 0
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
		h.length = h.length*10 + int(value[i]-'0')
	}
	return true
}

// class is a set of the places where a character is usual.
type class uint8

const (
	inPath class = 1 << iota
	inName
	inHost
	inValue
)

// classes maps each byte to its class.
var classes = func() (table [256]class) {
	for c := ' '; c <= '~'; c++ {
		table[c] = inValue
	}
	table['\t'] = inValue
	for _, c := range "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-" {
		table[c] |= inPath | inName | inHost
	}
	for _, c := range "/_" {
		table[c] |= inPath
	}
	for _, c := range ".:[]" {
		table[c] |= inHost
	}
	return table
}()

// all reports whether every byte of s belongs to class of.
func all(s string, of class) bool {
	for i := range len(s) {
		if classes[s[i]]&of == 0 {
			return false
		}
	}
	return true
}
