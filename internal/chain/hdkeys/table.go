package hdkeys

import (
	"encoding/binary"
	"sync"
)

// slot is an address of the table: its program, and the account that it belongs to; zero for a
// free slot.
type slot struct {
	program [20]byte
	account uint32
}

// Table maps programs to accounts, in 24 bytes a slot and 64 bytes an address at most. Programs
// are hashes, so their first bytes are their place. Safe for concurrent use.
type Table struct {
	mu    sync.RWMutex
	slots []slot
	// last is the highest account in the table; all below it are there too.
	last uint32
}

// minSlots is the size of the smallest table; sizes are powers of two.
const minSlots = 64

// Find returns the account of a program.
func (t *Table) Find(program *[20]byte) (account uint32, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.look(program)
}

// look is Find with mu held.
func (t *Table) look(program *[20]byte) (account uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	s := &t.slots[place(t.slots, program)]
	return s.account, s.account != 0
}

// place returns the index of a program's slot, or of the free one that it would take.
func place(slots []slot, program *[20]byte) int {
	mask := len(slots) - 1
	at := int(binary.LittleEndian.Uint32(program[:])) & mask
	for slots[at].account != 0 && slots[at].program != *program {
		at = (at + 1) & mask
	}
	return at
}

// Extend adds the accounts up to last, whose programs derive returns. Others wait meanwhile only
// while the table is changed, not while keys are derived.
func (t *Table) Extend(last uint32, derive func(account uint32) [20]byte) {
	t.mu.RLock()
	from := t.last + 1
	t.mu.RUnlock()
	for ; from <= last && from != 0; from++ {
		program := derive(from)
		t.mu.Lock()
		t.add(from, program)
		t.mu.Unlock()
	}
}

// add adds the account after the last; any other is there already, or comes in its turn.
func (t *Table) add(account uint32, program [20]byte) {
	if account != t.last+1 {
		return
	}
	if size := len(t.slots); size == 0 || uint64(account)*4 > uint64(size)*3 {
		t.grow(max(minSlots, 2*size))
	}
	t.slots[place(t.slots, &program)] = slot{program, account}
	t.last = account
}

func (t *Table) grow(size int) {
	slots := make([]slot, size)
	for _, s := range t.slots {
		if s.account != 0 {
			slots[place(slots, &s.program)] = s
		}
	}
	t.slots = slots
}
