package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// mostFrame bounds a frame's message, in bytes. The largest entry, a batch of journal.MaxFrame bytes
	// of commands, fits with its encoding.
	mostFrame = 2 * journal.MaxFrame
	// headSize is the size of the length before each frame, in bytes.
	headSize = 4
	// aroundEntry and aroundMessage are more than the encoding adds to an entry's data, and to a
	// message's entries, in bytes.
	aroundEntry   = 64
	aroundMessage = 256
)

var errFrame = errors.New("the bytes are no frame of a node")

// sizeOf returns an upper bound of the size of a message, in bytes.
func sizeOf(m *raftpb.Message) int {
	size := aroundMessage + len(m.GetContext())
	for _, e := range m.GetEntries() {
		size += cost(e)
	}
	return size
}

func cost(e *raftpb.Entry) int { return aroundEntry + len(e.GetData()) }

// split returns messages that each fit a frame and have the content of m together. Only entries can exceed
// a frame: their message becomes several, each of which continues at the end of its predecessor.
func split(m *raftpb.Message) []*raftpb.Message {
	entries := m.GetEntries()
	if sizeOf(m) <= mostFrame || m.GetType() != raftpb.MsgApp || len(entries) < 2 {
		return []*raftpb.Message{m}
	}

	var list []*raftpb.Message
	index, term := m.GetIndex(), m.GetLogTerm()
	for len(entries) > 0 {
		part := &raftpb.Message{
			Type: m.Type, From: m.From, To: m.To, Term: m.Term, Commit: m.Commit, Index: new(index), LogTerm: new(term),
		}
		n, size := 1, aroundMessage+cost(entries[0])
		for n < len(entries) && size+cost(entries[n]) <= mostFrame {
			size += cost(entries[n])
			n++
		}
		part.Entries = entries[:n]
		index, term, entries = entries[n-1].GetIndex(), entries[n-1].GetTerm(), entries[n:]
		list = append(list, part)
	}
	return list
}

// appendFrame appends the frame of a message.
func appendFrame(b []byte, m *raftpb.Message) ([]byte, error) {
	at := len(b)
	b, err := proto.MarshalOptions{}.MarshalAppend(append(b, make([]byte, headSize)...), m)
	if err != nil {
		return b[:at], err
	}
	size := len(b) - at - headSize
	if size > mostFrame {
		return b[:at], fmt.Errorf("a message of type %v has %d bytes, and %d are the most", m.GetType(), size, mostFrame)
	}
	binary.BigEndian.PutUint32(b[at:], uint32(size))
	return b, nil
}

// readFrame reads the message of the next frame.
func readFrame(r io.Reader) (*raftpb.Message, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > mostFrame {
		return nil, fmt.Errorf("%w: %d bytes", errFrame, size)
	}

	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	m := new(raftpb.Message)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return m, nil
}
