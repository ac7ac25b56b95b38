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
	// envelope is the bytes of an entry before its frame, envelopeSum where its
	// checksum is.
	envelope    = 56
	envelopeSum = envelope - 4
	// CommandsAt is where an entry's commands begin.
	CommandsAt = envelope + frameHeader
)

// EntryKind says what an entry of a segment is there for.
type EntryKind uint16

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
	h.finishEnvelope(b, off, e)
	e.Frame.Commands = b[CommandsAt : end-frameSum]
	return b
}

// finishEnvelope writes the envelope. It says where it belongs, so that bytes of
// a command, of another segment or of another exchange are not taken for one.
func (h *Header) finishEnvelope(b []byte, off int64, e *Entry) {
	binary.LittleEndian.PutUint32(b, entryMagic)
	binary.LittleEndian.PutUint16(b[4:], entryVersion)
	binary.LittleEndian.PutUint16(b[6:], uint16(e.Kind))
	copy(b[8:], h.Exchange[:])
	binary.LittleEndian.PutUint64(b[24:], uint64(h.First()))
	binary.LittleEndian.PutUint64(b[32:], uint64(off))
	binary.LittleEndian.PutUint64(b[40:], uint64(e.Synced))
	binary.LittleEndian.PutUint32(b[48:], 0)
	binary.LittleEndian.PutUint32(b[envelopeSum:], crc32.Checksum(b[:envelopeSum], castagnoli))
}

// parseEnvelope reads the envelope that b begins with, found at this offset.
func (h *Header) parseEnvelope(b []byte, off int64, e *Entry) error {
	if len(b) < envelope || binary.LittleEndian.Uint32(b) != entryMagic ||
		binary.LittleEndian.Uint32(b[envelopeSum:]) != crc32.Checksum(b[:envelopeSum], castagnoli) {
		return &brokenError{errChecksum}
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v > entryVersion {
		return fmt.Errorf("entry of version %d %w", v, ErrNewerFormat)
	}
	if [16]byte(b[8:24]) != h.Exchange || binary.LittleEndian.Uint64(b[24:]) != uint64(h.First()) ||
		binary.LittleEndian.Uint64(b[32:]) != uint64(off) {
		return &brokenError{errPlace}
	}
	kind := EntryKind(binary.LittleEndian.Uint16(b[6:]))
	e.Synced = int64(binary.LittleEndian.Uint64(b[40:]))
	if kind < EntryBatch || kind > EntrySeal || e.Synced < Block || e.Synced > off || !isZero(b[48:envelopeSum]) {
		return errMalformed
	}
	e.Kind = kind
	return nil
}

// ParseEntry reads an entry that was found at an offset; b has its bytes and no
// more. What stands before it is for the caller to compare.
func (h *Header) ParseEntry(b []byte, off int64, e *Entry) error {
	err := h.parseEntry(func(_ int64, n int) ([]byte, error) {
		return b[:min(n, len(b))], nil
	}, off, e)
	if err == nil && e.Size != len(b) {
		return errLength
	}
	return err
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
