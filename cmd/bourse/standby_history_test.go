package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bourse-exchange/bourse/client"
)

// parted is a market's level in an exchange that has a copy. The copy has what the exchange did up to some
// operation: kept is the level there, now that of the exchange, and cut is true once the copy lacks an operation.
type parted struct {
	now, kept level
	cut       bool
}

// step returns the states that may follow an operation with such an outcome.
func (p parted) step(in wanted, out outcome) (next []any) {
	switch {
	case in.deed == promoteOne:
		return []any{parted{p.kept, p.kept, false}}
	case out.unanswered:
		return append(p.after(p.now.unanswered(in), true), p)
	}
	if ok, now := p.now.step(in, out); ok {
		return p.after(now, out.losable)
	}
	return nil
}

// after returns the states behind an operation that leads to a level, which the copy lacks or has.
func (p parted) after(now level, losable bool) (next []any) {
	if !p.cut {
		next = append(next, parted{now, now, false})
	}
	if losable && (p.cut || now != p.now) {
		next = append(next, parted{now, p.kept, true})
	}
	return next
}

// unanswered returns the level behind an operation whose answer nobody knows.
func (l level) unanswered(in wanted) level {
	ids := l.ids()
	switch in.deed {
	case placeOne:
		return level{l.total, l.highest, l.open + idText([]uint64{unknownID})}
	case cancelOne:
		if at := slices.Index(ids, in.order); at >= 0 {
			return level{l.total, l.highest, idText(slices.Delete(ids, at, at+1))}
		}
	case takeOne:
		if len(ids) > 0 {
			return level{l.total - 1, l.highest, idText(ids[1:])}
		}
	default: // a read
	}
	return l
}

// partedFrom is the model of histories that begin in a state, and in which a copy is promoted. What the copy has is a
// prefix of what was done, and all that was not losable.
func partedFrom(first level) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{parted{now: first, kept: first}} },
		Step: func(state, in, out any) []any { return state.(parted).step(in.(wanted), out.(outcome)) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%s %+v: %+v", deeds[in.(wanted).deed], in, out)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return model.ToModel()
}

// promoted notes that a copy was promoted that was whole as of a time. The clients have ended.
func (p *pit) promoted(asOf time.Time) {
	whole, ended := int64(asOf.Sub(p.began)), int64(time.Since(p.began))
	for i := range p.history {
		o := &p.history[i]
		out := o.Output.(outcome)
		out.losable = o.Return > whole
		o.Output, o.Return = out, min(o.Return, ended)
	}
	p.placed = nil
	p.history = append(p.history, porcupine.Operation{
		ClientId: pitClients, Input: wanted{deed: promoteOne}, Output: outcome{}, Call: ended + 1, Return: ended + 2,
	})
}

// crowd are the pits of an exchange with a standby.
type crowd struct {
	t    *testing.T
	pits []*pit
	// asked counts the operations whose histories were checked.
	asked int
}

// newCrowd opens pits.
func newCrowd(s *server) *crowd {
	s.t.Helper()
	c := &crowd{t: s.t}
	for i := range ringPits {
		p, _ := openPit(s.t.Context(), s, 10+i, func() {})
		c.pits = append(c.pits, p)
	}
	return c
}

// work lets the clients trade at a URL until end is called, which waits for them.
func (c *crowd) work(url string, round int) (end func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	var all sync.WaitGroup
	for i, p := range c.pits {
		p.ctx = ctx
		p.enter(wayTo(c.t, url))
		all.Go(func() { p.work(round, uint64(i), ctx.Done()) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// wayTo returns clients of an exchange on one node.
func wayTo(t *testing.T, url string) func(key string, _ int) *roamer {
	return func(key string, _ int) *roamer {
		api, err := client.New(url, client.Options{Key: key})
		must(t, err)
		t.Cleanup(api.Close)
		return &roamer{nodes: []*client.Client{api}}
	}
}

// decide wants each history to be possible, up to what the exchange at a URL answers that was promoted. Its copy was
// whole as of a time.
func (c *crowd) decide(url string, asOf time.Time) {
	c.t.Helper()
	for _, p := range c.pits {
		c.asked += len(p.history)
		p.promoted(asOf)
		p.ctx = c.t.Context()
		p.enter(wayTo(c.t, url))
		p.conclude(c.t, partedFrom(p.start))

		p.start.highest = 0 // ids of lost orders are given again
		clear(p.acked)
	}
}

// TestPartedModel checks that the model of a promoted copy rejects impossible histories: three orders were placed, the
// third after the time as of which the copy was whole.
func TestPartedModel(t *testing.T) {
	type told struct {
		in  wanted
		out outcome
	}
	promote := told{wanted{deed: promoteOne}, outcome{}}
	sees := func(open string) told { return told{wanted{deed: readOpen}, outcome{open: open}} }
	late := func(one told) told {
		one.out.losable = true
		return one
	}
	places := func(id uint64) told { return told{wanted{deed: placeOne}, outcome{order: id}} }
	silent := told{wanted{deed: placeOne}, outcome{unanswered: true, losable: true}}

	for why, c := range map[string]struct {
		history []told
		ok      bool
	}{
		"all is there":                    {[]told{promote, sees("7 8 9 ")}, true},
		"the last one is lost":            {[]told{promote, sees("7 8 ")}, true},
		"one that the copy had is lost":   {[]told{promote, sees("7 ")}, false},
		"one in the middle is lost":       {[]told{late(places(11)), promote, sees("7 8 11 ")}, false},
		"an early read saw the late one":  {[]told{sees("7 8 9 "), promote, sees("7 8 ")}, false},
		"a late read saw the late one":    {[]told{late(sees("7 8 9 ")), promote, sees("7 8 ")}, true},
		"its id is given again":           {[]told{promote, places(9), sees("7 8 9 ")}, true},
		"one without an answer is kept":   {[]told{silent, promote, sees("7 8 9 23 ")}, true},
		"one without an answer is lost":   {[]told{silent, promote, sees("7 8 9 ")}, true},
		"one that nobody placed is there": {[]told{promote, sees("7 8 9 23 ")}, false},
		"none is lost twice":              {[]told{promote, sees("7 8 9 "), sees("7 8 ")}, false},
	} {
		var history []porcupine.Operation
		for i, one := range append([]told{places(7), places(8), late(places(9))}, c.history...) {
			history = append(history, porcupine.Operation{Input: one.in, Output: one.out, Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperations(partedFrom(level{total: 5}), history); got != c.ok {
			t.Errorf("%s: %v", why, got)
		}
	}

	open := []porcupine.Operation{
		{Input: wanted{deed: takeOne}, Output: outcome{unanswered: true, losable: true}, Call: 1, Return: math.MaxInt64},
		{Input: wanted{deed: readMoney}, Output: outcome{locked: 0, total: 4}, Call: 2, Return: 3},
	}
	if porcupine.CheckOperations(partedFrom(level{total: 5}), open) || !porcupine.CheckOperations(partedFrom(level{total: 5, open: "7 "}), open) {
		t.Error("an order without an answer is taken for one that fills, or was not taken at all")
	}
}
