package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// headerSize is the number of bytes in front of a record's body.
const headerSize = 6

// ErrMalformed reports bytes that are not records of this program.
var ErrMalformed = errors.New("malformed record")

// NewerError reports a record that a newer program wrote.
type NewerError struct {
	Kind    bourse.CommandKind
	Version uint8
}

// Error names the record's kind and version.
func (e *NewerError) Error() string {
	known := uint8(0)
	if k := find(e.Kind); k != nil {
		known = k.newest()
	}
	return fmt.Sprintf("record kind %d version %d was written by a newer program; "+
		"this one reads up to kind %d, and that kind up to version %d", e.Kind, e.Version, bourse.LastCommandKind, known)
}

// codecs are pooled, because the table's functions make them escape to the heap.
var codecs = sync.Pool{New: func() any { return new(codec.Codec) }}

// Append appends the record of a command, without its Seq and Time, which are
// the journal's. The command must have passed Check.
func Append(dst []byte, c *bourse.Command) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(c.Kind), 1)
	switch c.Kind {
	case bourse.CommandPlace:
		dst = appendPlace(dst, c)
	case bourse.CommandCancel:
		dst = appendCancel(dst, c)
	default:
		dst = appendFields(dst, start, c)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-headerSize))
	return dst
}

// appendFields appends the body of the record that begins at start, and sets the body's version.
func appendFields(dst []byte, start int, c *bourse.Command) []byte {
	k := find(c.Kind)
	if k == nil {
		bourse.Impossible("no record for command kind %d", c.Kind)
	}
	if k.fields == nil {
		return dst
	}
	w := codecs.Get().(*codec.Codec)
	w.Append(dst)
	k.code(w, c, k.version(c))
	dst = w.Bytes()
	dst[start+5] = k.version(c)
	w.Append(nil)
	codecs.Put(w)
	return dst
}

// Decode reads the first record of b into c, zeroes all other fields of c, and returns
// the record's length in bytes. The errors are ErrMalformed and *NewerError.
func Decode(b []byte, c *bourse.Command) (int, error) {
	body, whole := first(b)
	if !whole || b[5] == 0 {
		return 0, ErrMalformed
	}
	kind, v := bourse.CommandKind(b[4]), b[5]
	k := find(kind)
	if k == nil || v > k.newest() {
		return 0, &NewerError{kind, v}
	}

	*c = bourse.Command{}
	c.Kind = kind
	var ok bool
	switch kind {
	case bourse.CommandPlace:
		ok = decodePlace(body, c)
	case bourse.CommandCancel:
		ok = decodeCancel(body, c)
	default:
		ok = k.decode(body, v, c)
	}
	if !ok || Check(c) != nil || k.version(c) != v {
		return 0, ErrMalformed
	}
	return headerSize + len(body), nil
}

// code codes the fields of a version of the body.
func (k *kind) code(c *codec.Codec, cmd *bourse.Command, version uint8) {
	if version == 2 && k.later != nil {
		k.later(c, cmd)
	} else {
		k.fields(c, cmd)
	}
}

func (k *kind) decode(body []byte, version uint8, c *bourse.Command) bool {
	if k.fields == nil {
		return len(body) == 0
	}
	r := codecs.Get().(*codec.Codec)
	r.Read(body)
	k.code(r, c, version)
	ok := r.Done()
	r.Read(nil)
	codecs.Put(r)
	return ok
}

// first returns the body of the first record of b, and whether b has all of it.
func first(b []byte) (body []byte, whole bool) {
	if len(b) < headerSize {
		return nil, false
	}
	size := binary.LittleEndian.Uint32(b)
	if uint64(size) > uint64(len(b)-headerSize) {
		return nil, false
	}
	return b[headerSize : headerSize+int(size)], true
}
