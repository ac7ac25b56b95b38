package catalogue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Tier is a tier. The first one of a document is that of every account.
type Tier struct {
	Name   string       `yaml:"name" json:"name"`
	Limits []TierLimits `yaml:"limits,omitempty" json:"limits,omitempty"`
}

// TierLimits are a tier's limits of an asset.
type TierLimits struct {
	Asset      bourse.Symbol `yaml:"asset" json:"asset"`
	Deposit    FlowLimit     `yaml:"deposit,omitempty" json:"deposit,omitzero"`
	Trade      FlowLimit     `yaml:"trade,omitempty" json:"trade,omitzero"`
	Withdrawal FlowLimit     `yaml:"withdrawal,omitempty" json:"withdrawal,omitzero"`
}

// FlowLimit is a limit. An empty bound is none.
type FlowLimit struct {
	Day   string `yaml:"day,omitempty" json:"day,omitempty"`
	Month string `yaml:"month,omitempty" json:"month,omitempty"`
}

func (d *Document) tiers(c *view.Catalogue) ([]Change, error) {
	if d.Tiers == nil {
		return nil, nil
	}
	at := d.at(place{part: "tiers"}, "tiers")
	want, err := d.readTiers(c)
	if err != nil {
		return nil, invalid("%s: %v", at, err)
	}

	old := c.Tiers
	if want.Equal(old) {
		return nil, nil
	}
	return checked([]Change{change(old == nil, "tiers", at,
		bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: want})})
}

func (d *Document) readTiers(c *view.Catalogue) (*bourse.Tiers, error) {
	if n := len(d.Tiers); n == 0 || n > bourse.MaxTiers {
		return nil, fmt.Errorf("there are %d; 1 to %d are possible", n, bourse.MaxTiers)
	}

	t := new(bourse.Tiers)
	limits := 0
	for i := range d.Tiers {
		tier, err := d.Tiers[i].read(c)
		if err != nil {
			return nil, fmt.Errorf("tier %q: %w", d.Tiers[i].Name, err)
		}
		if _, twice := t.Named(tier.Name); twice {
			return nil, fmt.Errorf("tier %q is listed twice", tier.Name)
		}
		t.List = append(t.List, tier)
		limits += len(tier.Limits)
	}

	if limits > bourse.MaxTierLimits {
		return nil, fmt.Errorf("%d limits; %d are possible", limits, bourse.MaxTierLimits)
	}
	return t, keepsTiers(c.Tiers, t)
}

// keepsTiers returns an error unless each tier that is listed keeps its name and its place.
func keepsTiers(old, t *bourse.Tiers) error {
	if old == nil {
		return nil
	}
	for i := range old.List {
		if !t.Has(uint8(i)) || t.List[i].Name != old.List[i].Name {
			return fmt.Errorf("number %d is %q and stays: accounts may have it", i+1, old.List[i].Name)
		}
	}
	return nil
}

func (e *Tier) read(c *view.Catalogue) (t bourse.Tier, err error) {
	if !bourse.ValidTierName(e.Name) {
		return t, fmt.Errorf("a name has 1 to %d lower-case letters, digits, hyphens and underscores", bourse.MaxTierName)
	}
	t.Name = e.Name
	for i := range e.Limits {
		l, err := e.Limits[i].read(c)
		if err != nil {
			return t, err
		}
		at, twice := slices.BinarySearchFunc(t.Limits, l.Asset, func(l bourse.TierLimits, id bourse.AssetID) int {
			return cmp.Compare(l.Asset, id)
		})
		if twice {
			return t, fmt.Errorf("asset %s is listed twice", e.Limits[i].Asset)
		}
		t.Limits = slices.Insert(t.Limits, at, l)
	}
	return t, nil
}

func (e *TierLimits) read(c *view.Catalogue) (l bourse.TierLimits, err error) {
	a := c.Asset(e.Asset)
	if a == nil {
		return l, fmt.Errorf("unknown asset %q", e.Asset)
	}
	l.Asset = a.ID
	for _, f := range [...]struct {
		name string
		from *FlowLimit
		to   *bourse.FlowLimit
	}{
		{"deposit", &e.Deposit, &l.Deposit}, {"trade", &e.Trade, &l.Trade}, {"withdrawal", &e.Withdrawal, &l.Withdrawal},
	} {
		if f.to.Day, err = readBound(f.from.Day, a.Scale); err != nil {
			return l, fmt.Errorf("asset %s: %s: day: %w", e.Asset, f.name, err)
		}
		if f.to.Month, err = readBound(f.from.Month, a.Scale); err != nil {
			return l, fmt.Errorf("asset %s: %s: month: %w", e.Asset, f.name, err)
		}
	}
	return l, nil
}

// readBound reads a bound. An empty text is none.
func readBound(text string, scale uint8) (bourse.Bound, error) {
	if text == "" {
		return bourse.Bound{}, nil
	}
	most, err := bourse.ParseAmount(text, scale)
	return bourse.Bound{Set: true, Most: most}, err
}

func tiersOf(c *view.Catalogue) (list []Tier) {
	for _, t := range c.Tiers.List {
		tier := Tier{Name: t.Name}
		for _, l := range t.Limits {
			a := c.Assets[l.Asset]
			tier.Limits = append(tier.Limits, TierLimits{
				Asset: a.Symbol, Deposit: limitOf(l.Deposit, a.Scale), Trade: limitOf(l.Trade, a.Scale),
				Withdrawal: limitOf(l.Withdrawal, a.Scale),
			})
		}
		list = append(list, tier)
	}
	return list
}

func limitOf(l bourse.FlowLimit, scale uint8) (doc FlowLimit) {
	if l.Day.Set {
		doc.Day = l.Day.Most.Format(scale)
	}
	if l.Month.Set {
		doc.Month = l.Month.Most.Format(scale)
	}
	return doc
}
