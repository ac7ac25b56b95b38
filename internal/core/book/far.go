package book

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// blockSize is the number of levels in a block: 3 KiB, so that an insertion moves some
// hundred bytes.
const blockSize = 128

// block holds levels by ascending key. Entries at used and above are garbage.
type block struct {
	used   int
	keys   [blockSize]int64
	levels [blockSize]level
}

// far holds the levels of a ladder without a page, by ascending key, in blocks: 24 bytes
// for each level, twice that when blocks are half full.
type far struct {
	// blocks are never empty. lows[b] is the first key of blocks[b]: a search by block
	// reads only lows.
	blocks []*block
	lows   []int64
}

func (f *far) empty() bool { return len(f.blocks) == 0 }

// last returns the highest key. far must not be empty.
func (f *far) last() int64 {
	b := f.blocks[len(f.blocks)-1]
	return b.keys[b.used-1]
}

// place returns the block and the index of a key, or of its insertion.
func (f *far) place(key int64) (b, i int, found bool) {
	b, found = slices.BinarySearch(f.lows, key)
	if found {
		return b, 0, true
	}
	if b > 0 {
		b--
	}
	at := f.blocks[b]
	if key > at.keys[at.used-1] {
		return b, at.used, false
	}
	i, found = slices.BinarySearch(at.keys[:at.used], key)
	return b, i, found
}

// at returns the level of a key, or nil. The pointer is valid until far changes.
func (f *far) at(key int64) *level {
	if f.empty() {
		return nil
	}
	b, i, found := f.place(key)
	if !found {
		return nil
	}
	return &f.blocks[b].levels[i]
}

// level returns the level of a key, and creates it if missing. The pointer is valid until
// far changes.
func (f *far) level(spare *pool[block], key int64) *level {
	if f.empty() {
		f.insertBlock(spare, 0)
	}
	b, i, found := 0, 0, false
	if f.blocks[0].used > 0 {
		b, i, found = f.place(key)
	}
	if found {
		return &f.blocks[b].levels[i]
	}

	if f.blocks[b].used == blockSize {
		b, i = f.split(spare, b, i)
	}
	at := f.blocks[b]
	copy(at.keys[i+1:at.used+1], at.keys[i:at.used])
	copy(at.levels[i+1:at.used+1], at.levels[i:at.used])
	at.keys[i], at.levels[i] = key, level{}
	at.used++
	f.lows[b] = at.keys[0]
	return &at.levels[i]
}

// split makes room at index i of the full block b, and returns the new block and index.
// Keys inserted in order, from either end, fill their blocks.
func (f *far) split(spare *pool[block], b, i int) (int, int) {
	switch {
	case i == blockSize && b+1 < len(f.blocks) && f.blocks[b+1].used < blockSize:
		return b + 1, 0
	case i == blockSize:
		f.insertBlock(spare, b+1)
		return b + 1, 0
	case b == 0 && i == 0:
		f.insertBlock(spare, 0)
		return 0, 0
	}
	f.insertBlock(spare, b+1)
	f.move(b, b+1, blockSize/2)
	if i > blockSize/2 {
		return b + 1, i - blockSize/2
	}
	return b, i
}

func (f *far) insertBlock(spare *pool[block], b int) {
	at := spare.get()
	at.used = 0
	f.blocks = slices.Insert(f.blocks, b, at)
	f.lows = slices.Insert(f.lows, b, 0)
}

// move appends the levels of block from, starting at i, to block to.
func (f *far) move(from, to, i int) {
	src, dst := f.blocks[from], f.blocks[to]
	n := copy(dst.keys[dst.used:], src.keys[i:src.used])
	copy(dst.levels[dst.used:], src.levels[i:src.used])
	dst.used += n
	src.used -= n
	f.lows[to] = dst.keys[0]
}

// remove removes an existing level.
func (f *far) remove(spare *pool[block], key int64) {
	b, i, _ := f.place(key)
	at := f.blocks[b]
	copy(at.keys[i:], at.keys[i+1:at.used])
	copy(at.levels[i:], at.levels[i+1:at.used])
	at.used--
	if at.used > 0 {
		f.lows[b] = at.keys[0]
	}

	switch {
	case at.used == 0:
		f.removeBlock(spare, b)
	case at.used < blockSize/4 && b > 0:
		f.merge(spare, b-1)
	case at.used < blockSize/4 && len(f.blocks) > 1:
		f.merge(spare, 0)
	}
}

// merge joins a block with the next one, unless few insertions would split them again.
func (f *far) merge(spare *pool[block], b int) {
	if f.blocks[b].used+f.blocks[b+1].used > blockSize*3/4 {
		return
	}
	f.move(b+1, b, 0)
	f.removeBlock(spare, b+1)
}

func (f *far) removeBlock(spare *pool[block], b int) {
	spare.put(f.blocks[b])
	f.blocks = slices.Delete(f.blocks, b, b+1)
	f.lows = slices.Delete(f.lows, b, b+1)
}

// pop removes and returns the level of the highest key. far must not be empty.
func (f *far) pop(spare *pool[block]) level {
	b := len(f.blocks) - 1
	at := f.blocks[b]
	at.used--
	top := at.levels[at.used]
	if at.used == 0 {
		f.removeBlock(spare, b)
	}
	return top
}

// descend yields the levels, highest key first, until yield returns false.
func (f *far) descend(l *Ladder, yield func(bourse.Price, Level) bool) {
	for b := len(f.blocks) - 1; b >= 0; b-- {
		at := f.blocks[b]
		for i := at.used - 1; i >= 0; i-- {
			if !yield(l.price(at.keys[i]), at.levels[i].shown()) {
				return
			}
		}
	}
}
