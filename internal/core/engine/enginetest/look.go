package enginetest

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// look writes a part of the state to the script's output.
func (s *Script) look(words []string) error {
	if words[0] == "orders" {
		for _, o := range s.pair.Oracle.OpenOrders() {
			s.tell("%s", s.order(&o))
		}
		return nil
	}
	if err := want(words, 2); err != nil {
		return err
	}
	if words[0] == "book" {
		return s.book(words[1])
	}
	return s.balances(words[1])
}

func (s *Script) book(pair string) error {
	m, err := s.marketNamed(pair)
	if err != nil {
		return err
	}
	for _, side := range [...]bourse.Side{bourse.Sell, bourse.Buy} {
		levels := s.pair.Engine.Depth(m.ID, side)
		for i := range levels {
			l := levels[i]
			if side == bourse.Sell { // lowest price next to the bids
				l = levels[len(levels)-1-i]
			}
			s.tell("%s %s at %s", side, l.Lots.Format(m.BasePrecision), l.Price.Format(m.QuotePrecision))
		}
	}
	if len(s.out) == 0 {
		s.tell("empty")
	}
	return nil
}

func (s *Script) balances(name string) error {
	id, err := s.accountNamed(name)
	if err != nil {
		return err
	}
	for _, a := range s.pair.Oracle.assets {
		b := s.pair.Engine.Balance(id, a.ID)
		if b.Available.IsZero() && b.Held.IsZero() {
			continue
		}

		held := ""
		if !b.Held.IsZero() {
			held = fmt.Sprintf(", %s held", b.Held.Format(a.Scale))
		}
		s.tell("%s %s%s", b.Available.Format(a.Scale), a.Symbol, held)
	}
	return nil
}

// Restart continues with the engine that was restored from a snapshot, as a restarted
// process does.
func (p *Pair) Restart() error {
	if err := p.Restore(); err != nil {
		return err
	}
	p.Engine, p.twin = p.twin, p.Engine
	return p.Check()
}
