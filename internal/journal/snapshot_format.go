package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/bourse-exchange/bourse"
)

// The sizes of a snapshot's parts; docs/format/snapshot.md describes them.
const (
	snapshotVersion = 2
	// identitySize is {magic [8], version u32, sandbox u8, zero [3], exchange [16]}.
	identitySize = 32
	// snapshotPrefix is the identity, the sequence and the CRC of both.
	snapshotPrefix = identitySize + 8 + 4
	// snapshotSuffix is the length of the contents and the sum of the file.
	snapshotSuffix = 4 + sha256.Size
	// maxContents bounds the memory that a damaged length can claim.
	maxContents = 1 << 20
	// maxSections bounds the sections of a snapshot, maxSectionName their names.
	maxSections    = 1 << 10
	maxSectionName = 255
)

var snapshotMagic = [8]byte{'B', 'O', 'U', 'R', 'S', 'N', 'A', 'P'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errSum    = errors.New("checksum does not match")
	errShort  = errors.New("file is too short")
	errLayout = errors.New("contents do not fit the file")
)

// SnapshotHeader identifies the moment of a snapshot.
type SnapshotHeader struct {
	// Tip is the journal's end at that moment.
	Tip Tip
	// State is the engine's state hash.
	State Hash
}

// section is a named part of a snapshot's file.
type section struct {
	name         string
	offset, size int64
}

// contents is a snapshot's table of sections, with its header.
type contents struct {
	header   SnapshotHeader
	sections []section
}

// appendIdentity appends the beginning of every side file.
func appendIdentity(b []byte, magic [8]byte, version uint32, id Identity) []byte {
	b = append(b, magic[:]...)
	b = binary.LittleEndian.AppendUint32(b, version)
	sandbox := byte(0)
	if id.Sandbox {
		sandbox = 1
	}
	b = append(b, sandbox, 0, 0, 0)
	return append(b, id.Exchange[:]...)
}

// checkIdentity compares the beginning of a side file, whose checksum was verified, with
// the expected identity.
func checkIdentity(b []byte, magic [8]byte, version uint32, id Identity) error {
	if !bytes.Equal(b[:8], magic[:]) {
		return errors.New("is another kind of file")
	}
	if err := checkFormat("file", binary.LittleEndian.Uint32(b[8:]), version); err != nil {
		return err
	}
	return id.Check(Identity{Exchange: [16]byte(b[16:32]), Sandbox: b[12] == 1})
}

// appendSum appends the checksum of a side file.
func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// sealed verifies the checksum and the identity of a side file that appendSum ended, and returns
// its bytes without the checksum. b is longer than an identity and a checksum.
func sealed(b []byte, magic [8]byte, version uint32, id Identity) ([]byte, error) {
	body := b[:len(b)-4]
	if binary.LittleEndian.Uint32(b[len(body):]) != crc32.Checksum(body, castagnoli) {
		return nil, errChecksum
	}
	return body, checkIdentity(b, magic, version, id)
}

// appendPrefix appends the beginning of a snapshot.
func appendPrefix(b []byte, id Identity, at bourse.Seq) []byte {
	start := len(b)
	b = appendIdentity(b, snapshotMagic, snapshotVersion, id)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// appendContents appends the contents and their length.
func appendContents(b []byte, c *contents) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = le.AppendUint64(b, uint64(c.header.Tip.Last))
	b = append(b, c.header.Tip.Chain[:]...)
	b = le.AppendUint64(b, c.header.Tip.Term)
	b = le.AppendUint64(b, uint64(c.header.Tip.Time))
	b = append(b, c.header.State[:]...)
	b = le.AppendUint32(b, uint32(len(c.sections)))
	for _, s := range c.sections {
		b = append(b, byte(len(s.name)))
		b = append(b, s.name...)
		b = le.AppendUint64(b, uint64(s.offset))
		b = le.AppendUint64(b, uint64(s.size))
	}
	return le.AppendUint32(b, uint32(len(b)-start))
}

// contentsFixed is the size of the contents without sections.
const contentsFixed = 8 + 32 + 8 + 8 + 32 + 4

// parseContents reads the contents and checks that the sections lie back to back and fill
// the file up to end.
func parseContents(b []byte, end int64) (*contents, error) {
	le := binary.LittleEndian
	if len(b) < contentsFixed {
		return nil, errLayout
	}

	c := new(contents)
	c.header.Tip = Tip{
		Last: bourse.Seq(le.Uint64(b)), Chain: Hash(b[8:40]),
		Term: le.Uint64(b[40:]), Time: bourse.Time(le.Uint64(b[48:])),
	}
	c.header.State = Hash(b[56:88])
	count, offset := le.Uint32(b[88:]), int64(snapshotPrefix)
	b = b[contentsFixed:]

	for range count {
		if len(b) < 1 || len(b) < 1+int(b[0])+16 {
			return nil, errLayout
		}
		n := 1 + int(b[0])
		s := section{name: string(b[1:n]), offset: int64(le.Uint64(b[n:])), size: int64(le.Uint64(b[n+8:]))}
		if s.offset != offset || s.size < 0 || s.size > end-offset {
			return nil, errLayout
		}
		c.sections = append(c.sections, s)
		offset += s.size
		b = b[n+16:]
	}

	if len(b) != 0 || offset != end {
		return nil, errLayout
	}
	return c, nil
}

// parseSnapshot reads a snapshot's contents and verifies every byte. An error with
// damaged true means that the file differs from the bytes written; other errors come from
// reading, or the file does not belong here.
func parseSnapshot(r io.ReaderAt, size int64, id Identity, at bourse.Seq) (c *contents, damaged bool, err error) {
	if size < snapshotPrefix+snapshotSuffix {
		return nil, true, errShort
	}

	prefix := make([]byte, snapshotPrefix)
	if err := readFull(r, prefix, 0); err != nil {
		return nil, false, err
	}

	if crc32.Checksum(prefix[:snapshotPrefix-4], castagnoli) != binary.LittleEndian.Uint32(prefix[snapshotPrefix-4:]) {
		return nil, true, errSum
	}
	if err := checkIdentity(prefix, snapshotMagic, snapshotVersion, id); err != nil {
		return nil, false, err
	}
	if bourse.Seq(binary.LittleEndian.Uint64(prefix[identitySize:])) != at {
		return nil, true, errors.New("is of another moment than its name says")
	}

	suffix := make([]byte, snapshotSuffix)
	if err := readFull(r, suffix, size-snapshotSuffix); err != nil {
		return nil, false, err
	}
	if bad, err := checkSum(r, size-sha256.Size, suffix[4:]); bad || err != nil {
		return nil, bad, errors.Join(err, errSum)
	}

	length := int64(binary.LittleEndian.Uint32(suffix))
	end := size - snapshotSuffix - length
	if length > maxContents || end < snapshotPrefix {
		return nil, true, errLayout
	}

	b := make([]byte, length)
	if err := readFull(r, b, end); err != nil {
		return nil, false, err
	}

	if c, err = parseContents(b, end); err == nil && c.header.Tip.Last != at {
		err = errLayout
	}
	return c, err != nil, err
}

// checkSum compares the SHA-256 of the first size bytes.
func checkSum(r io.ReaderAt, size int64, want []byte) (bad bool, err error) {
	sum := sha256.New()
	buf := make([]byte, 256<<10)
	if _, err := io.CopyBuffer(
		struct{ io.Writer }{sum}, struct{ io.Reader }{io.NewSectionReader(r, 0, size)}, buf,
	); err != nil {
		return false, err
	}
	return !bytes.Equal(sum.Sum(nil), want), nil
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
