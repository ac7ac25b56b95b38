package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// magic begins each connection. Its last byte is the version of the protocol between nodes.
var magic = [8]byte{'b', 'o', 'u', 'r', 's', 'e', 'n', 1}

// errStranger means that the other end is no node of this cluster, or another node than the one that was dialed.
var errStranger = errors.New("the other end is no node of this cluster")

// hello is the first message of each end of a connection.
type hello struct {
	identity journal.Identity
	// epoch is the cluster's epoch. Nodes of another epoch are strangers.
	epoch    uint32
	from, to uint64
}

// helloSize is the size of a hello, in bytes.
const helloSize = len(magic) + 16 + 1 + 4 + 8 + 8

func (h *hello) bytes() []byte {
	b := append(make([]byte, 0, helloSize), magic[:]...)
	b = append(b, h.identity.Exchange[:]...)
	sandbox := byte(0)
	if h.identity.Sandbox {
		sandbox = 1
	}
	b = binary.BigEndian.AppendUint32(append(b, sandbox), h.epoch)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, h.from), h.to)
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
	return h, nil
}

// check returns an error unless theirs is what the node h.to answers to h.
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
