package cluster

import (
	"bytes"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// appendOf returns an append behind position 7 of term 3, of entries with these sizes.
func appendOf(sizes ...int) *raftpb.Message {
	m := &raftpb.Message{
		Type: raftpb.MsgApp.Enum(), From: new(uint64(1)), To: new(uint64(2)), Term: new(uint64(5)),
		Index: new(uint64(7)), LogTerm: new(uint64(3)), Commit: new(uint64(6)),
	}
	for i, size := range sizes {
		m.Entries = append(m.Entries, &raftpb.Entry{
			Index: new(uint64(8 + i)), Term: new(uint64(4 + i/3)), Type: raftpb.EntryNormal.Enum(),
			Data: bytes.Repeat([]byte{byte(i)}, size),
		})
	}
	return m
}

// TestSplit sends appends of many sizes through frames: each frame is bounded, each message continues
// the one before, and together they have all entries.
func TestSplit(t *testing.T) {
	full := journal.FrameSize(journal.MaxFrame)
	for _, c := range []struct {
		name   string
		sizes  []int
		frames int
	}{
		{"none", nil, 1},
		{"small", []int{1, 2, 3}, 1},
		{"one of the most", []int{full}, 1},
		{"two of the most", []int{full, full}, 2},
		{"many", []int{full, 1, 1, full, full / 2, full / 2, full, 0}, 3},
		{"a thousand", make([]int, 9000), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := appendOf(c.sizes...)
			list := split(m)
			if len(list) != c.frames {
				t.Errorf("%d frames, not %d", len(list), c.frames)
			}

			index, term, entries := m.GetIndex(), m.GetLogTerm(), m.GetEntries()
			for _, part := range list {
				got := reread(t, part)
				if got.GetIndex() != index || got.GetLogTerm() != term || got.GetCommit() != 6 || got.GetTerm() != 5 {
					t.Fatalf("a part behind %d of term %d is behind %d of term %d", index, term, got.GetIndex(), got.GetLogTerm())
				}
				for _, e := range got.GetEntries() {
					if !proto.Equal(e, entries[0]) {
						t.Fatalf("entry %d is another one", e.GetIndex())
					}
					index, term, entries = e.GetIndex(), e.GetTerm(), entries[1:]
				}
			}
			if len(entries) > 0 {
				t.Errorf("%d entries are missing", len(entries))
			}
		})
	}
}

// reread writes a message as a frame and reads it.
func reread(t *testing.T, m *raftpb.Message) *raftpb.Message {
	t.Helper()
	b, err := appendFrame(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readFrame(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFrameBound wants no frame above the bound, written or read.
func TestFrameBound(t *testing.T) {
	if b, err := appendFrame([]byte("x"), appendOf(mostFrame)); err == nil || string(b) != "x" {
		t.Errorf("a frame above the bound is written: %d bytes, %v", len(b), err)
	}
	for _, head := range [][]byte{{0, 0, 0, 0}, {0, 8, 0, 1}, {255, 255, 255, 255}, {0, 0}} {
		if _, err := readFrame(bytes.NewReader(head)); err == nil {
			t.Errorf("a frame that begins with %v is read", head)
		}
	}
}

// FuzzFrame reads frames and hellos: nothing panics, and what is read is written as it was meant.
func FuzzFrame(f *testing.F) {
	for _, m := range []*raftpb.Message{appendOf(), appendOf(3, 200), {Type: raftpb.MsgHeartbeat.Enum(), Context: []byte("c")}} {
		b, err := appendFrame(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	own := hello{identity: journal.Identity{Exchange: [16]byte{9}, Sandbox: true}, epoch: 1, from: 2, to: 3, known: Known(), allowed: unannounced}
	f.Add(own.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := readHello(bytes.NewReader(b)); err == nil && !bytes.Equal(h.bytes(), b[:helloSize]) {
			t.Errorf("hello %+v is written otherwise", h)
		}
		m, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		if again := reread(t, m); !proto.Equal(m, again) {
			t.Errorf("%v became %v", m, again)
		}
		for _, part := range split(m) {
			reread(t, part)
		}
	})
}
