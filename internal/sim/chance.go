package sim

import "github.com/bourse-exchange/bourse/internal/core/engine/enginetest"

// chance is a random source that its seed determines, on every machine.
type chance struct{ enginetest.Seed }

// newChance returns one stream of a seed. More draws from one stream do not change the
// others.
func newChance(seed, stream uint64) *chance {
	s := enginetest.Seed(seed*0x9e3779b97f4a7c15 + stream)
	return &chance{enginetest.Seed(s.Below(1<<63) ^ stream<<32)}
}

// oneIn is true with a probability of one in n, and never if n is zero.
func (c *chance) oneIn(n uint64) bool { return n > 0 && c.Below(n) == 0 }

func (c *chance) percent(p uint64) bool { return c.Below(100) < p }

// between returns a number in [low, high].
func (c *chance) between(low, high uint64) uint64 { return low + c.Below(high-low+1) }

// pick returns one of its arguments.
func pick[T any](c *chance, of ...T) T { return of[c.Below(uint64(len(of)))] }
