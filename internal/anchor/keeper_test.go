package anchor

import (
	"errors"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// failing is an anchor that fails with err, and keeps the newest record.
type failing struct {
	err  error
	kept *Record
}

func (f *failing) Load() (*Record, error) { return nil, ErrNone }

func (f *failing) Keep(r *Record) error {
	if f.err == nil {
		f.kept = r
	}
	return f.err
}

// TestKeeperSaysWhenItsAnchorIsAway keeps heads at an anchor that fails, comes back and
// falls silent.
func TestKeeperSaysWhenItsAnchorIsAway(t *testing.T) {
	now, place := time.Unix(1_800_000_000, 0), &failing{}
	k := NewKeeper(place, func() time.Time { return now }, time.Minute)
	if err := k.Load(); !errors.Is(err, ErrNone) || k.Record != nil {
		t.Fatalf("loaded %v (%v)", k.Record, err)
	}
	k.Record = &Record{}
	k.Follow(journal.Tip{Last: 3}, 0, journal.Hash{})

	for _, step := range []struct {
		name  string
		tip   bourse.Seq
		fails bool
		after time.Duration
		kept  bourse.Seq
		away  bool
	}{
		{"the first head", 3, false, 0, 3, false},
		{"not yet late", 4, false, time.Minute, 4, false},
		{"a failure", 5, true, 0, 4, true},
		{"back", 5, false, 0, 5, false},
	} {
		place.err = nil
		if step.fails {
			place.err = errors.New("away")
		}
		k.Note(journal.Tip{Last: step.tip})
		if err := k.Keep(); (err != nil) != step.fails {
			t.Errorf("%s: %v", step.name, err)
		}
		now = now.Add(step.after)
		if kept, since, err := k.Reached(); kept != step.kept || !step.fails && since != step.after || (err != nil) != step.away {
			t.Errorf("%s: kept %d, %v ago (%v)", step.name, kept, since, err)
		}
	}

	now = now.Add(time.Minute + 1)
	if _, _, err := k.Reached(); !errors.Is(err, errSilent) {
		t.Errorf("silent for more than a minute: %v", err)
	}
}

// TestKeeperAnchorsStates wants a state to count as anchored when it was kept, not before.
func TestKeeperAnchorsStates(t *testing.T) {
	place := &failing{err: errors.New("away")}
	k := NewKeeper(place, time.Now, time.Minute)
	k.Record = &Record{}
	k.Follow(journal.Tip{Last: 9}, 0, journal.Hash{})
	k.AddState(k.Tip(), journal.Hash{1})
	<-k.Soon()
	if k.Keep() == nil || k.Anchored(9) || k.State(9) == nil {
		t.Error("a state is anchored that was not kept")
	}
	place.err = nil
	if err := k.Keep(); err != nil || !k.Anchored(9) || place.kept.State(9).State != (journal.Hash{1}) {
		t.Errorf("a state is not anchored that was kept (%v)", err)
	}
}
