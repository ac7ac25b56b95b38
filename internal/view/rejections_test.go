package view

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// rejecting is an engine whose account 1 can pay for little, and a view of it.
type rejecting struct {
	*engine.Engine
	view *View
	ev   bourse.Events
	now  bourse.Time
}

func (r *rejecting) do(cmd bourse.Command) bourse.Outcome {
	cmd.Seq, cmd.Time = r.Seq()+1, r.now
	r.ev.Reset()
	r.Apply(&cmd, &r.ev)
	r.view.Begin()
	r.view.Observe(&cmd, &r.ev)
	r.view.End()
	return r.ev.Outcome
}

func newRejecting() *rejecting {
	r := &rejecting{Engine: engine.New(), view: New(), now: 20_000 * bourse.Day}
	for _, cmd := range []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "A", Name: "a", Scale: 12, Enabled: true}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "B", Name: "b", Scale: 12, Enabled: true}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 2, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: bourse.MaxPrice,
		}},
		{Kind: bourse.CommandCreateAccount},
		{Kind: bourse.CommandCredit, Account: 1, AssetID: 2, Amount: bourse.Amount{Hi: 1}},
	} {
		r.do(cmd)
	}
	return r
}

// restored returns a view of a snapshot.
func (r *rejecting) restored(t *testing.T) *View {
	t.Helper()
	var state []byte
	r.Snapshot(func(b []byte) { state = append(state, b...) })
	v := New()
	v.Begin()
	cmd := bourse.Command{Seq: r.Seq(), Time: r.Now()}
	if _, err := engine.Restore(state, func(ev *bourse.Events) { v.Observe(&cmd, ev) }); err != nil {
		t.Fatal(err)
	}
	v.End()
	return v
}

// TestRejectionsAreTheEngines places named orders, some of them too dear, over some days.
// A request is repeated, and its rejection known, exactly if the engine keeps its name:
// then it answers the same request by its first outcome.
func TestRejectionsAreTheEngines(t *testing.T) {
	r, rng := newRejecting(), rand.New(rand.NewPCG(1, 1))
	const names = 400
	requests := map[int]bourse.NewOrder{}
	known := 0
	for range 4000 {
		r.now += bourse.Time(rng.Int64N(int64(2 * bourse.Minute)))
		r.do(bourse.Command{Kind: bourse.CommandTick}) // the view shows the time of the last command

		at := rng.IntN(names)
		p, again := requests[at]
		if !again || rng.IntN(3) == 0 {
			p = bourse.NewOrder{
				Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.IOC, Price: 100,
				Lots: []bourse.Lots{1, bourse.MaxLots}[rng.IntN(2)], ClientID: bourse.ClientID{'n', byte('a' + at%26), byte('a' + at/26)},
			}
		}

		before, was := r.view.RejectedOrder(1, p.ClientID)
		if rng.IntN(100) == 0 {
			if after, is := r.restored(t).RejectedOrder(1, p.ClientID); is != was || after != before {
				t.Fatalf("%+v %t, restored %+v %t", before, was, after, is)
			}
		}
		o := r.do(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: p})
		sameRequest := was && before.NewOrder == p
		if refused := o.Repeated && o.Reason != 0; refused != sameRequest || refused && o.Reason != before.Reason {
			t.Fatalf("the engine answers %+v, the view %+v %t", o, before, was)
		}
		if sameRequest {
			known++
		}
		if o.Reason != bourse.DuplicateClientID {
			requests[at] = p
		}
	}
	if known < 100 {
		t.Errorf("%d rejections were known", known)
	}
	if n := len(r.view.find(1).rejections); n > bourse.MaxRejections {
		t.Errorf("%d rejections are kept", n)
	}
}
