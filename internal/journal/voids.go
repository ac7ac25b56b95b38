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

const (
	voidsName    = "voids"
	voidsTmp     = "voids.tmp"
	voidsVersion = 1
	// voidsHeader is the identity, the number of entries, the hash of the last
	// one, and the CRC of all three.
	voidsHeader = identitySize + 4 + 32 + 4
	// voidFixed is an entry without its reason.
	voidFixed = 8 + 8 + 4 + 2
	// MaxReason is the longest reason that an operator may give, in bytes.
	MaxReason = 1024
)

var voidsMagic = [8]byte{'B', 'O', 'U', 'R', 'V', 'O', 'I', 'D'}

// Errors of taking a command out of effect.
var (
	// ErrVoided: the command is out of effect already.
	ErrVoided = errors.New("command is void already")
	// ErrReason: the reason is missing, too long or no text.
	ErrReason = errors.New("a void needs a reason of at most 1024 bytes of text")
)

// Void takes a command out of effect: one that is durable, and that the engine
// cannot apply. It keeps its place in the journal and does nothing there.
type Void struct {
	Seq bourse.Seq
	// Reason is what the operator said, Operator who that was, as the system's
	// user id, Time when.
	Reason   string
	Operator uint32
	Time     bourse.Time
}

// VoidList is the commands out of effect. Replay honours it, so it is part of
// what makes a state: it is kept in a file beside the journal, chained by hashes
// like the journal itself.
//
// Whoever appends must first have removed, with Snapshots.RemoveFrom, every
// snapshot of a moment at or after the command, and may do it only while nothing
// has written history beyond it: both would hold what the command did. Append
// comes before a start, all other methods may then be called by anybody.
type VoidList struct {
	disk disk.Disk
	id   Identity
	list []Void
	seqs map[bourse.Seq]bool
	// head is the hash of the last entry; each covers the one before it, the
	// first the identity.
	head Hash
}

// LoadVoids reads the commands out of effect; a missing file means none. The
// errors are a *DamageError, ErrNewerFormat, ErrOtherExchange, ErrSandbox,
// disk.ErrSync, and those of reading.
func LoadVoids(d disk.Disk, id Identity) (*VoidList, error) {
	l := &VoidList{disk: d, id: id, seqs: map[bourse.Seq]bool{}, head: firstVoid(id)}
	b, err := disk.ReadFile(d, voidsName)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", voidsName, err)
	}
	if err := l.parse(b); err != nil {
		return nil, err
	}
	// Who wrote it may have died before its name was durable, and what is
	// derived from here on depends on it.
	return l, d.SyncDir(".")
}

// firstVoid is what the first entry's hash covers in place of another entry's.
func firstVoid(id Identity) Hash {
	return sha256.Sum256(appendIdentity(nil, voidsMagic, 0, id))
}

// parse reads the file.
func (l *VoidList) parse(b []byte) error {
	if len(b) < voidsHeader {
		return &DamageError{File: voidsName, Cause: errShort}
	}
	le := binary.LittleEndian
	if crc32.Checksum(b[:voidsHeader-4], castagnoli) != le.Uint32(b[voidsHeader-4:]) {
		return &DamageError{File: voidsName, Cause: errSum}
	}
	if err := checkIdentity(b, voidsMagic, voidsVersion, l.id); err != nil {
		return fmt.Errorf("%s: %w", voidsName, err)
	}
	count, head := le.Uint32(b[identitySize:]), Hash(b[identitySize+4:])
	at := voidsHeader
	for range count {
		v, n, ok := parseVoid(b[at:])
		if !ok {
			return &DamageError{File: voidsName, Offset: int64(at), Cause: errShort}
		}
		l.enter(v, b[at:at+n])
		at += n
	}
	if at != len(b) || l.head != head {
		return &DamageError{File: voidsName, Offset: int64(at), Cause: errSum}
	}
	return nil
}

// parseVoid reads an entry; n is its size.
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

// enter adds an entry, given with its bytes, to the list.
func (l *VoidList) enter(v Void, b []byte) {
	l.head = sha256.Sum256(append(l.head[:], b...))
	l.list = append(l.list, v)
	l.seqs[v.Seq] = true
}

// Has reports whether a command is out of effect.
func (l *VoidList) Has(seq bourse.Seq) bool { return len(l.list) > 0 && l.seqs[seq] }

// All returns the commands out of effect, in the order in which they were taken
// out. The caller must not change them.
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

// Append takes a command out of effect, durably. The errors are ErrVoided,
// ErrReason, disk.ErrSync, after which the process must stop, and those of the disk,
// after which nothing has changed.
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
		return fmt.Errorf("%s: %w", voidsName, err)
	}
	l.list, l.head = next.list, next.head
	l.seqs[v.Seq] = true
	return nil
}

// write replaces the file. Voids are few, and a file that is replaced as a whole
// has no torn end: whatever is wrong with it is damage.
func (l *VoidList) write() error {
	b := appendIdentity(nil, voidsMagic, voidsVersion, l.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.list)))
	b = append(b, l.head[:]...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	for i := range l.list {
		b = appendVoid(b, &l.list[i])
	}
	return disk.Replace(l.disk, voidsName, voidsTmp, b)
}
