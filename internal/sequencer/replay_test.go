package sequencer_test

import (
	"io"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// batches is a journal that ends behind some frames, with an error.
type batches struct {
	list []journal.Batch
	end  error
}

func (b *batches) Next() (*journal.Batch, error) {
	if len(b.list) == 0 {
		return nil, b.end
	}
	next := &b.list[0]
	b.list = b.list[1:]
	return next, nil
}

func (*batches) Close() error { return nil }

// framed puts commands into frames of one, two, three and so on.
func framed(commands []bourse.Command) []journal.Batch {
	var list []journal.Batch
	for first := 0; first < len(commands); {
		b := journal.Batch{First: bourse.Seq(first + 1), Count: min(len(list)+1, len(commands)-first), Time: bourse.Minute}
		for i := range b.Count {
			b.Commands = record.Append(b.Commands, &commands[first+i])
		}
		first += b.Count
		list = append(list, b)
	}
	return list
}

// trading opens an exchange and has two accounts trade, with a cancel now and then.
func trading(n int) []bourse.Command {
	list := opening()
	for i := range n {
		if i%5 == 4 {
			list = append(list, bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(i)})
			continue
		}
		c := place(bourse.AccountID(1+i%2), bourse.Price(200+i%7), bourse.Lots(1+i%3))
		c.Place.Side = bourse.Side(1 + i%2)
		list = append(list, *c)
	}
	return list
}

// replayed is what a replay of frames left.
type replayed struct {
	seen    *observer
	hash    [32]byte
	applied bourse.Seq
	err     error
}

// replay lets a sequencer whose command 20 is void replay frames.
func replay(t *testing.T, r journal.Reader, how func(*sequencer.Sequencer, journal.Reader) error) replayed {
	t.Helper()
	e, seen := engine.New(), &observer{t: t}
	s := sequencer.New(sequencer.Options{
		Engine: e, Observers: []sequencer.Observer{seen}, Voided: func(seq bourse.Seq) bool { return seq == 20 },
	})
	err := how(s, r)
	return replayed{seen, e.StateHash(), s.Applied(), err}
}

func inline(s *sequencer.Sequencer, r journal.Reader) error { return s.Replay(r, nil) }

func beside(s *sequencer.Sequencer, r journal.Reader) error {
	return s.ReplayBeside(r, nil, func(observe func()) { go observe() })
}

// TestReplayBeside wants what a plain replay gives, also when the journal ends
// with an error or a frame that cannot be read: the observers have seen whatever
// the engine did.
func TestReplayBeside(t *testing.T) {
	list := framed(trading(3000))
	torn := slices.Clone(list)
	torn[len(torn)-2].Commands = torn[len(torn)-2].Commands[:40]
	for name, journal := range map[string]batches{
		"whole": {list, io.EOF}, "empty": {nil, io.EOF}, "unreadable": {list[:40], io.ErrNoProgress}, "torn": {torn, io.EOF},
	} {
		again := journal
		want, got := replay(t, &journal, inline), replay(t, &again, beside)
		if (want.err == nil) != (got.err == nil) || got.hash != want.hash || got.applied != want.applied {
			t.Errorf("%s: %v at %d, beside %v at %d", name, want.err, want.applied, got.err, got.applied)
		}
		if got.seen.frames != want.seen.frames || got.seen.inside != want.seen.inside ||
			!slices.Equal(got.seen.outcomes, want.seen.outcomes) || !slices.Equal(got.seen.kinds(), want.seen.kinds()) {
			t.Errorf("%s: the observers saw something else", name)
		}
	}
}
