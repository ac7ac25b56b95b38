package standby

import (
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// statesKept bounds the states that a node keeps. A copy may be some intervals behind.
const statesKept = 16

// State is the hash of the engine's state after a command.
type State struct {
	Seq  bourse.Seq `json:"seq"`
	Hash string     `json:"state_hash"`
	// Form is the version of the form that was hashed. Hashes of different forms say nothing of each other.
	Form uint32 `json:"form"`
}

// States holds the hashes of a node's state after the first frame of each interval of the journal's
// time: nodes with equal intervals hash at the same commands. Safe for concurrent use.
type States struct {
	// wanted reports whether the next state is worth its hash.
	wanted func() bool
	form   uint32

	mu sync.Mutex
	// every is the interval, zero if it is unknown; turn is the interval of the last frame.
	every, turn bourse.Time
	list        []State
}

// NewStates returns States that hash while wanted, in a form. They note nothing before SetInterval.
func NewStates(wanted func() bool, form uint32) *States { return &States{wanted: wanted, form: form} }

// SetInterval sets the interval. A new interval drops the list, because the other node hashes at other
// commands from then on.
func (s *States) SetInterval(every bourse.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if every != s.every {
		s.every, s.turn, s.list = every, 0, nil
	}
}

// Frame notes the state after a frame, if it is the first of an interval. Frames come in order.
func (s *States) Frame(tip *journal.Tip, hash func() [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.every == 0 {
		return
	}
	turn := tip.Time / s.every
	turned := s.turn != 0 && turn != s.turn // the first frame after a start may not be an interval's first
	s.turn = turn
	if !turned || !s.wanted() {
		return
	}

	sum := hash()
	if len(s.list) == statesKept {
		s.list = append(s.list[:0], s.list[1:]...)
	}
	s.list = append(s.list, State{tip.Last, hex.EncodeToString(sum[:]), s.form})
}

// List returns the states, oldest first.
func (s *States) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]State{}, s.list...)
}

// Compare returns the last command after which both lists have a state of the same form, zero if there is none. ErrState
// if two states after one command differ.
func (s *States) Compare(theirs []State) (last bourse.Seq, err error) {
	for _, own := range s.List() {
		for _, other := range theirs {
			if own.Seq != other.Seq || own.Form != other.Form {
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
