package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// tiers reads TIER [FLOW:ASSET:DAY:MONTH …] …, in which a bound may be empty.
func (s *Script) tiers(words []string) error {
	def := new(bourse.Tiers)
	for _, w := range words {
		parts := strings.Split(w, ":")
		if len(parts) == 1 {
			def.List = append(def.List, bourse.Tier{Name: w})
			continue
		}
		if len(parts) != 4 || len(def.List) == 0 {
			return fmt.Errorf("%q is no tier and no limit", w)
		}
		if err := s.tierLimit(&def.List[len(def.List)-1], parts); err != nil {
			return err
		}
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: def})
}

// tierLimit adds a limit to a tier.
func (s *Script) tierLimit(t *bourse.Tier, parts []string) error {
	a, err := s.assetNamed(parts[1])
	if err != nil {
		return err
	}
	var r reader
	limit := bourse.FlowLimit{Day: bound(&r, parts[2], a.Scale), Month: bound(&r, parts[3], a.Scale)}
	if r.err != nil {
		return r.err
	}

	at, found := slices.BinarySearchFunc(t.Limits, a.ID, func(l bourse.TierLimits, id bourse.AssetID) int {
		return cmp.Compare(l.Asset, id)
	})
	if !found {
		t.Limits = slices.Insert(t.Limits, at, bourse.TierLimits{Asset: a.ID})
	}
	switch l := &t.Limits[at]; parts[0] {
	case "deposit":
		l.Deposit = limit
	case "trade":
		l.Trade = limit
	case "withdrawal":
		l.Withdrawal = limit
	default:
		return fmt.Errorf("unknown flow %q", parts[0])
	}
	return nil
}

func bound(r *reader, text string, scale uint8) bourse.Bound {
	if text == "" {
		return bourse.Bound{}
	}
	most, err := bourse.ParseAmount(text, scale)
	return bourse.Bound{Set: true, Most: read(r, most, err)}
}

// tier runs tier ACCOUNT TIER.
func (s *Script) tier(words []string) error {
	if err := want(words, 2); err != nil {
		return err
	}
	id, err := s.accountNamed(words[0])
	if err != nil {
		return err
	}
	tiers := bourse.Tiers{List: s.pair.Oracle.tiers}
	tier, known := tiers.Named(words[1])
	if !known {
		tier = bourse.MaxTiers - 1
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandSetAccountTier, Account: id, Level: tier})
}

// showMoved writes an account's sums of an hour and of its day.
func (s *Script) showMoved(m *bourse.Moved) {
	a := s.pair.Oracle.assets[m.Asset-1]
	s.tell("%s of %s: %s %s in this hour, %s in this day", m.Flow, s.name(m.Account),
		m.InHour.Format(a.Scale), a.Symbol, m.InDay.Format(a.Scale))
}
