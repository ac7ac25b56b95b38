package journal

import (
	"bytes"
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
	// replicaVersion is the version of the segments of a cluster's node.
	replicaVersion = 3
	// headerSum is the offset of the header's checksum: the end of its block, in every
	// version.
	headerSum = Block - 4
)

// Header is the first block of a segment. It makes each segment readable on its own.
type Header struct {
	Identity
	// Tip is the journal's tip before the segment's first frame.
	Tip Tip
	// Replica is nil in the journal of a single node.
	Replica *Replica
}

// Replica is the part of a header that only a cluster's node has. Its entries have
// positions in the log of raft.
type Replica struct {
	// At is the position of the entry of raft before the segment.
	At Position
	// Members are the newest members in the log before the segment, in an encoding of
	// package raftlog; MembersAt is the index of the entry that they came with.
	Members   []byte
	MembersAt uint64
}

// Position is the place of an entry in the log of raft.
type Position struct{ Index, Term uint64 }

// MostMembers is the most bytes of a header's members: 2 KiB.
const MostMembers = 2 << 10

// Offsets of a replica's fields in a header.
const (
	replicaAt      = 96
	replicaMembers = replicaAt + 28
)

// First returns the first sequence of the segment.
func (h *Header) First() bourse.Seq { return h.Tip.Last + 1 }

// Name returns the segment's file name.
func (h *Header) Name() string { return liveName(h.First()) }

// Bytes returns the header's block.
func (h *Header) Bytes() []byte {
	b := make([]byte, Block)
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint32(b[8:], h.version())
	binary.LittleEndian.PutUint32(b[12:], Block)
	copy(b[16:], h.Exchange[:])
	if h.Sandbox {
		b[32] = 1
	}
	binary.LittleEndian.PutUint64(b[40:], uint64(h.Tip.Last))
	binary.LittleEndian.PutUint64(b[48:], h.Tip.Term)
	binary.LittleEndian.PutUint64(b[56:], uint64(h.Tip.Time))
	copy(b[64:], h.Tip.Chain[:])
	if r := h.Replica; r != nil {
		r.put(b[replicaAt:])
	}
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli))
	return b
}

func (h *Header) version() uint32 {
	if h.Replica != nil {
		return replicaVersion
	}
	return segmentVersion
}

// put writes the replica's fields.
func (r *Replica) put(b []byte) {
	if len(r.Members) > MostMembers {
		bourse.Impossible("members of %d bytes", len(r.Members))
	}
	binary.LittleEndian.PutUint64(b, r.At.Index)
	binary.LittleEndian.PutUint64(b[8:], r.At.Term)
	binary.LittleEndian.PutUint64(b[16:], r.MembersAt)
	binary.LittleEndian.PutUint32(b[24:], uint32(len(r.Members)))
	copy(b[28:], r.Members)
}

// parseReplica reads a replica's fields from a header's block.
func parseReplica(b []byte) (*Replica, error) {
	f := b[replicaAt:]
	size := binary.LittleEndian.Uint32(f[24:])
	if size > MostMembers || !isZero(b[replicaMembers+size:headerSum]) {
		return nil, errMalformed
	}
	return &Replica{
		At:        Position{binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[8:])},
		MembersAt: binary.LittleEndian.Uint64(f[16:]),
		Members:   bytes.Clone(b[replicaMembers : replicaMembers+size]),
	}, nil
}

// ParseHeader reads the block that Bytes returns.
func ParseHeader(b []byte) (h Header, err error) {
	err = h.parse(b)
	return h, err
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
	version := binary.LittleEndian.Uint32(b[8:])
	if version != replicaVersion {
		if err := checkFormat("segment", version, segmentVersion); err != nil {
			return err
		}
	}
	if binary.LittleEndian.Uint32(b[12:]) != Block || b[32] > 1 || !isZero(b[33:40]) ||
		version == segmentVersion && !isZero(b[replicaAt:headerSum]) {
		return errMalformed
	}

	if version == replicaVersion {
		var err error
		if h.Replica, err = parseReplica(b); err != nil {
			return err
		}
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
