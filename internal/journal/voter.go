package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	// VoterFile is the file of a node's promise in its data directory.
	VoterFile    = LiveDir + "/voter"
	voterVersion = 1
	// voterSize is the size of the file, its checksum included.
	voterSize = 60
)

var voterMagic = [8]byte{'B', 'O', 'U', 'R', 'S', 'V', 'O', 'T'}

// Voter is the promise of a cluster's node: it takes part in no term before Term, and in that
// term votes for Vote alone. It has a file of its own, because a later leader can refuse the
// entries of a segment, and not a promise.
type Voter struct {
	// Node is the id of the node, never zero.
	Node, Term uint64
	// Vote is zero if the node has not voted in Term.
	Vote uint64
}

// LoadVoter returns a node's promise. It returns a *DamageError without one, because the
// node may then break a promise: it must not vote again under its id.
func LoadVoter(d disk.Disk, id Identity) (Voter, error) {
	b, err := disk.ReadFile(d, VoterFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Voter{}, &DamageError{VoterFile, 0, 0, errors.New("the node's promise is missing")}
	case err != nil:
		return Voter{}, err
	}

	v, err := parseVoter(b, id)
	return v, whole(VoterFile, 0, err)
}

func parseVoter(b []byte, id Identity) (Voter, error) {
	if len(b) != voterSize {
		return Voter{}, errLength
	}
	if _, err := sealed(b, voterMagic, voterVersion, id); err != nil {
		return Voter{}, err
	}
	v := Voter{
		Node: binary.LittleEndian.Uint64(b[32:]), Term: binary.LittleEndian.Uint64(b[40:]),
		Vote: binary.LittleEndian.Uint64(b[48:]),
	}
	return v, unless(v.Node != 0)
}

// Older returns the damage that an entry of a later term proves: a promise of that term was durable
// before the entry, and this one has taken its place.
func (v Voter) Older(term uint64) error {
	return &DamageError{VoterFile, 0, 0, fmt.Errorf("the node's promise is of term %d, and it has an entry of term %d", v.Term, term)}
}

// Save makes the promise durable: after a crash the file has the old promise or this one.
func (v Voter) Save(d disk.Disk, id Identity) error {
	b := appendIdentity(make([]byte, 0, voterSize), voterMagic, voterVersion, id)
	b = binary.LittleEndian.AppendUint64(b, v.Node)
	b = binary.LittleEndian.AppendUint64(b, v.Term)
	b = binary.LittleEndian.AppendUint64(b, v.Vote)
	b = appendSum(b)
	return disk.Replace(d, VoterFile, VoterFile+tempExt, b)
}
