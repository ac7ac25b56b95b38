package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Block is what entries are aligned to. No block is ever written twice, so a
// write that tears cannot reach what was durable before it; 4 KiB is the most
// that a device or the kernel writes as one.
const Block = 4096

const (
	entryMagic   = 0x4a524e42 // "BNRJ"
	entryVersion = 1
	// envelope is the bytes of an entry before its frame.
	envelope = 24
	// CommandsAt is where an entry's commands begin.
	CommandsAt = envelope + frameHeader
)

// EntryKind says what an entry of a segment is there for.
type EntryKind uint8

// The kinds of entries.
const (
	// EntryBatch carries commands.
	EntryBatch EntryKind = iota + 1
	// EntryMark carries none: it proves that what stands before it was durable.
	EntryMark
	// EntrySeal is a mark that a log ended with when it was closed.
	EntrySeal
)

// Entry is a frame in its local envelope, which is not replicated.
type Entry struct {
	Kind EntryKind
	// Synced is the watermark: all of the segment before this offset was known
	// to be durable when the entry was written.
	Synced int64
	Frame  Frame
	// Chain is the hash of the frame.
	Chain Hash
	// Size is how many bytes the entry occupies: whole blocks.
	Size int
}

// Room returns how many bytes an entry occupies that has this many bytes of
// commands.
func Room(commands int) int { return align(CommandsAt + commands + frameSum) }

func align(n int) int { return (n + Block - 1) &^ (Block - 1) }

// Finish completes an entry that will be written at this offset: b holds its
// commands from CommandsAt on, and it writes what stands before and behind them.
// It sets the entry's Chain and Size and returns the entry's bytes.
func (h *Header) Finish(b []byte, off int64, e *Entry) []byte {
	e.Frame.Commands = b[CommandsAt:]
	e.Size = Room(len(e.Frame.Commands))
	b = slices.Grow(b, e.Size-len(b))
	b, e.Chain = e.Frame.finish(b, envelope)
	end := len(b)
	b = b[:e.Size]
	clear(b[end:])
	binary.LittleEndian.PutUint32(b, entryMagic)
	binary.LittleEndian.PutUint32(b[4:], entryVersion)
	binary.LittleEndian.PutUint32(b[8:], uint32(e.Kind))
	binary.LittleEndian.PutUint64(b[12:], uint64(e.Synced))
	binary.LittleEndian.PutUint32(b[20:], h.sum(b[:20], off))
	e.Frame.Commands = b[CommandsAt : end-frameSum]
	return b
}

// sum is the checksum of an envelope. It covers where the envelope belongs, so
// that bytes of a command, of another segment or of another exchange are not
// taken for one.
func (h *Header) sum(b []byte, off int64) uint32 {
	var place [32]byte
	copy(place[:], h.Exchange[:])
	binary.LittleEndian.PutUint64(place[16:], uint64(h.Tip.Last))
	binary.LittleEndian.PutUint64(place[24:], uint64(off))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, b)
}

// parseEnvelope reads the envelope that b begins with, found at this offset.
func (h *Header) parseEnvelope(b []byte, off int64, e *Entry) error {
	if len(b) < envelope || binary.LittleEndian.Uint32(b[20:]) != h.sum(b[:20], off) {
		return &brokenError{errChecksum}
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v > entryVersion {
		return fmt.Errorf("entry of version %d %w", v, ErrNewerFormat)
	}
	kind := binary.LittleEndian.Uint32(b[8:])
	e.Synced = int64(binary.LittleEndian.Uint64(b[12:]))
	known := kind >= uint32(EntryBatch) && kind <= uint32(EntrySeal)
	if binary.LittleEndian.Uint32(b) != entryMagic || !known || e.Synced < Block || e.Synced > off {
		return errMalformed
	}
	e.Kind = EntryKind(kind)
	return nil
}

// parseEntry reads the entry at an offset. get returns the segment's bytes from
// an offset on, fewer than asked for only at its end.
func (h *Header) parseEntry(get func(off int64, n int) ([]byte, error), off int64, e *Entry) error {
	b, err := get(off, Block)
	switch {
	case err != nil:
		return err
	case isZero(b):
		return errEnd
	}
	if err := h.parseEnvelope(b, off, e); err != nil {
		return err
	}
	if len(b) < Block {
		return &brokenError{errLength}
	}
	size, err := frameSize(b[envelope:])
	if err != nil {
		return &brokenError{err}
	}
	e.Size = align(envelope + size)
	if b, err = get(off, e.Size); err != nil {
		return err
	}
	if len(b) < e.Size {
		return &brokenError{errLength}
	}
	if err := e.parseFrame(b[envelope : envelope+size]); err != nil {
		return err
	}
	if !isZero(b[envelope+size:]) {
		return &brokenError{errPadding}
	}
	if (e.Kind == EntryBatch) != (e.Frame.Count > 0) {
		return errMalformed
	}
	return nil
}

// parseFrame reads the entry's frame. Whatever its checksum covers was written
// so; nothing but that can be torn.
func (e *Entry) parseFrame(b []byte) error {
	var err error
	_, e.Chain, err = ParseFrame(b, &e.Frame)
	if errors.Is(err, errChecksum) {
		return &brokenError{err}
	}
	return err
}

// brokenError says that bytes are no entry, which a torn write explains as well
// as damage does.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

var zeros [64 << 10]byte

func isZero(b []byte) bool {
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}
