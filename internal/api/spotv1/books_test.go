package spotv1

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

var btc = &bourse.Market{ID: 1, BasePrecision: 6, QuotePrecision: 2}

// shelf is a view of one market whose book the test changes.
type shelf struct {
	*testing.T
	view  *view.View
	books books
	seq   uint64
}

func (s *shelf) level(side bourse.Side, price bourse.Price, lots bourse.Lots) {
	s.seq++
	ev := &bourse.Events{
		List:   []bourse.Event{{Kind: bourse.EventLevel}},
		Levels: []bourse.Level{{Market: btc.ID, Side: side, Price: price, Lots: lots, Seq: s.seq}},
	}
	s.view.Begin()
	s.view.Observe(&bourse.Command{Kind: bourse.CommandPlace, Seq: bourse.Seq(s.seq), Time: 1}, ev)
	s.view.End()
}

// book has the fields of an answer.
type book struct {
	Success    bool
	Bids, Asks []struct{ Price, Amount string }
	Seq        uint64
}

func (s *shelf) read(depth int) (b book, text []byte) {
	s.Helper()
	text = s.books.read(s.view, btc, depth).cut(depth)
	if err := json.Unmarshal(text, &b); err != nil || !b.Success {
		s.Fatalf("%v: %.200s", err, text)
	}
	return b, text
}

// TestBookIsEncodedOnce checks that all requests at one sequence share the bytes, and
// that the first one after a change gets the new book.
func TestBookIsEncodedOnce(t *testing.T) {
	s := &shelf{T: t, view: view.New()}
	for i := range 300 {
		s.level(bourse.Buy, bourse.Price(10_000-i), 5)
		s.level(bourse.Sell, bourse.Price(20_000+2*i), 7)
	}

	for _, depth := range []int{100, 1000, allLevels} {
		_, first := s.read(depth)
		_, second := s.read(depth)
		if &first[0] != &second[0] {
			t.Errorf("depth %d was encoded twice", depth)
		}
	}

	_, old := s.read(allLevels)
	s.level(bourse.Buy, 10_001, 3)
	got, text := s.read(allLevels)
	if &text[0] == &old[0] || got.Seq != s.seq || got.Bids[0].Price != "100.01" || got.Bids[0].Amount != "0.000003" {
		t.Errorf("behind a change: %d %v, want %d", got.Seq, got.Bids[0], s.seq)
	}
}

// TestDepth checks that each side has the requested number of best levels.
func TestDepth(t *testing.T) {
	s := &shelf{T: t, view: view.New()}
	if got, _ := s.read(5); len(got.Bids)+len(got.Asks) != 0 {
		t.Errorf("an empty book has %v", got)
	}
	for i := range 1500 {
		s.level(bourse.Buy, bourse.Price(10_000-i), 5)
		if i < 120 {
			s.level(bourse.Sell, bourse.Price(20_000+2*i), 7)
		}
	}

	whole, _ := s.read(allLevels)
	if len(whole.Bids) != 1500 || len(whole.Asks) != 120 || whole.Seq != s.seq {
		t.Fatalf("%d bids and %d asks at %d", len(whole.Bids), len(whole.Asks), whole.Seq)
	}
	for _, depth := range []int{1, 2, 99, 100, 101, 119, 120, 121, 999, 1000, 1001, 1499, 1500, 1501, maxDepth} {
		got, _ := s.read(depth)
		if got.Seq != whole.Seq || !slices.Equal(got.Bids, whole.Bids[:min(depth, 1500)]) ||
			!slices.Equal(got.Asks, whole.Asks[:min(depth, 120)]) {
			t.Errorf("depth %d: %d bids and %d asks at %d", depth, len(got.Bids), len(got.Asks), got.Seq)
		}
	}
}

// TestBookIsNeverOld reads concurrently while the book changes: no answer is older than
// its request.
func TestBookIsNeverOld(t *testing.T) {
	s := &shelf{T: t, view: view.New()}
	s.level(bourse.Buy, 1, 1)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				asked := s.view.BookSeq(btc.ID)
				if got, _ := s.read(allLevels); got.Seq < asked {
					t.Errorf("asked at %d, answered with %d", asked, got.Seq)
					return
				}
			}
		})
	}
	for i := range 5000 {
		s.level(bourse.Buy, bourse.Price(1+i%50), bourse.Lots(1+i))
	}
	close(stop)
	clients.Wait()
}
