package raftlog

import (
	"errors"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// item is an entry of raft as the journal has it.
type item struct {
	entry *raftpb.Entry
	kind  journal.EntryKind
	// frame is the encoded frame, batch its content if it has commands.
	frame []byte
	batch journal.Batch
	// tip is the journal's tip behind the entry.
	tip journal.Tip
}

func (i *item) position() journal.Position {
	return journal.Position{Index: i.entry.GetIndex(), Term: i.entry.GetTerm()}
}

// newItem checks that an entry may follow a tip: the checksum of its frame, its sequence, its
// time, its term and the hash chain. A change of members must be one.
func newItem(e *raftpb.Entry, tip *journal.Tip) (item, error) {
	i := item{entry: e, tip: *tip}
	switch {
	case e.GetType() == raftpb.EntryNormal && len(e.GetData()) > 0:
		return i, i.check(tip)
	case e.GetType() == raftpb.EntryNormal:
		i.kind = journal.EntryEmpty
	case e.GetType() == raftpb.EntryConfChangeV2 && len(e.GetData()) <= journal.MaxFrame:
		i.kind = journal.EntryMembers
		if _, err := changeOf(e); err != nil {
			return i, err
		}
	default:
		return i, fmt.Errorf("entry %d is of type %v", e.GetIndex(), e.GetType())
	}

	f := journal.Frame{
		First: tip.Last + 1, Term: e.GetTerm(), Time: tip.Time, Previous: tip.Chain, Commands: e.GetData(),
	}
	i.frame, _ = f.Append(nil)
	return i, nil
}

// check reads a batch's frame.
func (i *item) check(tip *journal.Tip) error {
	i.kind, i.frame = journal.EntryBatch, i.entry.GetData()
	var f journal.Frame
	size, chain, err := journal.ParseFrame(i.frame, &f)
	switch {
	case err == nil && (size != len(i.frame) || f.Count == 0):
		err = errors.New("it is no batch")
	case err == nil && f.Term != i.entry.GetTerm():
		err = fmt.Errorf("its frame has term %d", f.Term)
	case err == nil:
		err = f.Follows(tip)
	}
	if err != nil {
		return fmt.Errorf("entry %d of term %d: %w", i.entry.GetIndex(), i.entry.GetTerm(), err)
	}

	i.batch = f.Batch(chain)
	i.tip = i.batch.Tip()
	return nil
}

// changeOf returns the change of members that an entry holds.
func changeOf(e *raftpb.Entry) (*raftpb.ConfChangeV2, error) {
	c := new(raftpb.ConfChangeV2)
	if err := proto.Unmarshal(e.GetData(), c); err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.GetIndex(), err)
	}
	return c, nil
}

// entryOf returns the entry of raft that an entry of the journal holds. Its data alias the
// entry's.
func entryOf(e *journal.Entry) *raftpb.Entry {
	r := &raftpb.Entry{Index: new(e.Index), Term: new(e.Frame.Term), Type: raftpb.EntryNormal.Enum()}
	switch e.Kind {
	case journal.EntryBatch:
		r.Data = e.Encoded
	case journal.EntryMembers:
		r.Type, r.Data = raftpb.EntryConfChangeV2.Enum(), e.Frame.Commands
	default:
	}
	return r
}
