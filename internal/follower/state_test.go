package follower_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// batches is a reader of a few frames that ends with an error.
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

// trading returns the frames of an exchange in which two accounts trade, of one, two,
// three commands and so on.
func trading(n int) []journal.Batch {
	market := bourse.Market{
		Base: 1, Quote: 2, BasePrecision: 4, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
		InitialPrice: 200, MaxPrice: bourse.MaxPrice, Maker: 1000, Taker: 2000,
	}
	list := append(
		opening(), bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BBB", Name: "Second", Scale: 8, Enabled: true}},
		bourse.Command{Kind: bourse.CommandDefineMarket, Market: &market}, bourse.Command{Kind: bourse.CommandCreateAccount},
	)
	for i := range 4 {
		list = append(list, bourse.Command{
			Kind: bourse.CommandCredit, Account: bourse.AccountID(1 + i/2), AssetID: bourse.AssetID(1 + i%2), Amount: bourse.Units(1 << 60),
		})
	}
	for i := range n {
		if i%5 == 4 {
			list = append(list, bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(i)})
			continue
		}
		list = append(list, bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(1 + i%2), NewOrder: bourse.NewOrder{
			Market: 1, Side: bourse.Side(1 + i%2), Type: bourse.Limit, TIF: bourse.GTC, Price: bourse.Price(200 + i%7), Lots: bourse.Lots(1 + i%3),
		}})
	}
	var frames []journal.Batch
	for first := 0; first < len(list); {
		b := journal.Batch{First: bourse.Seq(first + 1), Count: min(len(frames)+1, len(list)-first), Time: bourse.Time(len(frames)+1) * bourse.Minute}
		for i := range b.Count {
			b.Commands = record.Append(b.Commands, &list[first+i])
		}
		first += b.Count
		frames = append(frames, b)
	}
	return frames
}

// voided voids one command.
func voided(seq bourse.Seq) bool { return seq == 20 }

// seen replays frames after a state, or from genesis, with observers.
func seen(t *testing.T, section sequencer.Section, frames []journal.Batch) (*engine.Engine, *view.View) {
	t.Helper()
	e, v := engine.New(), view.New()
	observers := []sequencer.Observer{v}
	if section != nil {
		var err error
		if e, err = sequencer.Restore(section, observers); err != nil {
			t.Fatal(err)
		}
	}
	s := sequencer.New(sequencer.Options{Engine: e, Observers: observers, Voided: voided})
	if err := s.Replay(&batches{frames, io.EOF}, nil); err != nil {
		t.Fatal(err)
	}
	return e, v
}

// TestAdvance wants the same state and the same views, wherever the observers begin.
func TestAdvance(t *testing.T) {
	frames := trading(3000)
	last := frames[len(frames)-1].Last()
	want, wantView := seen(t, nil, frames)
	if wantView.Ticker(1).Trades == 0 || len(wantView.OpenOrders(1, 0, 0, 0, 1000)) == 0 {
		t.Fatal("nothing was traded, or nothing rests")
	}
	var section sequencer.Section
	for to := bourse.Seq(0); to <= last+100; to += 97 {
		next := 0
		for next < len(frames) && frames[next].Last() <= to {
			next++
		}
		var err error
		// Every other state begins where the one before ended.
		if to%2 == 0 {
			section = nil
		}
		a := follower.Advance{Reader: &batches{frames, io.EOF}, To: to, Voided: voided}
		if section, err = a.From(section); err != nil {
			t.Fatal(err)
		}
		got, view := seen(t, section, frames[next:])
		if got.StateHash() != want.StateHash() {
			t.Errorf("to %d: another state", to)
		}
		for account := range bourse.AccountID(2) {
			if a, b := view.OpenOrders(account+1, 0, 0, 0, 1000), wantView.OpenOrders(account+1, 0, 0, 0, 1000); len(a) != len(b) || a[0] != b[0] {
				t.Errorf("to %d: account %d has other orders", to, account+1)
			}
		}
		if view.Ticker(1) != wantView.Ticker(1) || view.BookSeq(1) != wantView.BookSeq(1) || view.Now() != wantView.Now() {
			t.Errorf("to %d: %+v, not %+v", to, view.Ticker(1), wantView.Ticker(1))
		}
	}
	if state, _ := section(sequencer.EngineSection); !bytes.Equal(state, stateOf(want)) {
		t.Error("beyond the end there is another state")
	}
}

func stateOf(e *engine.Engine) []byte {
	b, _ := follower.State{Engine: e, Tape: view.NewTape()}.Section(sequencer.EngineSection)
	return b
}

// TestAdvanceFails wants the errors of the journal, and of a malformed state.
func TestAdvanceFails(t *testing.T) {
	frames := trading(100)
	advance := func(section sequencer.Section, list []journal.Batch, end error) error {
		a := follower.Advance{Reader: &batches{list, end}, To: 1000, Voided: voided}
		_, err := a.From(section)
		return err
	}
	if err := advance(nil, frames[:3], io.ErrNoProgress); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("an unreadable journal: %v", err)
	}
	frames[2].Commands = frames[2].Commands[:5]
	if err := advance(nil, frames, io.EOF); err == nil {
		t.Error("a frame that was cut was applied")
	}
	if err := advance(func(string) ([]byte, bool) { return nil, false }, nil, io.EOF); err == nil {
		t.Error("a snapshot without an engine was taken")
	}
}
