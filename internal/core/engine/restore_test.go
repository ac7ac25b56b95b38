package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// snapshotOf returns the state of a workload after so many commands.
func snapshotOf(tb testing.TB, seed enginetest.Seed, n int) []byte {
	tb.Helper()
	p := enginetest.NewPair()
	w := enginetest.NewWorkload(&seed, p.Oracle)
	for range n {
		cmd := w.Next()
		if err := p.Apply(&cmd); err != nil {
			tb.Fatal(err)
		}
	}
	return snapshot(p.Engine)
}

func snapshot(e *engine.Engine) []byte {
	var all []byte
	e.Snapshot(func(b []byte) { all = append(all, b...) })
	return all
}

// TestVersionIsDescribed compares the version of the state with docs/format/snapshot.md.
func TestVersionIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/format/snapshot.md")
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("| `engine` | %d |", binary.LittleEndian.Uint32(snapshot(engine.New())))
	if !strings.Contains(string(page), row) {
		t.Errorf("the page has no row %s", row)
	}
}

// hostile restores bytes of unknown origin: it may fail, and if it does not, the
// engine writes the same bytes, keeps its invariants and takes commands.
func hostile(tb testing.TB, data []byte) bool {
	tb.Helper()
	e, err := engine.Restore(data, func(*bourse.Events) {})
	if err != nil {
		return false
	}
	if err := e.Check(); err != nil {
		tb.Fatalf("restored against an invariant: %v", err)
	}
	if !bytes.Equal(snapshot(e), data) {
		tb.Fatal("restored from bytes that it does not write")
	}
	var ev bourse.Events
	for range 3 {
		e.Apply(&bourse.Command{Seq: e.Seq() + 1, Time: e.Now(), Kind: bourse.CommandContinue}, &ev)
	}
	if err := e.Check(); err != nil {
		tb.Fatalf("after a Continue: %v", err)
	}
	return true
}

// TestRestoreDamaged flips each byte of snapshots, cuts them at each place, and
// puts extreme numbers everywhere.
func TestRestoreDamaged(t *testing.T) {
	step := 5
	if testing.Short() {
		step = 41
	}
	for seed := enginetest.Seed(1); seed <= 4; seed++ {
		good := snapshotOf(t, seed, 150)
		if !hostile(t, good) {
			t.Fatal("a good snapshot does not restore")
		}
		for at := 0; at < len(good); at += step {
			damaged := slices.Clone(good)
			damaged[at] ^= 1 << (at % 8)
			hostile(t, damaged)
			if hostile(t, good[:at]) {
				t.Errorf("a snapshot restores that was cut at %d", at)
			}
			for _, n := range []uint64{0, 1, 1 << 46, 1 << 62, 1<<63 - 1, ^uint64(0)} {
				if at+8 <= len(good) {
					copy(damaged, good)
					binary.LittleEndian.PutUint64(damaged[at:], n)
					hostile(t, damaged)
				}
			}
		}
		if hostile(t, append(slices.Clone(good), 0)) {
			t.Error("a snapshot restores that has a byte too many")
		}
	}
}

// TestRestoreVersion wants older and newer versions of the form to be refused by name.
func TestRestoreVersion(t *testing.T) {
	data := snapshot(engine.New())
	for _, version := range []byte{1, data[0] + 1} {
		data[0] = version
		_, err := engine.Restore(data, func(*bourse.Events) {})
		if want := fmt.Sprintf("state version %d is not known", version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %d is refused with %v", version, err)
		}
	}
}

// spoils are orders that no command can make: 1 rests, 2 waits, 3 rests with a client id, 4
// waits to buy by total and 5 to buy an amount, at the market. 6 rests and 7 waits; they are a
// list.
var spoils = map[string]struct {
	id     bourse.OrderID
	change func(engine.Spoilt)
}{
	"a stop that waits and fired":      {2, func(o engine.Spoilt) { o.Triggered = true }},
	"a limit order that fired":         {1, func(o engine.Spoilt) { o.Triggered = true }},
	"a stop that waits and traded":     {2, func(o engine.Spoilt) { o.Filled = 1 }},
	"a stop without a stop":            {2, func(o engine.Spoilt) { o.Stop.Price = 0 }},
	"a stop that is a limit order":     {2, func(o engine.Spoilt) { o.Type = bourse.Limit }},
	"a stop that rests and waits":      {2, func(o engine.Spoilt) { o.State = book.Resting }},
	"an order in no place":             {1, func(o engine.Spoilt) { o.State = book.Taking }},
	"an IOC order that rests":          {1, func(o engine.Spoilt) { o.TIF = bourse.IOC }},
	"a MARKET order that rests":        {1, func(o engine.Spoilt) { o.Type = bourse.MarketOrder }},
	"an order of no type":              {1, func(o engine.Spoilt) { o.Type = 9 }},
	"an order of no side":              {1, func(o engine.Spoilt) { o.Side = 3 }},
	"an order on the other side":       {1, func(o engine.Spoilt) { o.Side = bourse.Buy }},
	"an order that is filled":          {1, func(o engine.Spoilt) { o.Filled = o.Lots }},
	"an order of another size":         {1, func(o engine.Spoilt) { o.Lots++ }},
	"an order that is too large":       {1, func(o engine.Spoilt) { o.Lots = bourse.MaxLots + 1 }},
	"an order of another price":        {1, func(o engine.Spoilt) { o.Price = bourse.MaxPrice + 1 }},
	"an order of no mode":              {1, func(o engine.Spoilt) { o.SelfTrade = 0 }},
	"an order of nobody":               {1, func(o engine.Spoilt) { o.Account = 3 }},
	"an order of somebody else":        {1, func(o engine.Spoilt) { o.Account = 2 }},
	"an order on no market":            {1, func(o engine.Spoilt) { o.Market = 2 }},
	"an order from the future":         {1, func(o engine.Spoilt) { o.Time = 1 << 60 }},
	"an order from before the epoch":   {1, func(o engine.Spoilt) { o.Time = -1 }},
	"an ordinal that was never given":  {1, func(o engine.Spoilt) { o.Ordinal = 99 }},
	"an order without an ordinal":      {1, func(o engine.Spoilt) { o.Ordinal = 0 }},
	"an id that was never given":       {3, func(o engine.Spoilt) { o.ID = 99 }},
	"an order without an id":           {1, func(o engine.Spoilt) { o.ID = 0 }},
	"an order that is named by nobody": {1, func(o engine.Spoilt) { o.Named = true }},
	"a name without its order":         {3, func(o engine.Spoilt) { o.Named = false }},
	"a total that sells":               {4, func(o engine.Spoilt) { o.Side = bourse.Sell }},
	"a total of nothing":               {4, func(o engine.Spoilt) { o.Stop.Total = bourse.Amount{} }},
	"a total and an amount":            {4, func(o engine.Spoilt) { o.Lots = 1 }},
	"a total with a price":             {4, func(o engine.Spoilt) { o.Type = bourse.StopLimit; o.Price = 1 }},
	"a cap of a total":                 {4, func(o engine.Spoilt) { o.Price = 1 }},
	"an amount without a cap":          {5, func(o engine.Spoilt) { o.Price = 0 }},
	"a cap beyond all prices":          {5, func(o engine.Spoilt) { o.Price = bourse.MaxPrice + 1 }},
	"a cap that sells":                 {5, func(o engine.Spoilt) { o.Side = bourse.Sell }},
	"a MARKET order that waited": {5, func(o engine.Spoilt) {
		o.State, o.Triggered = book.Resting, true
	}},
	"an order with an unknown change":          {1, func(o engine.Spoilt) { o.Changed = book.AllChanges + 1 }},
	"an order of which nothing was prevented":  {1, func(o engine.Spoilt) { o.Prevent(0) }},
	"an order of which too much was prevented": {1, func(o engine.Spoilt) { o.Prevent(bourse.MaxLots) }},
	"a stop of which a part was prevented":     {2, func(o engine.Spoilt) { o.Prevent(1) }},
	"an order of a list that traded":           {6, func(o engine.Spoilt) { o.Filled = 1 }},
	"an order of a list that fired":            {7, func(o engine.Spoilt) { o.State, o.Triggered = book.Resting, true }},
	"an order of a list without one":           {6, func(o engine.Spoilt) { o.Listed = false }},
	"a list of another id":                     {6, func(o engine.Spoilt) { o.Leg.List = 5 }},
	"a list that is its second order":          {7, func(o engine.Spoilt) { o.Leg.List = 7 }},
	"a list of two accounts":                   {7, func(o engine.Spoilt) { o.Account = 2 }},
	"a list of two sides":                      {7, func(o engine.Spoilt) { o.Side = bourse.Buy }},
	"a list that holds too little":             {7, func(o engine.Spoilt) { o.Lots = 3 }},
	"a list of which one order is alone":       {6, func(o engine.Spoilt) { o.Leg.Other = 0 }},
	"a list of two that rest":                  {7, func(o engine.Spoilt) { o.Type, o.State = bourse.Limit, book.Resting }},
	"an order of a list that is open to nobody": {1, func(o engine.Spoilt) {
		o.Listed, o.Leg.List = true, 7
	}},
}

// TestRestoreSpoiled wants states that no command leads to not to restore,
// although each byte of them is well formed.
func TestRestoreSpoiled(t *testing.T) {
	for name, spoil := range spoils {
		e := engine.New()
		var ev bourse.Events
		for _, cmd := range enginetest.Opening() {
			if cmd.Market != nil {
				cmd.Market.Collar = bourse.RateOne / 10
			}
			cmd.Seq = e.Seq() + 1
			e.Apply(&cmd, &ev)
		}
		sell := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 2}
		stop, named := sell, sell
		stop.Type, stop.Stop = bourse.StopLimit, 90
		named.ClientID = bourse.ClientID{'a'}
		total := bourse.NewOrder{
			Market: 1, Side: bourse.Buy, Type: bourse.StopMarket, TIF: bourse.GTC, Stop: 200, Total: bourse.Units(9),
		}
		amount := total
		amount.Total, amount.Lots = bourse.Amount{}, 2
		for _, p := range []bourse.NewOrder{sell, stop, named, total, amount} {
			e.Apply(&bourse.Command{Seq: e.Seq() + 1, Kind: bourse.CommandPlace, Account: 1, NewOrder: p}, &ev)
		}
		list := &bourse.NewList{Type: bourse.OCO, Orders: []bourse.NewOrder{sell, stop}}
		e.Apply(&bourse.Command{Seq: e.Seq() + 1, Kind: bourse.CommandPlaceList, Account: 1, List: list}, &ev)
		if _, err := engine.Restore(snapshot(e), func(*bourse.Events) {}); err != nil {
			t.Fatal(err)
		}
		e.Spoil(spoil.id, spoil.change)
		if _, err := engine.Restore(snapshot(e), func(*bourse.Events) {}); !errors.Is(err, engine.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRestore looks for bytes that make Restore panic, or restore what no
// engine could have written.
func FuzzRestore(f *testing.F) {
	f.Add(snapshot(engine.New()))
	for seed := enginetest.Seed(1); seed <= 3; seed++ {
		f.Add(snapshotOf(f, seed, 60))
	}
	for seed := uint64(1); seed <= 3; seed++ {
		m := newWalletModel(f, seed)
		for range 40 * seed {
			m.step()
		}
		f.Add(snapshot(m.e))
	}
	f.Fuzz(func(t *testing.T, data []byte) { shake(t, data) })
}

// TestEveryStateComesBack restores the state after every command, and wants the same
// state hash and the same bytes.
func TestEveryStateComesBack(t *testing.T) {
	for seed := enginetest.Seed(1); seed <= 4; seed++ {
		src, p := seed, enginetest.NewPair()
		w := enginetest.NewWorkload(&src, p.Oracle)
		for range 400 {
			cmd := w.Next()
			if err := errors.Join(p.Apply(&cmd), p.Restore()); err != nil {
				t.Fatalf("seed %d: %v\n%+v", seed, err, cmd)
			}
		}
	}
	for seed := uint64(1); seed <= 4; seed++ {
		m := newWalletModel(t, seed)
		for range 200 {
			m.step()
			again, err := engine.Restore(snapshot(m.e), func(*bourse.Events) {})
			if err != nil || again.StateHash() != m.e.StateHash() {
				t.Fatalf("seed %d, command %d: %v", seed, m.e.Seq(), err)
			}
		}
	}
}
