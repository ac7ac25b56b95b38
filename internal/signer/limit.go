package signer

import (
	"fmt"
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Limit bounds a coin's withdrawals: the amount of one, and the sums of an hour and a day.
// Zero lets nothing leave.
type Limit struct {
	Payment, Hour, Day bourse.Amount
	// Free is the amount up to which a withdrawal goes to any destination. Above it the
	// destination has been allow-listed for a day, or approvers have approved.
	Free bourse.Amount
}

// unbounded is above every sum.
var unbounded = bourse.Amount{Hi: math.MaxUint64, Lo: math.MaxUint64}

// Unlimited is the limit that bounds nothing, for exchanges without real money.
func Unlimited(chain.CoinID) Limit { return Limit{unbounded, unbounded, unbounded, unbounded} }

// UnlimitedCost is the bound on costs that bounds nothing, for the same exchanges.
func UnlimitedCost() bourse.Amount { return unbounded }

// sum adds up amounts and stays at unbounded on overflow.
type sum struct{ bourse.Amount }

func (s *sum) add(a bourse.Amount) { s.Amount = s.PlusOrMax(a) }

// checkLimits checks a transaction against the record of the last hour and day. It forgets
// older amounts, but never that they were signed. The costs of all kinds count, and those of sweeps,
// top-ups and moves to cold storage by themselves too: strangers cause the first ones, by deposits. Of amounts only
// that of a withdrawal's first transaction and of those that do not exclude it count. The amounts of top-ups have a
// limit of their own: they stay with the exchange, but on addresses from which a stolen exchange need not bring them
// back.
func (s *Local) checkLimits(n *Network, e *Expect, parts []Expect, cost bourse.Amount, now int64) error {
	s.spent = slices.DeleteFunc(s.spent, func(old entry) bool { return old.Time <= now-int64(bourse.Day) })

	hour, day, costs, swept, given := sum{}, sum{}, sum{cost}, sum{cost}, sum{}
	for i := range s.spent {
		old := &s.spent[i]
		if old.Network != e.Network {
			continue
		}
		late := old.Time > now-int64(bourse.Hour)
		if late {
			costs.add(old.cost())
		}
		if late && old.Kind != 0 {
			swept.add(old.cost())
		}
		if late && old.Kind == bourse.SignedTopUp {
			given.add(old.amount())
		}
		if !old.counts() || old.Coin != e.Coin {
			continue
		}
		day.add(old.amount())
		if late {
			hour.add(old.amount())
		}
	}

	if len(e.With) > 0 && n.HourCost.Less(cost) { // no hour lets it pass, but fewer withdrawals may
		return fmt.Errorf("%w: a cost of %s units, and %s are the most in an hour",
			ErrLimit, cost.Format(0), n.HourCost.Format(0))
	}
	if n.HourCost.Less(costs.Amount) {
		return fmt.Errorf("%w of %s units in an hour, and %s are the most",
			ErrCosts, costs.Format(0), n.HourCost.Format(0))
	}
	if e.Kind == bourse.SignedTopUp {
		given.add(e.Amount)
	}
	if e.Kind != bourse.SignedWithdrawal {
		return n.checkUpkeep(swept.Amount, given.Amount)
	}
	for i := range parts {
		p := &parts[i]
		if !p.pays() {
			continue
		}
		hour.add(p.Amount)
		day.add(p.Amount)
		if err := n.Limit(e.Coin).check(p, hour.Amount, day.Amount); err != nil {
			return e.blame(p, err)
		}
	}
	return nil
}

// check checks a payment, and the sums of an hour and a day with it.
func (l Limit) check(e *Expect, hour, day bourse.Amount) error {
	switch {
	case l.Payment.Less(e.Amount):
		return fmt.Errorf("%w: %s units of %s in a payment, and %s are the most",
			ErrSpent, e.Amount.Format(0), e.Coin, l.Payment.Format(0))
	case l.Hour.Less(hour):
		return fmt.Errorf("%w: %s units of %s in an hour, and %s are the most",
			ErrSpent, hour.Format(0), e.Coin, l.Hour.Format(0))
	case l.Day.Less(day):
		return fmt.Errorf("%w: %s units of %s in a day, and %s are the most",
			ErrSpent, day.Format(0), e.Coin, l.Day.Format(0))
	}
	return nil
}

// checkUpkeep checks what sweeps and top-ups cost in an hour, and what top-ups move.
func (n *Network) checkUpkeep(swept, given bourse.Amount) error {
	half, _ := n.HourCost.Div64(2)
	switch {
	case half.Less(swept):
		return fmt.Errorf("%w of %s units for sweeps in an hour, and %s are the most",
			ErrCosts, swept.Format(0), half.Format(0))
	case half.Less(given):
		return fmt.Errorf("%w: %s units of top-ups in an hour, and %s are the most",
			ErrCosts, given.Format(0), half.Format(0))
	}
	return nil
}

// pays reports whether a transaction pays what no earlier one can.
func (e *Expect) pays() bool {
	return e.Kind == bourse.SignedWithdrawal && (e.Attempt == 0 || e.further)
}

// checkFree checks where an amount above [Limit].Free goes.
func (s *Local) checkFree(n *Network, e *Expect, now int64) error {
	if !e.pays() || !n.Limit(e.Coin).Free.Less(e.Amount) || s.isAllowed(e.Network, e.To, now) {
		return nil
	}
	p := s.payment(n, e)
	if s.approved(p, now) {
		return nil
	}
	s.wait(p, now)
	return fmt.Errorf("%w: %s %s to %s", ErrUnapproved, p.Amount, e.Coin, e.To.Address)
}
