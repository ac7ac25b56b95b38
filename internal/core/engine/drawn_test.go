package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
)

// TestWorkloadsDrawTogether wants random workloads to amend, replace, trigger, halt and restore
// orders of lists, and to lead lists to each of their ends: what they do not draw, agreement does
// not prove.
func TestWorkloadsDrawTogether(t *testing.T) {
	d := newDrawn()
	for seed := uint64(1); seed <= 20; seed++ {
		d.draw(t, seed, 4000)
	}
	for _, what := range []string{
		"place-list", "place-list, repeated", "place-list, DUPLICATE_CLIENT_ID", "place-list, INSUF_FUNDS",
		"place-list, WOULD_TAKE", "place-list, NO_COLLAR", "restored", "restored with work left",

		"amend a LIMIT", "amend a STOP_LIMIT", "amend a TAKE_PROFIT_LIMIT", "amend, repeated",
		"amend, PRICE_OUT_OF_RANGE", "amend, INSUF_TRADE_AMOUNT", "amend, WOULD_TAKE", "amend, NOT_AMENDABLE",
		"amend, INSUF_FUNDS", "amend, MARKET_HALTED", "amend a winner",

		"replace by a LIMIT", "replace by a MARKET", "replace by a STOP_LIMIT", "replace by a STOP_MARKET",
		"replace by a TAKE_PROFIT_LIMIT", "replace by a TAKE_PROFIT_MARKET", "replace, INSUF_TRADE_AMOUNT",
		"replace a winner",

		"decremented by place", "decremented by place-list",

		"CANCELED by cancel", "CANCELED by cancel-list", "CANCELED by cancel-all", "CANCELED by connection-closed",
		"CANCELED by replace", "KILLED by market-state", "KILLED by place", "KILLED by place-list",

		"won by making", "won by taking", "won by a STOP_LIMIT", "won by a STOP_MARKET", "won by a TAKE_PROFIT_LIMIT",
		"won by a TAKE_PROFIT_MARKET", "won, traded at a level", "capped, FILLED", "capped, KILLED", "capped, KILLED in part",
	} {
		if d.seen[what] == 0 {
			t.Errorf("%s: never", what)
		}
	}
	if testing.Verbose() {
		for _, what := range slices.Sorted(maps.Keys(d.seen)) {
			t.Log(what, d.seen[what])
		}
	}
}

// drawn counts what workloads draw of lists, and what comes of it, in words.
type drawn struct {
	seen map[string]int
	// open are the open orders of a workload.
	open map[bourse.OrderID]bourse.Order
	// leveled are the accounts at a level of fees above the first.
	leveled map[bourse.AccountID]bool
}

func newDrawn() *drawn { return &drawn{seen: map[string]int{}} }

// draw runs a workload, and restores it now and then.
func (d *drawn) draw(t *testing.T, seed uint64, n int) {
	t.Helper()
	d.open, d.leveled = map[bourse.OrderID]bourse.Order{}, map[bourse.AccountID]bool{}
	src, p := enginetest.Seed(seed), enginetest.NewPair()
	w := enginetest.NewWorkload(&src, p.Oracle)
	for i := range n {
		cmd := w.Next()
		if err := p.Apply(&cmd); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		d.note(&cmd, p.Events())

		if i%100 != 99 && !p.Engine.Unfinished() || !d.someUndecided() {
			continue
		}
		if err := p.Restore(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if d.seen["restored"]++; p.Engine.Unfinished() {
			d.seen["restored with work left"]++
		}
	}
}

// undecided reports whether both orders of a list are open: neither has acted.
func (d *drawn) undecided(list bourse.OrderID) bool {
	_, first := d.open[list]
	_, second := d.open[list+1]
	return list != 0 && first && second
}

func (d *drawn) someUndecided() bool {
	for id, o := range d.open {
		if o.List == id && d.undecided(id) {
			return true
		}
	}
	return false
}

// note notes a command about a list, and what comes of all commands.
func (d *drawn) note(cmd *bourse.Command, ev *bourse.Events) {
	verb, _, _ := strings.Cut(record.Describe(cmd), " ")
	if what := d.about(cmd, &ev.Outcome, verb); what != "" {
		switch {
		case ev.Outcome.Repeated:
			what += ", repeated"
		case ev.Outcome.Reason != 0:
			what += ", " + ev.Outcome.Reason.String()
		}
		d.seen[what]++
	}
	d.fold(verb, ev)
}

// about returns what a command does to an order of a list, in words; empty for other commands.
func (d *drawn) about(cmd *bourse.Command, result *bourse.Outcome, verb string) string {
	o := d.open[cmd.Order]
	done := result.Reason == 0 && !result.Repeated
	switch {
	case cmd.Kind == bourse.CommandPlaceList:
		return verb
	case o.List == 0 || o.Account != cmd.Account:
		return ""
	case !d.undecided(o.List):
		return verb + " a winner"
	case cmd.Kind == bourse.CommandAmend && done:
		return verb + " a " + o.Type.String()
	case cmd.Kind == bourse.CommandReplace && done && result.Cancel == 0:
		return verb + " by a " + cmd.NewOrder.Type.String()
	}
	return verb
}

// fold follows the orders through the events of a command.
func (d *drawn) fold(verb string, ev *bourse.Events) {
	losers := map[bourse.OrderID]bourse.Order{} // by list
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderAccepted, bourse.EventOrderAmended:
			d.open[ev.Orders[e.At].ID] = ev.Orders[e.At]
		case bourse.EventOrderPrevented:
			o := ev.Orders[e.At]
			if d.open[o.ID] = o; d.undecided(o.List) {
				d.seen["decremented by "+verb]++
			}
		case bourse.EventTraded:
			d.traded(losers, &ev.Trades[e.At])
		case bourse.EventOrderTriggered:
			d.won(losers, ev.Orders[e.At].List, "a "+ev.Orders[e.At].Type.String())
		case bourse.EventAccountLevel:
			d.leveled[ev.Facts[e.At].Account] = ev.Facts[e.At].FeeLevel > 0
		case bourse.EventOrderClosed:
			d.closed(losers, verb, &ev.Orders[e.At])
		default:
		}
	}
}

// won notes how an order of a list won, if the other one was just killed.
func (d *drawn) won(losers map[bourse.OrderID]bourse.Order, list bourse.OrderID, how string) {
	if _, ok := losers[list]; ok {
		d.seen["won by "+how]++
		delete(losers, list)
	}
}

func (d *drawn) traded(losers map[bourse.OrderID]bourse.Order, tr *bourse.Trade) {
	d.won(losers, d.open[tr.Maker.Order].List, "making")
	d.won(losers, d.open[tr.Taker.Order].List, "taking")
	for _, f := range [...]*bourse.Fill{&tr.Maker, &tr.Taker} {
		if d.open[f.Order].List != 0 && d.leveled[f.Account] {
			d.seen["won, traded at a level"]++
		}
	}
}

// closed notes how a list without a winner ended, or an order with a cap.
func (d *drawn) closed(losers map[bourse.OrderID]bourse.Order, verb string, o *bourse.Order) {
	first, ended := losers[o.List]
	switch {
	case d.undecided(o.List):
		losers[o.List] = *o
	case ended:
		d.seen[first.Status.String()+" by "+verb]++
		delete(losers, o.List)
	case o.List != 0 && o.Cap() != 0:
		how := "capped, " + o.Status.String()
		if o.Filled > 0 && o.Filled < o.Lots {
			how += " in part"
		}
		d.seen[how]++
	}
	delete(d.open, o.ID)
}
