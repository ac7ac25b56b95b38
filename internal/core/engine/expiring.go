package engine

// expirer is an element of a heap by time of expiry.
type expirer[E any] interface {
	// before reports whether it expires before another element. No two are equal.
	before(E) bool
	// moved stores its index in the heap.
	moved(to int)
}

// expiring is a heap whose first element expires first, for container/heap.
type expiring[E expirer[E]] []E

// Len returns the number of elements.
func (h expiring[E]) Len() int { return len(h) }

// Less orders by expiry.
func (h expiring[E]) Less(i, j int) bool { return h[i].before(h[j]) }

// Swap swaps two elements and updates their indexes.
func (h expiring[E]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].moved(i)
	h[j].moved(j)
}

// Push adds an E.
func (h *expiring[E]) Push(x any) {
	one := x.(E) //nolint:forcetypeassert // the heap holds nothing else
	one.moved(len(*h))
	*h = append(*h, one)
}

// Pop removes the last element.
func (h *expiring[E]) Pop() any {
	list := *h
	one := list[len(list)-1]
	var none E
	list[len(list)-1] = none
	*h = list[:len(list)-1]
	return one
}
