package hdkeys

import (
	"encoding/binary"
	"sync"
)

// slot is an address of the table: its program, and the account that it belongs to, with unproven or without; zero
// for a free slot.
type slot struct {
	program [20]byte
	account uint32
}

// unproven marks the account of a program that was read from a file. Accounts are below it.
const unproven = hardened

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

// Find returns the account of a program. It is proven if this process derived the program.
func (t *Table) Find(program *[20]byte) (account uint32, proven, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.slots) == 0 {
		return 0, false, false
	}
	s := &t.slots[place(t.slots, program)]
	return s.account &^ unproven, s.account&unproven == 0, s.account != 0
}

// Last returns the highest account in the table.
func (t *Table) Last() uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.last
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

// Add adds the programs of the accounts after the last one.
func (t *Table) Add(programs [][20]byte, proven bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range programs {
		t.last++
		if size := len(t.slots); size == 0 || uint64(t.last)*4 > uint64(size)*3 {
			t.grow(max(minSlots, 2*size))
		}
		s := slot{programs[i], t.last}
		if !proven {
			s.account |= unproven
		}
		t.slots[place(t.slots, &s.program)] = s
	}
}

// Prove marks a program of the table as derived by this process.
func (t *Table) Prove(program *[20]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slots[place(t.slots, program)].account &^= unproven
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
