package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Directories and file extensions of the journal in the data directory.
const (
	// LiveDir has the segments that a start reads, ArchiveDir the older ones, TornDir
	// copies of torn ends.
	LiveDir    = "journal"
	ArchiveDir = "archive"
	TornDir    = "torn"
	liveExt    = ".seg"
	archiveExt = ".seg.zst"
	tempExt    = ".tmp"
)

const (
	segmentMagic   = "BRSJRNL\x00"
	segmentVersion = 2
	// headerSum is the offset of the header's checksum: the end of its block, in every
	// version.
	headerSum = Block - 4
)

// Header is the first block of a segment. It makes each segment readable on its own.
type Header struct {
	Identity
	// Tip is the journal's tip before the segment's first frame.
	Tip Tip
}

// First returns the first sequence of the segment.
func (h *Header) First() bourse.Seq { return h.Tip.Last + 1 }

// Name returns the segment's file name.
func (h *Header) Name() string { return liveName(h.First()) }

// Bytes returns the header's block.
func (h *Header) Bytes() []byte {
	b := make([]byte, Block)
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint32(b[8:], segmentVersion)
	binary.LittleEndian.PutUint32(b[12:], Block)
	copy(b[16:], h.Exchange[:])
	if h.Sandbox {
		b[32] = 1
	}
	binary.LittleEndian.PutUint64(b[40:], uint64(h.Tip.Last))
	binary.LittleEndian.PutUint64(b[48:], h.Tip.Term)
	binary.LittleEndian.PutUint64(b[56:], uint64(h.Tip.Time))
	copy(b[64:], h.Tip.Chain[:])
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli))
	return b
}

// parse reads a header's block.
func (h *Header) parse(b []byte) error {
	switch {
	case len(b) < Block:
		return errLength
	case string(b[:8]) != segmentMagic:
		return errors.New("not a segment of a journal")
	case binary.LittleEndian.Uint32(b[headerSum:]) != crc32.Checksum(b[:headerSum], castagnoli):
		return errChecksum
	}
	if err := checkFormat("segment", binary.LittleEndian.Uint32(b[8:]), segmentVersion); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b[12:]) != Block || b[32] > 1 || !isZero(b[33:40]) || !isZero(b[96:headerSum]) {
		return errMalformed
	}

	copy(h.Exchange[:], b[16:])
	h.Sandbox = b[32] == 1
	h.Tip.Last = bourse.Seq(binary.LittleEndian.Uint64(b[40:]))
	h.Tip.Term = binary.LittleEndian.Uint64(b[48:])
	h.Tip.Time = bourse.Time(binary.LittleEndian.Uint64(b[56:]))
	copy(h.Tip.Chain[:], b[64:])
	return nil
}

func liveName(first bourse.Seq) string { return segmentName(LiveDir, first, liveExt) }

func archiveName(first bourse.Seq) string { return segmentName(ArchiveDir, first, archiveExt) }

func segmentName(dir string, seq bourse.Seq, ext string) string {
	return fmt.Sprintf("%s/%020d%s", dir, uint64(seq), ext)
}

// parseName returns the sequence in a file's name.
func parseName(file, ext string) (bourse.Seq, bool) {
	digits, ok := strings.CutSuffix(file, ext)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return bourse.Seq(n), err == nil
}
