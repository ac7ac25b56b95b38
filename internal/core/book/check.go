package book

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Check recomputes the invariants of the book and returns the first one that
// does not hold.
func (b *Book) Check(a *Arena) error {
	for side := bourse.Buy; side <= bourse.Sell; side++ {
		if err := b.sides[side].check(a, side, Resting); err != nil {
			return fmt.Errorf("%s orders: %w", side, err)
		}
		if err := b.stops[side].check(a, side, Waiting); err != nil {
			return fmt.Errorf("%s stops: %w", side, err)
		}
	}
	return b.checkLists(a)
}

func (l *Ladder) check(a *Arena, side bourse.Side, where State) error {
	var sum bourse.Lots
	last := int64(0)
	for price, level := range l.Levels {
		key := l.key(price)
		switch {
		case sum == 0 && key != l.best:
			return fmt.Errorf("best is %d, first level %d", l.price(l.best), price)
		case sum != 0 && key >= last:
			return fmt.Errorf("level %d is out of order", price)
		}
		last = key
		total, err := l.checkLevel(a, side, where, price, level)
		if err != nil {
			return err
		}
		sum += total
	}
	if sum != l.sum {
		return fmt.Errorf("%d lots are counted and %d found", l.sum, sum)
	}
	return nil
}

func (l *Ladder) checkLevel(a *Arena, side bourse.Side, where State, price bourse.Price, level Level) (bourse.Lots, error) {
	var total bourse.Lots
	prev := Slot(0)
	for s := level.Head; s != 0; prev, s = s, a.Next(s) {
		o := a.At(s)
		at := o.Price
		if where == Waiting {
			at = *a.Stop(s)
		}
		if a.links(s).prev != prev || o.State != where || o.Side != side || at != price || o.Filled >= o.Lots || a.Find(o.ID) != s {
			return 0, fmt.Errorf("order %d does not belong at %d", o.ID, price)
		}
		total += o.Left()
	}
	if total != level.Total || total == 0 {
		return 0, fmt.Errorf("level %d has %d lots and counts %d", price, total, level.Total)
	}
	return total, nil
}

// checkLists holds each account's list against its count and the order of ids.
func (b *Book) checkLists(a *Arena) error {
	for account, list := range b.accounts.All {
		var open uint32
		last := bourse.OrderID(0)
		for s := list.oldest; s != 0; s = a.links(s).later {
			o := a.At(s)
			if o.ID <= last || uint32(o.Account) != account {
				return fmt.Errorf("order %d does not belong in the list of account %d", o.ID, account)
			}
			last = o.ID
			open++
		}
		if open != list.Open {
			return fmt.Errorf("account %d has %d open orders and counts %d", account, open, list.Open)
		}
	}
	return nil
}
