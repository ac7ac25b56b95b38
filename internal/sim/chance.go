package sim

import "github.com/bourse-exchange/bourse/internal/core/engine/enginetest"

// chance draws. What it draws follows from its seed alone, on every machine.
type chance struct{ enginetest.Seed }

// newChance returns the source of one of a seed's streams, so that drawing more
// in one place changes nothing elsewhere.
func newChance(seed, stream uint64) *chance {
	s := enginetest.Seed(seed*0x9e3779b97f4a7c15 + stream)
	return &chance{enginetest.Seed(s.Below(1<<63) ^ stream<<32)}
}

// oneIn is true once in n times, and never if n is zero.
func (c *chance) oneIn(n uint64) bool { return n > 0 && c.Below(n) == 0 }

func (c *chance) percent(p uint64) bool { return c.Below(100) < p }

// between returns a number from low to high.
func (c *chance) between(low, high uint64) uint64 { return low + c.Below(high-low+1) }

// pick returns one of a few.
func pick[T any](c *chance, of ...T) T { return of[c.Below(uint64(len(of)))] }
