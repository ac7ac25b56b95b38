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

// version is the version of every kind's body.
const version = 1

// ErrMalformed reports bytes that are not records of this program.
var ErrMalformed = errors.New("malformed record")

// NewerError reports a record that a newer program wrote.
type NewerError struct {
	Kind    bourse.CommandKind
	Version uint8
}

// Error names the record's kind and version.
func (e *NewerError) Error() string {
	return fmt.Sprintf("record kind %d version %d was written by a newer program; "+
		"this one reads up to kind %d version %d", e.Kind, e.Version, bourse.LastCommandKind, version)
}

// codecs are pooled, because the table's functions make them escape to the heap.
var codecs = sync.Pool{New: func() any { return new(codec.Codec) }}

// Append appends the record of a command, without its Seq and Time, which are
// the journal's. The command must have passed Check.
func Append(dst []byte, c *bourse.Command) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(c.Kind), version)
	switch c.Kind {
	case bourse.CommandPlace:
		dst = appendPlace(dst, c)
	case bourse.CommandCancel:
		dst = appendCancel(dst, c)
	default:
		dst = appendFields(dst, c)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-headerSize))
	return dst
}

func appendFields(dst []byte, c *bourse.Command) []byte {
	k := find(c.Kind)
	if k == nil {
		bourse.Impossible("no record for command kind %d", c.Kind)
	}
	if k.fields == nil {
		return dst
	}
	w := codecs.Get().(*codec.Codec)
	w.Append(dst)
	k.fields(w, c)
	dst = w.Bytes()
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
	if !Known(kind) || v > version {
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
		ok = decodeFields(body, c)
	}
	if !ok || Check(c) != nil {
		return 0, ErrMalformed
	}
	return headerSize + len(body), nil
}

func decodeFields(body []byte, c *bourse.Command) bool {
	k := find(c.Kind)
	if k == nil || k.fields == nil {
		return len(body) == 0
	}
	r := codecs.Get().(*codec.Codec)
	r.Read(body)
	k.fields(r, c)
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
