package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// magic begins each connection. Its last byte is the version of the protocol between nodes.
var magic = [8]byte{'b', 'o', 'u', 'r', 's', 'e', 'n', 2}

// errStranger means that the other end is no node of this cluster, or another node than the one that was dialed.
var errStranger = errors.New("the other end is no node of this cluster")

// hello is the first message of each end of a connection.
type hello struct {
	identity journal.Identity
	// epoch is the cluster's epoch. Nodes of another epoch are strangers.
	epoch    uint32
	from, to uint64
	// known are the versions that the node's program knows, allowed those that may be in its log.
	known, allowed Versions
}

// helloSize is the size of a hello, in bytes.
const helloSize = len(magic) + 16 + 1 + 4 + 8 + 8 + 2*(1+4)

func (h *hello) bytes() []byte {
	b := append(make([]byte, 0, helloSize), magic[:]...)
	b = append(b, h.identity.Exchange[:]...)
	sandbox := byte(0)
	if h.identity.Sandbox {
		sandbox = 1
	}
	b = binary.BigEndian.AppendUint32(append(b, sandbox), h.epoch)
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, h.from), h.to)
	for _, v := range [...]Versions{h.known, h.allowed} {
		b = binary.BigEndian.AppendUint32(append(b, byte(v.Records)), v.Rules)
	}
	return b
}

func readHello(r io.Reader) (h hello, err error) {
	b := make([]byte, helloSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return h, err
	}
	b, ok := bytes.CutPrefix(b, magic[:])
	if !ok || b[16] > 1 {
		return h, fmt.Errorf("%w: it says %q first", errStranger, b[:len(magic)])
	}
	copy(h.identity.Exchange[:], b)
	h.identity.Sandbox = b[16] == 1
	h.epoch = binary.BigEndian.Uint32(b[17:])
	h.from, h.to = binary.BigEndian.Uint64(b[21:]), binary.BigEndian.Uint64(b[29:])
	h.known = Versions{Records: bourse.CommandKind(b[37]), Rules: binary.BigEndian.Uint32(b[38:])}
	h.allowed = Versions{Records: bourse.CommandKind(b[42]), Rules: binary.BigEndian.Uint32(b[43:])}
	return h, nil
}

// check returns an error unless theirs is the answer of the node h.to to h.
func (h *hello) check(theirs *hello) error {
	if err := h.identity.Check(theirs.identity); err != nil {
		return fmt.Errorf("%w: it %w", errStranger, err)
	}
	switch {
	case theirs.epoch != h.epoch:
		return fmt.Errorf("%w: it is of epoch %d, and this node of %d", errStranger, theirs.epoch, h.epoch)
	case theirs.from != h.to || theirs.to != h.from:
		return fmt.Errorf("%w: node %d speaks to node %d, where node %d was to speak to node %d",
			errStranger, theirs.from, theirs.to, h.to, h.from)
	default:
		return nil
	}
}

// fits returns an error unless the programs of both nodes know all that may be in either log: ErrOutdated if this one does
// not.
func (h *hello) fits(theirs *hello) error {
	switch {
	case !h.known.Covers(theirs.allowed):
		return fmt.Errorf("%w (node %d may have %v in its journal, and this program knows %v)", ErrOutdated, Number(theirs.from),
			theirs.allowed, h.known)
	case !theirs.known.Covers(h.allowed):
		return fmt.Errorf("node %d runs an older program, which knows %v, and the journal may have %v", Number(theirs.from),
			theirs.known, h.allowed)
	default:
		return nil
	}
}
