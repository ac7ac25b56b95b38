package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	stubName    = ArchiveDir + "/stub"
	stubVersion = 1
	// stubFixed is the size of a stub before the balances.
	stubFixed = 112
)

var stubMagic = [8]byte{'B', 'O', 'U', 'R', 'S', 'T', 'U', 'B'}

// Stub stands in the archive for the pruned segments: the state that verification of the
// remaining ones begins with.
type Stub struct {
	// Seq is the last pruned command, Chain the hash of its frame.
	Seq   bourse.Seq
	Chain Hash
	// State is the state hash at Seq.
	State Hash
	// Balances are those at Seq, in an encoding that the journal does not know.
	Balances []byte
}

// Boundary returns the last command that Prune(before) would remove, the Seq of the stub
// it takes: the end of the last archived segment whose commands are all below before.
// Zero if there is none.
func (f *Files) Boundary(before bourse.Seq) (bourse.Seq, error) {
	k, err := f.kept()
	if err != nil {
		return 0, err
	}
	following := slices.Concat(k.archived, k.live[:min(1, len(k.live))])
	last := bourse.Seq(0)
	for _, next := range following {
		if next <= before && next > k.first() {
			last = next - 1
		}
	}
	return last, nil
}

// Prune permanently removes the archived segments whose commands are all below before,
// and leaves a stub in their place, whose Seq must be the Boundary. Reading them returns
// ErrCompacted from then on. After a crash, the same call continues.
func (f *Files) Prune(before bourse.Seq, stub Stub) error {
	last, err := f.Boundary(before)
	switch {
	case err != nil:
		return err
	case last == 0:
		return nil
	case stub.Seq != last:
		return fmt.Errorf("stub is of command %d, not %d", stub.Seq, last)
	}

	if err := f.checkStub(&stub); err != nil {
		return err
	}
	if err := disk.Replace(f.disk, stubName, stubName+tempExt, stub.bytes(f.id)); err != nil {
		return err
	}

	k, err := f.kept()
	if err != nil {
		return err
	}

	for _, first := range k.archived {
		if first > stub.Seq {
			break
		}
		if err := f.disk.Remove(archiveName(first)); err != nil {
			return err
		}
	}
	return f.disk.SyncDir(ArchiveDir)
}

// checkStub compares a stub with the segment that follows it and with the current stub.
func (f *Files) checkStub(stub *Stub) error {
	s, err := f.open(stub.Seq + 1)
	if err != nil {
		return err
	}
	if err := errors.Join(stub.joins(s), s.close()); err != nil {
		return err
	}
	old, err := f.Stub()
	if err == nil && old != nil && old.Seq > stub.Seq {
		err = compacted(old.Seq + 1)
	}
	return err
}

// joins returns an error if the segment follows the stub and its chain differs. b may be
// nil.
func (b *Stub) joins(s *segment) error {
	if b != nil && b.Seq == s.head.Tip.Last && b.Chain != s.head.Tip.Chain {
		return &DamageError{s.name, 0, s.head.First(), errors.New("it does not continue what was pruned")}
	}
	return nil
}

// Stub returns the current stub, nil if nothing was pruned.
func (f *Files) Stub() (*Stub, error) {
	b, err := disk.ReadFile(f.disk, stubName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	stub := new(Stub)
	if err := stub.parse(b, f.id); err != nil {
		return nil, whole(stubName, 1, err)
	}
	return stub, nil
}

func (b *Stub) bytes(id Identity) []byte {
	out := appendIdentity(nil, stubMagic, stubVersion, id)
	out = binary.LittleEndian.AppendUint64(out, uint64(b.Seq))
	out = append(out, b.Chain[:]...)
	out = append(out, b.State[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(b.Balances)))
	out = append(out, b.Balances...)
	return appendSum(out)
}

func (b *Stub) parse(in []byte, id Identity) error {
	if len(in) < stubFixed+4 {
		return errLength
	}
	body, err := sealed(in, stubMagic, stubVersion, id)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(in[104:]) != uint64(len(body)-stubFixed) {
		return errLength
	}
	b.Seq = bourse.Seq(binary.LittleEndian.Uint64(in[32:]))
	copy(b.Chain[:], in[40:])
	copy(b.State[:], in[72:])
	b.Balances = body[stubFixed:]
	return nil
}
