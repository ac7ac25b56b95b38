package bourse

import (
	"cmp"
	"slices"
)

// The bounds of tiers.
const (
	// MaxTiers bounds the tiers of a catalogue.
	MaxTiers = 32
	// MaxTierName bounds the name of a tier, in bytes.
	MaxTierName = 32
	// MaxTierLimits bounds the entries of all tiers together, so that their definition fits a
	// frame of the journal.
	MaxTierLimits = 1000
)

// NoTier is the name of every account's tier while the catalogue has no tiers.
const NoTier = "none"

// Flow is a kind of movement that tiers limit.
type Flow uint8

// The flows.
const (
	// FlowDeposit is money that networks bring to an account.
	FlowDeposit Flow = iota + 1
	// FlowTrade is the amount that an account gives in trades: the quote asset as a buyer, the
	// base asset as a seller.
	FlowTrade
	// FlowWithdrawal is money that leaves an account by withdrawals and transfers.
	FlowWithdrawal
	// LastFlow is the last one.
	LastFlow = FlowWithdrawal
)

var flowWords = [...]string{"", "deposit", "trade", "withdrawal"}

// String returns deposit, trade or withdrawal.
func (f Flow) String() string { return word(flowWords[:], f) }

// Tiers are the tiers of a catalogue. Accounts have tiers by their index; index 0 is the tier
// of every account that no operator gave another one. Nil tiers limit nothing.
type Tiers struct{ List []Tier }

// Tier limits an account's movements.
type Tier struct {
	Name string
	// Limits are by ascending asset. An asset that is not listed has no limit.
	Limits []TierLimits
}

// TierLimits are the limits of an asset.
type TierLimits struct {
	Asset                      AssetID
	Deposit, Trade, Withdrawal FlowLimit
}

// FlowLimit bounds an account's movements of an asset by a flow. The zero value bounds nothing.
type FlowLimit struct {
	// Day bounds any 24 hours, Month any 30 days.
	Day, Month Bound
}

// Bound is the most of an amount. The zero value bounds nothing.
type Bound struct {
	// Set is true if there is a bound.
	Set  bool
	Most Amount
}

// Moved are the sums that an account moved of an asset by a flow in an hour, and in the day of the hour.
type Moved struct {
	Account AccountID
	Asset   AssetID
	Flow    Flow
	// Hour is counted from the Unix epoch.
	Hour          uint32
	InHour, InDay Amount
}

// Sums are an account's movements in the last 24 hours and in the last 30 days, rounded up to
// whole hours and whole days in UTC. Sums beyond MaxAmount are MaxAmount.
type Sums struct{ Day, Month Amount }

// Plus returns the sums after a further movement.
func (s Sums) Plus(a Amount) Sums { return Sums{s.Day.PlusOrMax(a), s.Month.PlusOrMax(a)} }

// Allows reports whether sums are within the limit.
func (l *FlowLimit) Allows(s Sums) bool { return l.Day.allows(s.Day) && l.Month.allows(s.Month) }

// IsSet reports whether the limit bounds anything.
func (l *FlowLimit) IsSet() bool { return l.Day.Set || l.Month.Set }

func (b Bound) allows(sum Amount) bool { return !b.Set || !b.Most.Less(sum) }

// Left returns the rest of the bound beside a sum, if there is a bound.
func (b Bound) Left(sum Amount) Amount {
	left, ok := b.Most.Sub(sum)
	if !ok {
		return Amount{}
	}
	return left
}

// Of returns the limit of a flow.
func (t *TierLimits) Of(f Flow) FlowLimit {
	switch f {
	case FlowDeposit:
		return t.Deposit
	case FlowTrade:
		return t.Trade
	case FlowWithdrawal:
		return t.Withdrawal
	}
	return FlowLimit{}
}

// Limit returns the limit of a flow of an asset in a tier.
func (t *Tiers) Limit(tier uint8, asset AssetID, f Flow) FlowLimit {
	if !t.Has(tier) {
		return FlowLimit{}
	}
	limits := t.List[tier].Limits
	at, found := slices.BinarySearchFunc(limits, asset, func(l TierLimits, a AssetID) int {
		return cmp.Compare(l.Asset, a)
	})
	if !found {
		return FlowLimit{}
	}
	return limits[at].Of(f)
}

// Name returns the name of a tier.
func (t *Tiers) Name(tier uint8) string {
	if !t.Has(tier) {
		return NoTier
	}
	return t.List[tier].Name
}

// Has reports whether there is a tier of an index.
func (t *Tiers) Has(tier uint8) bool { return t != nil && int(tier) < len(t.List) }

// Named returns the index of the tier of a name.
func (t *Tiers) Named(name string) (uint8, bool) {
	if t == nil {
		return 0, false
	}
	for i := range t.List {
		if t.List[i].Name == name {
			return uint8(i), true
		}
	}
	return 0, false
}

// Counts reports whether a tier limits a flow of an asset, so that movements count.
func (t *Tiers) Counts(asset AssetID, f Flow) bool {
	if t == nil {
		return false
	}
	for i := range t.List {
		if l := t.Limit(uint8(i), asset, f); l.IsSet() {
			return true
		}
	}
	return false
}

// Clone returns a copy that shares no memory.
func (t *Tiers) Clone() *Tiers {
	c := &Tiers{List: make([]Tier, len(t.List))}
	for i := range t.List {
		c.List[i] = Tier{t.List[i].Name, slices.Clone(t.List[i].Limits)}
	}
	return c
}

// Equal reports whether two lists of tiers are the same.
func (t *Tiers) Equal(o *Tiers) bool {
	if t == nil || o == nil {
		return t == o
	}
	return slices.EqualFunc(t.List, o.List, func(a, b Tier) bool {
		return a.Name == b.Name && slices.Equal(a.Limits, b.Limits)
	})
}

// Valid reports whether t is well formed.
func (t *Tiers) Valid() bool {
	if len(t.List) == 0 || len(t.List) > MaxTiers {
		return false
	}
	limits := 0
	for i := range t.List {
		tier := &t.List[i]
		if at, _ := t.Named(tier.Name); int(at) != i || !ValidTierName(tier.Name) {
			return false
		}
		last := AssetID(0)
		for j := range tier.Limits {
			l := &tier.Limits[j]
			if l.Asset <= last || !l.Deposit.valid() || !l.Trade.valid() || !l.Withdrawal.valid() {
				return false
			}
			last = l.Asset
		}
		limits += len(tier.Limits)
	}
	return limits <= MaxTierLimits
}

// valid reports whether bounds that are not set have no amount.
func (l *FlowLimit) valid() bool {
	return (l.Day.Set || l.Day.Most.IsZero()) && (l.Month.Set || l.Month.Most.IsZero())
}

// ValidTierName reports whether s is a name of a tier: lower-case letters, digits, hyphens
// and underscores.
func ValidTierName(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= MaxTierName
}
