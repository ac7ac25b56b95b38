package view_test

import (
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/view"
)

// TestOfficeIsSeededAsItIsFed compares the operators, limits and waiting acts of a view that saw
// the commands with those of one that saw a restore.
func TestOfficeIsSeededAsItIsFed(t *testing.T) {
	e, fed := engine.New(), view.New()
	do := func(cmd bourse.Command) {
		var ev bourse.Events
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+1
		fed.Begin()
		e.Apply(&cmd, &ev)
		fed.Observe(&cmd, &ev)
		fed.End()
		if ev.Outcome.Reason != 0 {
			t.Fatalf("%s: %s", record.Describe(&cmd), ev.Outcome.Reason)
		}
	}
	for _, cmd := range enginetest.Opening() {
		do(cmd)
	}
	operator := bourse.Operator{Role: bourse.RoleOwner, Enabled: true, Digest: bourse.RowDigest{1}}
	add := bourse.Command{Kind: bourse.CommandAddOperator, Operators: &bourse.OperatorCommand{Define: operator}}
	if fed.HasOwner() {
		t.Error("an owner of nothing")
	}
	do(add)
	do(add)
	operator.ID, operator.Role = 2, bourse.RoleViewer
	do(bourse.Command{Kind: bourse.CommandChangeOperator, Operators: &bourse.OperatorCommand{Define: operator}})
	for _, asset := range []bourse.AssetID{2, 1, 2} {
		do(bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: asset, Amount: bourse.Units(uint64(e.Seq()))})
	}
	collect := bourse.Command{Kind: bourse.CommandCollectFees}
	do(record.NewAct(e.Genesis(), 0, bourse.Token{1}, "why", &collect))
	gone := e.Seq()
	digest := fed.Acts()[0].Digest
	do(record.NewAct(e.Genesis(), 0, bourse.Token{2}, "why", &collect))
	do(record.NewAct(e.Genesis(), 1, bourse.Token{2}, "done at once", &collect))
	do(bourse.Command{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{1}, Act: gone, Digest: digest,
	}})

	seeded := view.New()
	seeded.Begin()
	var state []byte
	e.Snapshot(func(b []byte) { state = append(state, b...) })
	if _, err := engine.Restore(state, func(ev *bourse.Events) { seeded.Observe(&bourse.Command{}, ev) }); err != nil {
		t.Fatal(err)
	}
	seeded.End()
	for _, v := range []*view.View{fed, seeded} {
		operators, acts := v.Operators(), v.Acts()
		if len(operators) != 2 || operators[1].Role != bourse.RoleViewer || !v.HasOwner() {
			t.Errorf("%+v", operators)
		}
		if len(acts) != 1 || acts[0].ID != gone+1 || acts[0].What != "collect-fees" {
			t.Errorf("%+v", acts)
		}
		if limits := v.ApprovalLimits(); len(limits) != 2 || limits[0].Asset != 1 || limits[1].Amount == limits[0].Amount {
			t.Errorf("%+v", limits)
		}
	}
	if !reflect.DeepEqual(fed.Acts(), seeded.Acts()) || !reflect.DeepEqual(fed.Operators(), seeded.Operators()) ||
		!reflect.DeepEqual(fed.ApprovalLimits(), seeded.ApprovalLimits()) {
		t.Error("a restart shows another office")
	}
}
