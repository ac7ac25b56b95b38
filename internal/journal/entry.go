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
	entryMagic = 0x4a524e42 // "BNRJ"
	// entryVersion is the version of a single node's entries, replicaEntry that of a
	// cluster's.
	entryVersion = 1
	replicaEntry = 2
	// envelope is the size of an entry's envelope, replicaEnvelope that of a cluster's
	// entry. The last four bytes are its checksum.
	envelope        = 56
	replicaEnvelope = 72
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
	// EntryEmpty begins a term of raft. It has no command and is in no chain, like a mark,
	// but is replicated. Only a cluster's journal has it.
	EntryEmpty
	// EntryMembers changes the members of a cluster. Its frame has no command and the
	// change as bytes, is replicated, and is in no chain.
	EntryMembers
)

// Replicated reports whether entries of this kind are in the log of raft. Marks and seals
// are local.
func (k EntryKind) Replicated() bool { return k != EntryMark && k != EntrySeal }

// Entry is a frame in its local envelope, which is not replicated.
type Entry struct {
	Kind EntryKind
	// Synced is the watermark: the segment was known to be durable up to this offset when
	// the entry was written.
	Synced int64
	// Index is the entry's index in the log of raft, or for a mark or seal that of the
	// entry before it. Commit is the last index that was known to be committed when the
	// entry was written, at most Index. Both are zero in the journal of a single node.
	Index, Commit uint64
	Frame         Frame
	// Encoded are the frame's bytes, if the entry was parsed.
	Encoded []byte
	// Chain is the hash of the frame.
	Chain Hash
	// Size is the entry's length in bytes, a multiple of Block.
	Size int
}

// Room returns the size of a single node's entry with that many bytes of commands.
func Room(commands int) int { return align(CommandsAt + commands + frameSum) }

// ReplicaRoom returns the size of a cluster's entry with a frame of that many bytes.
func ReplicaRoom(frame int) int { return align(replicaEnvelope + frame) }

// FrameSize returns the size of a frame with that many bytes of commands.
func FrameSize(commands int) int { return frameHeader + commands + frameSum }

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

// Append appends the entry for offset off to b: e's kind, watermark, index and commit, and
// a frame that is encoded already. It sets e.Size. Only for a cluster's journal.
func (h *Header) Append(b []byte, off int64, e *Entry, frame []byte) []byte {
	e.Size = ReplicaRoom(len(frame))
	at := len(b)
	b = slices.Grow(b, e.Size)[:at+e.Size]
	clear(b[at+copy(b[at+replicaEnvelope:], frame)+replicaEnvelope:])
	h.finishEnvelope(b[at:], off, e)
	return b
}

// envelope returns the size of an envelope.
func (h *Header) envelope() int {
	if h.Replica != nil {
		return replicaEnvelope
	}
	return envelope
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
	if h.Replica != nil {
		binary.LittleEndian.PutUint16(b[4:], replicaEntry)
		binary.LittleEndian.PutUint64(b[48:], e.Index)
		binary.LittleEndian.PutUint64(b[56:], e.Commit)
	}
	sum := h.envelope() - 4
	binary.LittleEndian.PutUint32(b[sum-4:], 0)
	binary.LittleEndian.PutUint32(b[sum:], crc32.Checksum(b[:sum], castagnoli))
}

// parseEnvelope reads the envelope at the beginning of b, found at offset off.
func (h *Header) parseEnvelope(b []byte, off int64, e *Entry) error {
	size := h.envelope()
	sum := size - 4
	if len(b) < size || binary.LittleEndian.Uint32(b) != entryMagic ||
		binary.LittleEndian.Uint32(b[sum:]) != crc32.Checksum(b[:sum], castagnoli) {
		return &brokenError{errChecksum}
	}
	version, newest := binary.LittleEndian.Uint16(b[4:]), uint16(entryVersion)
	if h.Replica != nil {
		newest = replicaEntry
	}
	if version > newest {
		return fmt.Errorf("entry of version %d %w", version, ErrNewerFormat)
	}
	if [16]byte(b[8:24]) != h.Exchange || binary.LittleEndian.Uint64(b[24:]) != uint64(h.First()) ||
		binary.LittleEndian.Uint64(b[32:]) != uint64(off) {
		return &brokenError{errPlace}
	}

	kind := EntryKind(binary.LittleEndian.Uint16(b[6:]))
	e.Synced = int64(binary.LittleEndian.Uint64(b[40:]))
	if version != newest || kind < EntryBatch || e.Synced < Block || e.Synced > off || !isZero(b[sum-4:sum]) {
		return errMalformed
	}
	e.Kind, e.Index, e.Commit = kind, 0, 0
	if h.Replica == nil {
		return unless(kind <= EntrySeal)
	}

	e.Index, e.Commit = binary.LittleEndian.Uint64(b[48:]), binary.LittleEndian.Uint64(b[56:])
	return unless(kind <= EntryMembers && e.Commit <= e.Index)
}

func unless(good bool) error {
	if good {
		return nil
	}
	return errMalformed
}

// ParseEntry reads the entry found at offset off; b has exactly its bytes. The caller
// compares it with the entry before.
func (h *Header) ParseEntry(b []byte, off int64, e *Entry) error {
	err := h.ParseFirst(b, off, e)
	if err == nil && e.Size != len(b) {
		return errLength
	}
	return err
}

// ParseFirst is ParseEntry for bytes that other entries may follow.
func (h *Header) ParseFirst(b []byte, off int64, e *Entry) error {
	return h.parseEntry(func(_ int64, n int) ([]byte, error) { return b[:min(n, len(b))], nil }, off, e)
}

// ParseEntries reads the entries found from offset off on; b has exactly their bytes. The
// caller compares each with the entry before.
func (h *Header) ParseEntries(b []byte, off int64) error {
	for len(b) > 0 {
		var e Entry
		if err := h.ParseFirst(b, off, &e); err != nil {
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

	at := h.envelope()
	size, err := frameSize(b[at:])
	if err != nil {
		return &brokenError{err}
	}

	e.Size = align(at + size)
	if b, err = get(off, e.Size); err != nil {
		return err
	}
	if len(b) < e.Size {
		return &brokenError{errLength}
	}

	if err := e.parseFrame(b[at : at+size]); err != nil {
		return err
	}
	if !isZero(b[at+size:]) {
		return &brokenError{errPadding}
	}

	f := &e.Frame
	return unless((e.Kind == EntryBatch) == (f.Count > 0) &&
		(f.Count > 0 || len(f.Commands) == 0 || e.Kind == EntryMembers))
}

// parseFrame reads the entry's frame. Only a checksum error can come of a torn write:
// bytes that the checksum covers are as written.
func (e *Entry) parseFrame(b []byte) error {
	var err error
	_, e.Chain, err = e.Frame.parse(b)
	e.Encoded = b
	if errors.Is(err, errChecksum) {
		return &brokenError{err}
	}
	return err
}

// brokenError marks bytes that are no entry, because of a torn write or of damage.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

// noEntry reports whether an error says that no whole entry follows: nothing was written there, or the bytes are no
// entry.
func noEntry(err error) bool {
	broken := (*brokenError)(nil)
	return errors.Is(err, errEnd) || errors.As(err, &broken)
}

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
