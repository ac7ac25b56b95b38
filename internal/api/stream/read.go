package stream

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// maxMessage bounds a client's message in bytes, over all fragments.
const maxMessage = 16 << 10

// lastCode is the highest close code that RFC 6455 defines, section 7.4.2.
const lastCode ws.StatusCode = 4999

// CloseError closes a connection with a code and a reason.
type CloseError struct {
	Code   ws.StatusCode
	Reason string
}

// Error returns the reason.
func (e *CloseError) Error() string { return e.Reason }

// closing returns the close code for an error; false if the connection is lost.
func closing(err error) (ws.StatusCode, string, bool) {
	var e *CloseError
	if errors.As(err, &e) {
		return e.Code, e.Reason, true
	}
	return 0, "", false
}

func protocolError(reason string) error { return &CloseError{ws.StatusProtocolError, reason} }

// reader reads messages from a connection.
type reader struct {
	conn *Conn
	// early has bytes already read.
	early []byte
	// ahead is the buffer for reading ahead, so that a small frame takes at most one
	// system call: few, or many of a client that sends faster than it is read.
	ahead []byte
	few   [128]byte
	// full counts the last reads that filled the buffer.
	full int
	head [14]byte
	// message collects fragments; fragmented is set between them.
	message    []byte
	fragmented bool
}

// Read reads early first, then from the connection.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.early) > 0 {
		n := copy(p, r.early)
		r.early = r.early[n:]
		return n, nil
	}
	if len(r.ahead) == 0 {
		r.ahead = r.few[:]
	}
	if len(p) >= len(r.ahead) {
		return r.conn.raw.Read(p)
	}

	n, err := r.conn.raw.Read(r.ahead)
	r.early = r.ahead[:n]
	r.adapt(n)
	if n == 0 {
		return 0, err
	}
	n = copy(p, r.early)
	r.early = r.early[n:]
	return n, nil
}

// The bounds of adapt: manyAhead is the size of the large buffer, in bytes.
const (
	fullReads = 8
	manyAhead = 8 << 10
)

// adapt chooses the buffer of the next read after one of n bytes. An idle connection has no
// large one.
func (r *reader) adapt(n int) {
	switch {
	case n < len(r.few):
		r.ahead, r.full = r.few[:], 0
	case n < len(r.ahead):
		r.full = 0
	case len(r.ahead) == len(r.few):
		if r.full++; r.full >= fullReads {
			r.ahead = make([]byte, manyAhead)
		}
	}
}

// next returns the next text message, valid until the next call, and answers pings. A
// *CloseError is the reason to give the client; after any other error the connection is
// lost.
func (r *reader) next() ([]byte, error) {
	for {
		if len(r.early) == 0 {
			r.conn.patience(aliveFor)
		}
		h, err := r.header()
		if err != nil {
			return nil, err
		}
		if err := r.conn.protocol.Meter(h.OpCode, int(h.Length)); err != nil {
			return nil, err
		}

		if h.OpCode.IsControl() {
			if err := r.control(h); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.fragment(h); err != nil {
			return nil, err
		}

		if h.Fin {
			r.fragmented = false
			if !utf8.Valid(r.message) {
				return nil, &CloseError{ws.StatusInvalidFramePayloadData, "invalid UTF-8"}
			}
			return r.message, nil
		}
	}
}

// header reads and checks a frame's header.
func (r *reader) header() (ws.Header, error) {
	var h ws.Header
	if _, err := io.ReadFull(r, r.head[:2]); err != nil {
		return h, err
	}

	h.Fin, h.Rsv, h.OpCode = r.head[0]&0x80 != 0, r.head[0]>>4&7, ws.OpCode(r.head[0]&0x0f)
	h.Masked, h.Length = r.head[1]&0x80 != 0, int64(r.head[1]&0x7f)
	state := ws.StateServerSide

	if r.fragmented {
		state = state.Set(ws.StateFragmented)
	}
	if err := ws.CheckHeader(h, state); err != nil {
		return h, protocolError(err.Error())
	}

	more := map[int64]int{126: 2, 127: 8}[h.Length]
	rest := r.head[2 : 2+more+4]
	if _, err := io.ReadFull(r, rest); err != nil {
		return h, err
	}

	switch more {
	case 2:
		h.Length = int64(binary.BigEndian.Uint16(rest))
	case 8:
		h.Length = int64(binary.BigEndian.Uint64(rest))
	}

	copy(h.Mask[:], rest[more:])
	if h.Length < 0 || h.Length > maxMessage {
		return h, &CloseError{ws.StatusMessageTooBig, "message too long"}
	}
	return h, nil
}

// fragment appends a data frame to the message.
func (r *reader) fragment(h ws.Header) error {
	switch h.OpCode {
	case ws.OpBinary:
		return &CloseError{ws.StatusUnsupportedData, "text messages only"}
	case ws.OpText:
		r.message, r.fragmented = r.message[:0], true
	default: // a continuation, which header has checked
	}

	if len(r.message)+int(h.Length) > maxMessage {
		return &CloseError{ws.StatusMessageTooBig, "message too long"}
	}

	start := len(r.message)
	r.message = append(r.message, make([]byte, h.Length)...)
	if _, err := io.ReadFull(r, r.message[start:]); err != nil {
		return err
	}
	ws.Cipher(r.message[start:], h.Mask, 0)
	return nil
}

// control answers a control frame.
func (r *reader) control(h ws.Header) error {
	payload := make([]byte, h.Length)
	if _, err := io.ReadFull(r, payload); err != nil {
		return err
	}
	ws.Cipher(payload, h.Mask, 0)

	switch h.OpCode {
	case ws.OpPing:
		r.conn.subscriber.Push(ws.MustCompileFrame(ws.NewPongFrame(payload)))
	case ws.OpClose:
		if len(payload) == 0 {
			return &CloseError{ws.StatusNoStatusRcvd, ""}
		}
		code, reason := ws.ParseCloseFrameData(payload)
		if err := ws.CheckCloseFrameData(code, reason); err != nil {
			return protocolError(err.Error())
		}
		if code > lastCode {
			return protocolError("no such close code")
		}
		return &CloseError{code, ""}
	default: // an unsolicited pong only shows life
	}
	return nil
}
