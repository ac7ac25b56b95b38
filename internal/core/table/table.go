package table

const (
	pageBits = 6
	pageSize = 1 << pageBits
)

// Table maps ids to entries. The zero value is empty.
type Table[T any] struct {
	pages []*[pageSize]T
}

// At returns the entry of id, making its page if need be.
func (t *Table[T]) At(id uint32) *T {
	pages := t.pages
	if page := uint(id >> pageBits); page < uint(len(pages)) {
		if entries := pages[page]; entries != nil {
			return &entries[id%pageSize]
		}
	}
	return t.grow(id)
}

//go:noinline
func (t *Table[T]) grow(id uint32) *T {
	page := int(id >> pageBits)
	if page >= len(t.pages) {
		t.pages = append(t.pages, make([]*[pageSize]T, page+1-len(t.pages))...)
	}
	t.pages[page] = new([pageSize]T)
	return &t.pages[page][id%pageSize]
}

// Find returns the entry of id, or nil if its page was never touched.
func (t *Table[T]) Find(id uint32) *T {
	pages := t.pages
	if page := uint(id >> pageBits); page < uint(len(pages)) {
		if entries := pages[page]; entries != nil {
			return &entries[id%pageSize]
		}
	}
	return nil
}

// All yields every entry of the touched pages by ascending id, untouched entries
// included.
func (t *Table[T]) All(yield func(id uint32, entry *T) bool) {
	for p, page := range t.pages {
		if page == nil {
			continue
		}
		for i := range page {
			if !yield(uint32(p*pageSize+i), &page[i]) {
				return
			}
		}
	}
}
