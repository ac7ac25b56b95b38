package audit

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Verification is the result of a successful verification.
type Verification struct {
	Exchange string     `json:"exchange"`
	Sandbox  bool       `json:"sandbox"`
	First    bourse.Seq `json:"first_seq"`
	Last     bourse.Seq `json:"last_seq"`
	Frames   uint64     `json:"frames"`
	Chain    string     `json:"chain"`
	// Snapshots lists the snapshots that are intact and on the chain.
	Snapshots []bourse.Seq `json:"snapshots"`
	// Voids lists the void commands.
	Voids []Void `json:"voids"`
}

// Verify reads every kept frame and snapshot. It checks checksums, the hash chain, the
// encoding of each command and, if known is not nil, the anchored heads. It returns a
// *journal.DamageError for damage, and journal.ErrCut for a truncated journal.
func (x *Exchange) Verify(known *anchor.Record) (*Verification, error) {
	v := &Verification{
		Exchange: fmt.Sprintf("%x", x.Identity.Exchange), Sandbox: x.Identity.Sandbox,
		Snapshots: []bourse.Seq{}, Voids: x.voided(),
	}
	heads, err := x.compare(known)
	if err != nil {
		return nil, err
	}
	snapshots, err := x.Snapshots.List()
	if err != nil {
		return nil, err
	}

	tip := journal.Tip{}
	chains := map[bourse.Seq]journal.Hash{}
	for _, at := range snapshots {
		chains[at] = journal.Hash{}
	}

	err = x.Frames(func(b *journal.Batch) error {
		if v.Frames == 0 {
			v.First = b.First
		}
		v.Frames++
		v.Last, v.Chain = b.Last(), fmt.Sprintf("%x", b.Chain)
		tip = b.Tip()
		heads.frame(b.Last(), b.Chain)
		if _, wanted := chains[b.Last()]; wanted {
			chains[b.Last()] = b.Chain
		}
		return readable(b)
	})
	if err != nil {
		return nil, err
	}

	heads.end(v.First, tip)
	if err := errors.Join(heads.err(), x.checkVoids(v.Last)); err != nil {
		return nil, err
	}

	for _, at := range snapshots {
		s, err := x.load(at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		if at > v.Last {
			return nil, fmt.Errorf("%w: there is a snapshot at %d, and the journal ends at %d", journal.ErrCut, at,
				v.Last)
		}
		heads.snapshot(s)
		if at >= v.First && s.Header.Tip.Chain != chains[at] {
			return nil, fmt.Errorf("the snapshot at %d is not of this journal", at)
		}
		v.Snapshots = append(v.Snapshots, at)
	}
	return v, heads.err()
}

// readable decodes the commands of a frame.
func readable(b *journal.Batch) error {
	var cmd bourse.Command
	return each(b, &cmd, nil, func() error { return nil })
}

// Frames visits every kept frame.
func (x *Exchange) Frames(visit func(*journal.Batch) error) (err error) {
	from := bourse.Seq(1)
	stub, err := x.Files.Stub()
	if err != nil {
		return err
	}
	if stub != nil {
		from = stub.Seq + 1
	}

	reader, err := x.Files.Read(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()

	for {
		b, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(b)
		}
		if err != nil {
			return err
		}
	}
}

// Entry is one command in the output of `journal dump`.
type Entry struct {
	Seq     bourse.Seq `json:"seq"`
	Time    string     `json:"time"`
	Term    uint64     `json:"term"`
	Command string     `json:"command"`
	Voided  bool       `json:"voided,omitempty"`
}

// Dump calls tell for the commands from one sequence to another.
func (x *Exchange) Dump(from, to bourse.Seq, tell func(Entry) error) error {
	var cmd bourse.Command
	return x.Frames(func(b *journal.Batch) error {
		if b.Last() < from || b.First > to {
			return nil
		}
		return each(b, &cmd, nil, func() error {
			if cmd.Seq < from || cmd.Seq > to {
				return nil
			}
			return tell(Entry{
				cmd.Seq, b.Time.Std().Format(time.RFC3339Nano), b.Term, record.Describe(&cmd),
				x.Voids.Has(cmd.Seq),
			})
		})
	})
}

// StateReport is a state hash and its comparison with the snapshots.
type StateReport struct {
	Seq       bourse.Seq       `json:"seq"`
	Commands  uint64           `json:"commands"`
	StateHash string           `json:"state_hash"`
	Seconds   float64          `json:"seconds"`
	Snapshots []SnapshotReport `json:"snapshots"`
}

// SnapshotReport is the comparison with one snapshot.
type SnapshotReport struct {
	Seq bourse.Seq `json:"seq"`
	// Agrees is true if the replay from the beginning reached the snapshot's state hash
	// at its sequence, and a replay from the snapshot ends in the same state as the one
	// from the beginning.
	Agrees bool `json:"agrees"`
}

// States replays the journal from its beginning and from each snapshot. now times the
// first replay.
func (x *Exchange) States(to bourse.Seq, now func() time.Time) (*StateReport, error) {
	snapshots, err := x.Snapshots.List()
	if err != nil {
		return nil, err
	}
	passed := map[bourse.Seq][32]byte{}
	for _, at := range snapshots {
		passed[at] = [32]byte{}
	}

	began := now()
	end, err := x.Replay(to, func(e *engine.Engine, cmd *bourse.Command, _ *bourse.Events) error {
		if _, wanted := passed[cmd.Seq]; wanted {
			passed[cmd.Seq] = e.StateHash()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	hash := end.Engine.StateHash()
	r := &StateReport{
		Seq: end.Engine.Seq(), Commands: uint64(end.Engine.Seq()), StateHash: fmt.Sprintf("%x", hash),
		Seconds: now().Sub(began).Seconds(), Snapshots: []SnapshotReport{},
	}

	for _, at := range snapshots {
		if at > end.Engine.Seq() {
			continue
		}
		s, err := x.load(at)
		if err != nil {
			return nil, err
		}
		if s == nil || !reads(s) {
			continue
		}
		agrees, err := x.agrees(s, end.Engine.Seq(), passed[at], hash)
		if err != nil {
			return nil, err
		}
		r.Snapshots = append(r.Snapshots, SnapshotReport{at, agrees})
	}
	return r, nil
}

func (x *Exchange) agrees(s *journal.Snapshot, to bourse.Seq, passed, last [32]byte) (bool, error) {
	if s.Header.State != journal.Hash(passed) {
		return false, nil
	}
	end, err := x.replayFrom(s, to)
	if err != nil {
		return false, err
	}
	return end.Engine.StateHash() == last, nil
}
