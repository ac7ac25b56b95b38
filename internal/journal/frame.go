package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bourse-exchange/bourse"
)

const (
	// frameVersion is the newest version of frames that this program knows.
	frameVersion = 1
	// frameHeader is the size of a frame before its commands, frameSum that after them.
	frameHeader = 72
	frameSum    = 4
	// MostFrame is the most bytes of a frame.
	MostFrame = frameHeader + MaxFrame + frameSum
)

// Reasons for refusing bytes as a frame or an entry.
var (
	errChecksum  = errors.New("checksum does not match")
	errLength    = errors.New("length is out of range")
	errPadding   = errors.New("padding is not zero")
	errPlace     = errors.New("entry belongs elsewhere")
	errMalformed = errors.New("fields contradict each other")
)

// Frame is a batch as it is stored and replicated. A frame without commands fills a mark
// or a seal and is never yielded.
type Frame struct {
	// First is the sequence of the first command; in a frame without commands, that of
	// the next frame.
	First bourse.Seq
	Count int
	Term  uint64
	Time  bourse.Time
	// Previous is the hash of the previous frame with commands.
	Previous Hash
	Commands []byte
}

// Append appends the frame's bytes to b and returns the frame's hash with it.
func (f *Frame) Append(b []byte) ([]byte, Hash) {
	at := len(b)
	b = slices.Grow(b, frameHeader+len(f.Commands)+frameSum)
	b = append(b[:at+frameHeader], f.Commands...)
	return f.finish(b, at)
}

// finish writes the header at b[at:], for which b has room, and appends the checksum.
func (f *Frame) finish(b []byte, at int) ([]byte, Hash) {

	h := b[at : at+frameHeader]
	binary.LittleEndian.PutUint32(h, uint32(len(b)-at+frameSum))
	binary.LittleEndian.PutUint32(h[4:], frameVersion)
	binary.LittleEndian.PutUint64(h[8:], uint64(f.First))
	binary.LittleEndian.PutUint64(h[16:], uint64(f.Count))
	binary.LittleEndian.PutUint64(h[24:], f.Term)
	binary.LittleEndian.PutUint64(h[32:], uint64(f.Time))
	copy(h[40:], f.Previous[:])

	sum := sha256.Sum256(b[at:])
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli)), sum
}

// frameSize returns the size of the frame at the beginning of b, which holds at least its
// header.
func frameSize(b []byte) (int, error) {
	size := int64(binary.LittleEndian.Uint32(b))
	if size < frameHeader+frameSum || size > frameHeader+MaxFrame+frameSum {
		return 0, errLength
	}
	return int(size), nil
}

// ParseFrame reads the frame at the beginning of b; its Commands alias b. It returns the
// frame's size and hash. The caller compares sequence, time, term and chain with the
// frame before.
func ParseFrame(b []byte, f *Frame) (int, Hash, error) {
	size, sum, err := f.parse(b)
	if err == nil && f.Count == 0 && len(f.Commands) > 0 {
		return 0, Hash{}, errMalformed
	}
	return size, sum, err
}

// parse is ParseFrame for entries of every kind: those of members have bytes and no command.
func (f *Frame) parse(b []byte) (int, Hash, error) {
	if len(b) < frameHeader+frameSum {
		return 0, Hash{}, errLength
	}
	size, err := frameSize(b)
	if err != nil || size > len(b) {
		return 0, Hash{}, errLength
	}

	body := b[:size-frameSum]
	if binary.LittleEndian.Uint32(b[size-frameSum:]) != crc32.Checksum(body, castagnoli) {
		return 0, Hash{}, errChecksum
	}

	if v := binary.LittleEndian.Uint32(b[4:]); v > frameVersion {
		return 0, Hash{}, fmt.Errorf("frame of version %d %w", v, ErrNewerFormat)
	}

	f.First = bourse.Seq(binary.LittleEndian.Uint64(b[8:]))
	count := binary.LittleEndian.Uint64(b[16:])
	f.Term = binary.LittleEndian.Uint64(b[24:])
	f.Time = bourse.Time(binary.LittleEndian.Uint64(b[32:]))
	copy(f.Previous[:], b[40:])
	f.Commands = body[frameHeader:]
	// A command has at least a byte, which bounds the count.
	if count > uint64(len(f.Commands)) {
		return 0, Hash{}, errMalformed
	}
	f.Count = int(count)
	return size, sha256.Sum256(body), nil
}

// Batch returns the frame, whose hash is chain, as a batch.
func (f *Frame) Batch(chain Hash) Batch {
	return Batch{f.First, f.Count, f.Term, f.Time, f.Commands, chain}
}

// Follows returns an error unless f may follow this tip.
func (f *Frame) Follows(tip *Tip) error {
	switch {
	case f.First != tip.Last+1:
		return fmt.Errorf("frame begins with command %d, not %d", f.First, tip.Last+1)
	case f.Previous != tip.Chain:
		return errors.New("hash chain is broken")
	case f.Term < tip.Term:
		return fmt.Errorf("term %d after %d", f.Term, tip.Term)
	case f.Time < tip.Time:
		return fmt.Errorf("time %d after %d", f.Time, tip.Time)
	default:
		return nil
	}
}
