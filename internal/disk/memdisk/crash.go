package memdisk

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// Crash returns the disk that a machine finds after a power loss at this moment. The
// original disk stays usable, so that a test can draw several outcomes of one moment.
// Pending faults are not copied.
func (d *Disk) Crash() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rand()
	names := maps.Clone(d.durable)
	for i := range d.pending {
		if r.IntN(2) == 0 {
			d.pending[i].apply(names)
		}
	}

	after := New(r.Uint64())
	after.capacity = d.capacity

	copies := map[*node]*node{}
	for _, name := range sortedKeys(names) {
		if reachable(names, name) {
			after.names[name] = survivor(names[name], copies, r)
		}
	}
	after.durable = maps.Clone(after.names)
	return after
}

// reachable reports whether all directories above a name exist.
func reachable(names map[string]*node, name string) bool {
	for name != root {
		name = path.Dir(name)
		if n := names[name]; n == nil || !n.dir {
			return false
		}
	}
	return true
}

// survivor returns the copy of a node after a crash, the same for each of its names.
func survivor(n *node, copies map[*node]*node, r *rand.Rand) *node {
	if c := copies[n]; c != nil {
		return c
	}
	c := &node{dir: n.dir}
	if !n.dir {
		c.content = n.survive(r)
	}
	copies[n] = c
	return c
}

// Clone returns a copy of the disk in the same state, with the same random source and
// operation counts, but without locks, hooks and open files.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	chance := *d.chance
	c := &Disk{
		locks: map[string]bool{}, chance: &chance,
		faults: faults{capacity: d.capacity, ops: d.ops, reads: d.reads},
	}

	copies := map[*node]*node{nil: nil}
	twin := func(n *node) *node {
		if _, ok := copies[n]; !ok {
			copies[n] = &node{dir: n.dir, content: n.clone()}
		}
		return copies[n]
	}

	c.names, c.durable = map[string]*node{}, map[string]*node{}
	for name, n := range d.names {
		c.names[name] = twin(n)
	}
	for name, n := range d.durable {
		c.durable[name] = twin(n)
	}
	for _, p := range d.pending {
		p.node, p.gone = twin(p.node), twin(p.gone)
		c.pending = append(c.pending, p)
	}
	return c
}

// sortedKeys returns a map's keys in order, so that random choices repeat.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
