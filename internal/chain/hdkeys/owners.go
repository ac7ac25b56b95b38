package hdkeys

import "github.com/bourse-exchange/bourse/internal/chain"

// Owners knows which programs are the exchange's: its own two, and those of the accounts that it
// watches. Safe for concurrent use.
type Owners struct {
	program     func(index uint32) [20]byte
	hot, change [20]byte
	watched     Table
}

// NewOwners returns the owners of a network on which the address with an index has a program.
func NewOwners(program func(index uint32) [20]byte) *Owners {
	return &Owners{program: program, hot: program(chain.IndexHot), change: program(chain.IndexChange)}
}

// Watch makes the accounts up to this id known. Each new one costs a derivation of a key, some
// 100 µs.
func (o *Owners) Watch(last uint32) { o.watched.Extend(last, o.program) }

// Of returns the owner of a program.
func (o *Owners) Of(program *[20]byte) (chain.Owner, bool) {
	switch *program {
	case o.hot:
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexHot, At: chain.IndexHot}, true
	case o.change:
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexChange, At: chain.IndexChange}, true
	}
	account, ok := o.watched.Find(program)
	if !ok {
		return chain.Owner{}, false
	}
	return chain.Owner{Kind: chain.OwnerCustomer, Index: account, At: account}, true
}

// Has reports whether a program is the exchange's.
func (o *Owners) Has(program *[20]byte) bool {
	_, ours := o.Of(program)
	return ours
}
