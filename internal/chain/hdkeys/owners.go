package hdkeys

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// Owners knows which programs are the exchange's: its own two, and those of the accounts that it
// watches. Safe for concurrent use.
//
// A program that a file gave is derived before it counts: once when it is found, once when it is shown. One that is not
// what the file says has all addresses derived again, by the next Watch.
type Owners struct {
	program     func(index uint32) [20]byte
	hot, change [20]byte
	watched     atomic.Pointer[Table]
	// doubted is true once a program of the file was false, until all are derived again.
	doubted atomic.Bool
	log     *slog.Logger

	// growing is held while a batch of accounts is added.
	growing sync.Mutex
	// file is nil without one. Guarded by growing, like the fields below.
	file *File
	// anew becomes watched once it has all accounts; nil while nothing is doubted.
	anew *Table
}

const (
	// batch is the number of accounts that are added at a time, which takes half a second if each is derived.
	batch = 4096
	// sampled is how many programs of a file are read for each that is derived again.
	sampled = 1000
	// progress is the number of derived accounts between two lines of the log.
	progress = 16 * batch
)

// NewOwners returns the owners of a network on which the address with an index has a program.
func NewOwners(program func(index uint32) [20]byte) *Owners {
	o := &Owners{
		program: program, hot: program(chain.IndexHot), change: program(chain.IndexChange),
		log: slog.New(slog.DiscardHandler),
	}
	o.watched.Store(new(Table))
	return o
}

// Keep makes a file keep the derived programs. It is called before Watch, and at most once.
func (o *Owners) Keep(f *File, log *slog.Logger) { o.file, o.log = f, log }

// Close closes the file.
func (o *Owners) Close() error {
	o.growing.Lock()
	defer o.growing.Unlock()
	return o.file.close()
}

// Watch makes the accounts up to this id known. Each new one that is not in the file costs a derivation of a key,
// some 100 µs.
func (o *Owners) Watch(last uint32) {
	for !o.extend(last) {
	}
}

// extend adds a batch of accounts. It reports whether the one with this id is known.
func (o *Owners) extend(last uint32) bool {
	if !o.doubted.Load() && o.watched.Load().Last() >= last {
		return true
	}
	o.growing.Lock()
	defer o.growing.Unlock()
	if o.doubted.Load() && o.anew == nil {
		o.anew = new(Table)
		o.file.cut(0)
	}
	t := o.watched.Load()
	if o.anew != nil {
		last, t = max(last, t.Last()), o.anew
	}

	if from := t.Last() + 1; from <= last && !o.add(t, from, last) {
		o.doubt(from)
		return false
	}
	if t.Last() < last {
		return false
	}
	if o.anew != nil {
		o.watched.Store(t)
		o.anew = nil
		o.doubted.Store(false)
	}
	return true
}

// add adds a batch of the accounts from one to another to a table: those that the file has, or else derived ones,
// which it gives to the file. It reports whether a derived sample of the file is right, and else adds nothing.
func (o *Owners) add(t *Table, from, last uint32) bool {
	programs := make([][20]byte, min(batch, last-from+1))
	if n := o.file.read(from, programs); n > 0 {
		programs = programs[:n]
		for i := range programs {
			//nolint:gosec // seeded by the machine, and drawn after the file was written
			if rand.N(sampled) == 0 && o.program(from+uint32(i)) != programs[i] {
				return false
			}
		}
		t.Add(programs, false)
		return true
	}

	for i := range programs {
		programs[i] = o.program(from + uint32(i))
	}
	t.Add(programs, true)
	o.file.write(from, programs)
	if done := t.Last(); done/progress != (from-1)/progress {
		o.log.Info("addresses are derived", slog.Uint64("accounts", uint64(done)), slog.Uint64("of", uint64(last)))
	}
	return true
}

// doubt makes the next Watch derive all programs again.
func (o *Owners) doubt(account uint32) {
	if !o.doubted.Swap(true) {
		o.log.Error("the file of derived addresses is false, and all are derived again; deposits may have been left out",
			slog.Uint64("account", uint64(account)))
	}
}

// Of returns the owner of a program.
func (o *Owners) Of(program *[20]byte) (chain.Owner, bool) {
	switch *program {
	case o.hot:
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexHot, At: chain.IndexHot}, true
	case o.change:
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexChange, At: chain.IndexChange}, true
	}
	t := o.watched.Load()
	account, proven, ok := t.Find(program)
	if !ok {
		return chain.Owner{}, false
	}
	if !proven {
		if o.program(account) != *program {
			o.doubt(account)
			return chain.Owner{}, false
		}
		t.Prove(program)
	}
	return chain.Owner{Kind: chain.OwnerCustomer, Index: account, At: account}, true
}

// Show compares the program of an address that was derived to be shown with the table.
func (o *Owners) Show(index uint32, program *[20]byte) {
	t := o.watched.Load()
	if index == chain.IndexHot || index > t.Last() {
		return
	}
	switch account, proven, ok := t.Find(program); {
	case !ok || account != index:
		o.doubt(index)
	case !proven:
		t.Prove(program)
	}
}

// Has reports whether a program is the exchange's.
func (o *Owners) Has(program *[20]byte) bool {
	_, ours := o.Of(program)
	return ours
}
