package standby

import (
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// statesKept bounds the states that a node remembers: enough for a copy that is some intervals
// behind.
const statesKept = 16

// State is the hash of the engine's state after a command.
type State struct {
	Seq  bourse.Seq `json:"seq"`
	Hash string     `json:"state_hash"`
}

// States are the hashes of a node's state at the same commands as on any other node: after the
// first frame of each interval of the journal's time. Safe for concurrent use.
type States struct {
	// Every is the interval. Wanted reports whether the next state is worth its hash.
	Every  bourse.Time
	Wanted func() bool

	mu   sync.Mutex
	turn bourse.Time
	list []State
}

// Frame notes the state after a frame, if it is the first of an interval. Frames come in order.
func (s *States) Frame(tip *journal.Tip, hash func() [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := tip.Time / s.Every
	turned := s.turn != 0 && turn != s.turn // the first frame after a start may not be an interval's first
	s.turn = turn
	if !turned || !s.Wanted() {
		return
	}

	sum := hash()
	if len(s.list) == statesKept {
		s.list = append(s.list[:0], s.list[1:]...)
	}
	s.list = append(s.list, State{tip.Last, hex.EncodeToString(sum[:])})
}

// List returns the states, oldest first.
func (s *States) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]State{}, s.list...)
}

// Compare returns the last command whose state other nodes noted as well, or zero, and an error if
// one of theirs is another.
func (s *States) Compare(theirs []State) (last bourse.Seq, err error) {
	for _, own := range s.List() {
		for _, other := range theirs {
			if own.Seq != other.Seq {
				continue
			}
			if own.Hash != other.Hash {
				return own.Seq, fmt.Errorf("%w: after command %d it is %s here and %s at the source", ErrState, own.Seq, own.Hash, other.Hash)
			}
			last = own.Seq
		}
	}
	return last, nil
}
