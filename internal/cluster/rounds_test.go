package cluster

import "testing"

// TestRounds lets those who ask while a round is under way wait for the next one: the answers to this one may have
// been sent before they asked.
func TestRounds(t *testing.T) {
	r := rounds{asked: make(chan struct{}, 1)}
	var asked []uint64
	ask := func(round uint64) error {
		asked = append(asked, round)
		return nil
	}
	ended := func(x *round) bool {
		select {
		case <-x.done:
			return true
		default:
			return false
		}
	}

	first := r.join()
	if !r.turn(0, ask) || r.turn(0, ask) || ended(first) {
		t.Fatalf("rounds %v have begun, the first one ended: %t", asked, ended(first))
	}
	second, third := r.join(), r.join()
	if !r.turn(1, ask) || !ended(first) || ended(second) {
		t.Errorf("rounds %v have begun, ended %t and %t", asked, ended(first), ended(second))
	}
	if r.turn(2, ask); !ended(second) || !ended(third) || len(asked) != 2 {
		t.Errorf("rounds %v have begun, ended %t and %t", asked, ended(second), ended(third))
	}
	if r.turn(2, ask) {
		t.Error("a round has begun that nobody waits for")
	}
}
