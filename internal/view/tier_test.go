package view_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/view"
)

// TestTierIsSeeded wants a view that is seeded from a snapshot to tell what was used of limits as
// the view that followed every command does, at once and as time passes.
func TestTierIsSeeded(t *testing.T) {
	e, followed := engine.New(), view.New()
	at := 20_000 * bourse.Day
	observe := func(v *view.View, cmd *bourse.Command, ev *bourse.Events) {
		v.Begin()
		v.Observe(cmd, ev)
		v.End()
	}
	do := func(cmd bourse.Command) (*bourse.Command, *bourse.Events) {
		var ev bourse.Events
		cmd.Seq, cmd.Time = e.Seq()+1, at
		e.Apply(&cmd, &ev)
		if ev.Outcome.Reason != 0 {
			t.Fatal(ev.Outcome.Reason)
		}
		observe(followed, &cmd, &ev)
		return &cmd, &ev
	}

	do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}})
	month := bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(500)}, Month: bourse.Bound{Set: true, Most: bourse.Units(900)}}
	tiers := &bourse.Tiers{List: []bourse.Tier{{Name: "basic"}}}
	for asset := bourse.AssetID(1); asset <= 3; asset++ {
		do(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: bourse.Symbol(rune('A' + asset)), Name: "x", Enabled: true,
		}})
		tiers.List[0].Limits = append(tiers.List[0].Limits, bourse.TierLimits{Asset: asset, Withdrawal: month})
	}
	do(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiers})
	do(bourse.Command{Kind: bourse.CommandCreateAccount})
	for step := range uint64(60) {
		asset := bourse.AssetID(1 + step%3)
		do(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: asset, Amount: bourse.Units(100)})
		do(bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Asset: asset, Internal: 1, Amount: bourse.Units(1 + step%7),
		}}})
		at += bourse.Time(step) * bourse.Hour
	}

	var state []byte
	e.Snapshot(func(b []byte) { state = append(state, b...) })
	seeded := view.New()
	again, err := engine.Restore(state, func(ev *bourse.Events) { observe(seeded, &bourse.Command{}, ev) })
	if err != nil {
		t.Fatal(err)
	}
	observe(seeded, &bourse.Command{Seq: again.Seq(), Time: again.Now()}, &bourse.Events{})

	left := 0
	for range 70 {
		name, want := followed.Tier(1)
		if got, list := seeded.Tier(1); got != name || !slices.Equal(list, want) {
			t.Fatalf("%s %+v, want %s %+v", got, list, name, want)
		}
		if !want[0].Used.Month.IsZero() {
			left++
		}
		at += 12 * bourse.Hour
		cmd, ev := do(bourse.Command{Kind: bourse.CommandTick})
		observe(seeded, cmd, ev)
	}
	if left < 30 || left == 70 {
		t.Errorf("withdrawals counted for %d half days", left)
	}
}
