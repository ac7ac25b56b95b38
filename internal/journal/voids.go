package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// VoidsFile is the file of voided commands in a data directory.
const VoidsFile = "voids"

const (
	voidsTmp     = "voids.tmp"
	voidsVersion = 1
	// voidsHeader is the size of the identity, the number of entries, the hash of the
	// last one, and the CRC of all three.
	voidsHeader = identitySize + 4 + 32 + 4
	// voidFixed is the size of an entry without its reason.
	voidFixed = 8 + 8 + 4 + 2
	// MaxReason is the longest reason of a void, in bytes.
	MaxReason = 1024
)

var voidsMagic = [8]byte{'B', 'O', 'U', 'R', 'V', 'O', 'I', 'D'}

// Errors of Append.
var (
	// ErrVoided: the command is out of effect already.
	ErrVoided = errors.New("command is void already")
	// ErrReason: the reason is missing, too long or no text.
	ErrReason = errors.New("a void needs a reason of at most 1024 bytes of text")
)

// Void takes a durable command that the engine cannot apply out of effect. The command
// keeps its place in the journal and does nothing there.
type Void struct {
	Seq bourse.Seq
	// Reason is the operator's reason, Operator the system user ID, Time the time of the
	// void.
	Reason   string
	Operator uint32
	Time     bourse.Time
}

// VoidList is the list of voided commands. Replay skips them, so the list is part of the
// state: it is kept in a file beside the journal, with a hash chain like the journal's.
//
// Before Append, the caller must remove every snapshot at or after the command with
// Snapshots.RemoveFrom, and must check that the history has no rows beyond it: both would
// contain the command's effect. Append must precede the start; all other methods are then
// safe for concurrent use.
type VoidList struct {
	disk disk.Disk
	id   Identity
	list []Void
	seqs map[bourse.Seq]bool
	// head is the hash of the last entry. Each hash covers the previous one; the first
	// covers the identity.
	head Hash
}

// LoadVoids reads the voided commands; a missing file means none. The errors are a
// *DamageError, ErrNewerFormat, ErrOlderFormat, ErrOtherExchange, ErrSandbox,
// disk.ErrSync, and those of reading.
func LoadVoids(d disk.Disk, id Identity) (*VoidList, error) {
	l := &VoidList{disk: d, id: id, seqs: map[bourse.Seq]bool{}, head: firstVoid(id)}
	b, err := disk.ReadFile(d, VoidsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", VoidsFile, err)
	}
	if err := l.parse(b); err != nil {
		return nil, err
	}
	// Its writer may have crashed before the name was durable, and replay depends on it.
	return l, d.SyncDir(".")
}

// firstVoid returns the hash that stands before the first entry.
func firstVoid(id Identity) Hash {
	return sha256.Sum256(appendIdentity(nil, voidsMagic, 0, id))
}

func (l *VoidList) parse(b []byte) error {
	if len(b) < voidsHeader {
		return &DamageError{File: VoidsFile, Cause: errShort}
	}
	le := binary.LittleEndian
	if crc32.Checksum(b[:voidsHeader-4], castagnoli) != le.Uint32(b[voidsHeader-4:]) {
		return &DamageError{File: VoidsFile, Cause: errSum}
	}
	if err := checkIdentity(b, voidsMagic, voidsVersion, l.id); err != nil {
		return fmt.Errorf("%s: %w", VoidsFile, err)
	}

	count, head := le.Uint32(b[identitySize:]), Hash(b[identitySize+4:])
	at := voidsHeader
	for range count {
		v, n, ok := parseVoid(b[at:])
		if !ok {
			return &DamageError{File: VoidsFile, Offset: int64(at), Cause: errShort}
		}
		l.enter(v, b[at:at+n])
		at += n
	}

	if at != len(b) || l.head != head {
		return &DamageError{File: VoidsFile, Offset: int64(at), Cause: errSum}
	}
	return nil
}

// parseVoid reads an entry at the beginning of b; n is its size.
func parseVoid(b []byte) (v Void, n int, ok bool) {
	le := binary.LittleEndian
	if len(b) < voidFixed {
		return v, 0, false
	}
	n = voidFixed + int(le.Uint16(b[20:]))
	if len(b) < n {
		return v, 0, false
	}
	v = Void{
		Seq: bourse.Seq(le.Uint64(b)), Time: bourse.Time(le.Uint64(b[8:])),
		Operator: le.Uint32(b[16:]), Reason: string(b[voidFixed:n]),
	}
	return v, n, true
}

func appendVoid(b []byte, v *Void) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(v.Seq))
	b = le.AppendUint64(b, uint64(v.Time))
	b = le.AppendUint32(b, v.Operator)
	b = le.AppendUint16(b, uint16(len(v.Reason)))
	return append(b, v.Reason...)
}

// enter adds an entry; b is its encoding.
func (l *VoidList) enter(v Void, b []byte) {
	l.head = sha256.Sum256(append(l.head[:], b...))
	l.list = append(l.list, v)
	l.seqs[v.Seq] = true
}

// Has reports whether a command is voided.
func (l *VoidList) Has(seq bourse.Seq) bool { return len(l.list) > 0 && l.seqs[seq] }

// All returns the voids, in the order of Append. The caller must not change them.
func (l *VoidList) All() []Void { return l.list }

// Digest returns the hash of the first n voids, which covers them and the exchange; false
// if there are fewer.
func (l *VoidList) Digest(n int) (Hash, bool) {
	if n < 0 || n > len(l.list) {
		return Hash{}, false
	}
	head := firstVoid(l.id)
	for i := range n {
		head = sha256.Sum256(appendVoid(head[:], &l.list[i]))
	}
	return head, true
}

// Append durably voids a command. The errors are ErrVoided, ErrReason, disk.ErrSync,
// after which the process must stop, and those of the disk, after which nothing has
// changed.
func (l *VoidList) Append(v Void) error {
	switch {
	case v.Seq == 0:
		return errors.New("there is no command 0")
	case l.Has(v.Seq):
		return fmt.Errorf("command %d: %w", v.Seq, ErrVoided)
	case v.Reason == "" || len(v.Reason) > MaxReason || !utf8.ValidString(v.Reason):
		return ErrReason
	}
	next := &VoidList{disk: l.disk, id: l.id, list: slices.Clone(l.list), seqs: map[bourse.Seq]bool{}, head: l.head}
	next.enter(v, appendVoid(nil, &v))
	if err := next.write(); err != nil {
		return fmt.Errorf("%s: %w", VoidsFile, err)
	}
	l.list, l.head = next.list, next.head
	l.seqs[v.Seq] = true
	return nil
}

// write replaces the whole file. Voids are few, and a replaced file has no torn end: any
// mismatch is damage.
func (l *VoidList) write() error {
	b := appendIdentity(nil, voidsMagic, voidsVersion, l.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.list)))
	b = append(b, l.head[:]...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	for i := range l.list {
		b = appendVoid(b, &l.list[i])
	}
	return disk.Replace(l.disk, VoidsFile, voidsTmp, b)
}
