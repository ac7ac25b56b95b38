package bourse_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestTiers checks tiers that are well formed, and each way in which they are not.
func TestTiers(t *testing.T) {
	bound := bourse.Bound{Set: true, Most: bourse.Units(5)}
	fine := func() *bourse.Tiers {
		return &bourse.Tiers{List: []bourse.Tier{
			{Name: "basic", Limits: []bourse.TierLimits{
				{Asset: 2, Trade: bourse.FlowLimit{Day: bound}}, {Asset: 5, Deposit: bourse.FlowLimit{Month: bound}},
			}},
			{Name: "v-2_x"},
		}}
	}
	if d := fine(); !d.Valid() || !d.Equal(fine()) || !d.Equal(d.Clone()) || d.Equal(nil) {
		t.Error("tiers that are well formed")
	}

	for name, spoil := range map[string]func(*bourse.Tiers){
		"no tier":           func(d *bourse.Tiers) { d.List = nil },
		"too many tiers":    func(d *bourse.Tiers) { d.List = make([]bourse.Tier, bourse.MaxTiers+1) },
		"no name":           func(d *bourse.Tiers) { d.List[1].Name = "" },
		"a long name":       func(d *bourse.Tiers) { d.List[1].Name = strings.Repeat("x", bourse.MaxTierName+1) },
		"capitals":          func(d *bourse.Tiers) { d.List[1].Name = "Full" },
		"a name twice":      func(d *bourse.Tiers) { d.List[1].Name = "basic" },
		"no asset":          func(d *bourse.Tiers) { d.List[0].Limits[0].Asset = 0 },
		"an asset twice":    func(d *bourse.Tiers) { d.List[0].Limits[1].Asset = 2 },
		"an amount unbound": func(d *bourse.Tiers) { d.List[0].Limits[1].Trade.Day.Most = bourse.Units(1) },
		"too many limits": func(d *bourse.Tiers) {
			for i := range bourse.MaxTierLimits + 1 {
				d.List[1].Limits = append(d.List[1].Limits, bourse.TierLimits{Asset: bourse.AssetID(i + 1)})
			}
		},
	} {
		d := fine()
		if spoil(d); d.Valid() || d.Equal(fine()) {
			t.Errorf("%s: well formed", name)
		}
	}

	d := fine()
	for _, c := range []struct {
		tier  uint8
		asset bourse.AssetID
		flow  bourse.Flow
		set   bool
	}{
		{0, 2, bourse.FlowTrade, true}, {0, 2, bourse.FlowDeposit, false}, {0, 5, bourse.FlowDeposit, true},
		{0, 3, bourse.FlowTrade, false}, {1, 2, bourse.FlowTrade, false}, {2, 2, bourse.FlowTrade, false},
	} {
		if l := d.Limit(c.tier, c.asset, c.flow); l.IsSet() != c.set {
			t.Errorf("%+v: %+v", c, l)
		}
	}
	if none := (*bourse.Tiers)(nil); none.Name(0) != bourse.NoTier || d.Name(1) != "v-2_x" || d.Counts(3, bourse.FlowTrade) {
		t.Error("names or what counts")
	}
}

// TestFlowLimit checks sums at their bounds.
func TestFlowLimit(t *testing.T) {
	l := bourse.FlowLimit{
		Day: bourse.Bound{Set: true, Most: bourse.Units(5)}, Month: bourse.Bound{Set: true, Most: bourse.Units(9)},
	}
	for sums, want := range map[[2]uint64]bool{{5, 9}: true, {6, 9}: false, {5, 10}: false, {0, 0}: true} {
		if got := l.Allows(bourse.Sums{Day: bourse.Units(sums[0]), Month: bourse.Units(sums[1])}); got != want {
			t.Errorf("%v: %t", sums, got)
		}
	}
	full := bourse.Sums{Day: bourse.MaxAmount, Month: bourse.Units(1)}.Plus(bourse.Units(2))
	if none := (bourse.FlowLimit{}); full.Day != bourse.MaxAmount || full.Month != bourse.Units(3) || !none.Allows(full) {
		t.Errorf("%+v", full)
	}
	if l.Day.Left(bourse.Units(3)) != bourse.Units(2) || !l.Day.Left(bourse.Units(7)).IsZero() {
		t.Error("what is left")
	}
}
