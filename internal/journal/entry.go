package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Block is the alignment of entries. No block is written twice, so that a torn write
// cannot reach durable bytes; 4 KiB is the most that a device or the kernel writes
// atomically.
const Block = 4096

const (
	entryMagic   = 0x4a524e42 // "BNRJ"
	entryVersion = 1
	// envelope is the size of an entry's envelope, envelopeSum the offset of its
	// checksum.
	envelope    = 56
	envelopeSum = envelope - 4
	// CommandsAt is the offset of the commands within an entry.
	CommandsAt = envelope + frameHeader
)

// EntryKind is the purpose of an entry.
type EntryKind uint16

// The kinds of entries.
const (
	// EntryBatch carries commands.
	EntryBatch EntryKind = iota + 1
	// EntryMark has no commands: it proves that all entries before it were durable.
	EntryMark
	// EntrySeal is a mark that a clean close wrote as the last entry.
	EntrySeal
)

// Entry is a frame in its local envelope, which is not replicated.
type Entry struct {
	Kind EntryKind
	// Synced is the watermark: the segment was known to be durable up to this offset when
	// the entry was written.
	Synced int64
	Frame  Frame
	// Chain is the hash of the frame.
	Chain Hash
	// Size is the entry's length in bytes, a multiple of Block.
	Size int
}

// Room returns the size of an entry with that many bytes of commands.
func Room(commands int) int { return align(CommandsAt + commands + frameSum) }

func align(n int) int { return (n + Block - 1) &^ (Block - 1) }

// Finish completes an entry for offset off. b holds its commands from CommandsAt on;
// Finish writes header, checksum and padding around them. It sets e.Chain and e.Size and
// returns the entry's bytes.
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

// finishEnvelope writes the envelope. Exchange, segment and offset in it keep bytes of a
// command, of another segment or of another exchange from being taken for an entry.
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

// parseEnvelope reads the envelope at the beginning of b, found at offset off.
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

// ParseEntry reads the entry found at offset off; b has exactly its bytes. The caller
// compares it with the entry before.
func (h *Header) ParseEntry(b []byte, off int64, e *Entry) error {
	err := h.parseEntry(func(_ int64, n int) ([]byte, error) {
		return b[:min(n, len(b))], nil
	}, off, e)
	if err == nil && e.Size != len(b) {
		return errLength
	}
	return err
}

// ParseEntries reads the entries found from offset off on; b has exactly their bytes. The
// caller compares each with the entry before.
func (h *Header) ParseEntries(b []byte, off int64) error {
	for len(b) > 0 {
		var e Entry
		err := h.parseEntry(func(_ int64, n int) ([]byte, error) { return b[:min(n, len(b))], nil }, off, &e)
		if err != nil {
			return err
		}
		b, off = b[e.Size:], off+int64(e.Size)
	}
	return nil
}

// parseEntry reads the entry at offset off. get returns n bytes of the segment, fewer
// only at its end.
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

// parseFrame reads the entry's frame. Only a checksum error can come of a torn write:
// bytes that the checksum covers are as written.
func (e *Entry) parseFrame(b []byte) error {
	var err error
	_, e.Chain, err = ParseFrame(b, &e.Frame)
	if errors.Is(err, errChecksum) {
		return &brokenError{err}
	}
	return err
}

// brokenError marks bytes that are no entry, because of a torn write or of damage.
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
