package book

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Check recomputes the invariants of the book and returns the first violation.
func (b *Book) Check(a *Arena) error {
	for side := bourse.Buy; side <= bourse.Sell; side++ {
		rests := func(o *Order) bool { return o.Side == side && o.Type.HasPrice() && o.Filled < o.Lots }
		if err := b.sides[side].check(a, Resting, rests); err != nil {
			return fmt.Errorf("%s orders: %w", side, err)
		}
	}

	for _, stops := range [...]*Ladder{&b.above, &b.below} {
		waits := func(o *Order) bool { return o.Type.HasStop() && b.stopsOf(o) == stops && o.Filled == 0 }
		if err := stops.check(a, Waiting, waits); err != nil {
			return fmt.Errorf("stops: %w", err)
		}
	}
	return b.checkLists(a)
}

// check checks the levels of a ladder, and their orders in this state by belongs.
func (l *Ladder) check(a *Arena, where State, belongs func(*Order) bool) error {
	if err := l.checkShape(); err != nil {
		return err
	}

	first, last := true, int64(0)
	for price, level := range l.Levels {
		key := l.key(price)
		switch {
		case first && key != l.best:
			return fmt.Errorf("best is %d, first level %d", l.price(l.best), price)
		case !first && key >= last:
			return fmt.Errorf("level %d is out of order", price)
		}
		first, last = false, key
		if err := l.checkLevel(a, where, price, level, belongs); err != nil {
			return err
		}
	}
	return nil
}

// checkShape checks the pages and the blocks of far levels against their bounds.
func (l *Ladder) checkShape() error {
	switch {
	case len(l.pages) > mostPages:
		return fmt.Errorf("%d pages are too many", len(l.pages))
	case len(l.pages) < fewPages && !l.far.empty():
		return fmt.Errorf("levels are far, and there are but %d pages", len(l.pages))
	case len(l.pages) > 0 && !l.far.empty() && l.far.last()>>pageBits >= l.pages[0].number:
		return fmt.Errorf("level %d is far, and there is a page for it", l.price(l.far.last()))
	}

	for _, pg := range l.pages {
		if pg.summary == 0 {
			return fmt.Errorf("page %d is empty", pg.number)
		}
	}

	for b, at := range l.far.blocks {
		if at.used < 1 || at.used > blockSize || l.far.lows[b] != at.keys[0] {
			return fmt.Errorf("block %d of the far levels has %d and begins at %d", b, at.used, l.far.lows[b])
		}
	}
	return nil
}

func (l *Ladder) checkLevel(
	a *Arena, where State, price bourse.Price, level Level, belongs func(*Order) bool,
) error {
	var total bourse.Lots
	prev := Slot(0)
	for s := level.Head; s != 0; prev, s = s, a.Next(s) {
		o := a.At(s)
		at, counts := o.Price, o.Left()
		if where == Waiting {
			at, counts = a.Stop(s).Price, 0
		}

		if a.links(s).prev != prev || o.State != where || at != price || !belongs(o) || a.Find(o.ID) != s {
			return fmt.Errorf("order %d does not belong at %d", o.ID, price)
		}
		if counts > bourse.MaxLots-total {
			return fmt.Errorf("level %d has more than fits", price)
		}
		total += counts
	}
	if total != level.Total || level.Head == 0 {
		return fmt.Errorf("level %d has %d lots and counts %d", price, total, level.Total)
	}
	return nil
}

// checkLists checks each account's list against its count and the order of ids.
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
