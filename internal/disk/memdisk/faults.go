package memdisk

import (
	"errors"
	"fmt"
)

// ErrStopped is what every operation of a process gets that is no more.
var ErrStopped = errors.New("the machine has stopped")

// OpKind is a kind of operation.
type OpKind uint8

// The kinds of operations. Those up to OpLock change something and are counted
// by Ops, the others by Reads, but for OpClose, which cannot fail.
const (
	OpCreate OpKind = iota + 1
	OpWrite
	OpTruncate
	OpSync
	OpRename
	OpRemove
	OpMkdir
	OpSyncDir
	OpLock
	OpOpen
	OpEdit
	OpRead
	OpList
	OpClose
)

var kindNames = [...]string{
	OpCreate: "create", OpWrite: "write", OpTruncate: "truncate", OpSync: "sync", OpRename: "rename",
	OpRemove: "remove", OpMkdir: "mkdir", OpSyncDir: "syncdir", OpLock: "lock", OpOpen: "open",
	OpEdit: "edit", OpRead: "read", OpList: "list", OpClose: "close",
}

// String returns the kind's name.
func (k OpKind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("OpKind(%d)", k)
	}
	return kindNames[k]
}

// Changes reports whether an operation of this kind can change what a crash
// leaves.
func (k OpKind) Changes() bool { return k <= OpLock }

// Op is an operation that is about to happen.
type Op struct {
	Kind OpKind
	// Number is its place among those that change something, or among those
	// that do not, from one.
	Number int
	Name   string
	// Offset and Size are of reads, writes and truncations.
	Offset int64
	Size   int
}

// ShortWriteError makes a write end early: the first Written bytes are written.
type ShortWriteError struct {
	Written int
	Cause   error
}

// Error says how far the write came.
func (e *ShortWriteError) Error() string {
	return fmt.Sprintf("short write of %d bytes: %v", e.Written, e.Cause)
}

// Unwrap returns the cause.
func (e *ShortWriteError) Unwrap() error { return e.Cause }

// faults is what goes wrong.
type faults struct {
	ops, reads int
	// capacity is how many bytes all files together may have.
	capacity int64
	// failAt and stopAt are operations; zero is none.
	failAt  int
	failErr error
	stopAt  int
	// flipAt is the read that comes with a bit flipped; zero is none.
	flipAt int
	inject func(Op) error
}

// Ops returns how many operations that change something there were, whether
// they failed or not.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Reads returns how many other operations there were.
func (d *Disk) Reads() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

// FailAt makes the n-th operation that changes something, counted from now and
// one, fail with an error, and only that one. A *ShortWriteError makes a write
// end early; any other error makes it write nothing.
func (d *Disk) FailAt(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failAt, d.failErr = d.ops+n, err
}

// StopAt makes the n-th operation that changes something, counted from now and
// one, and everything after it, fail with ErrStopped and change nothing. With
// Crash it is a crash between any two operations.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = d.ops + n
}

// Inject asks a function about every operation before it happens: an error that
// it returns is the operation's. It must not call the disk. Nil asks nobody.
func (d *Disk) Inject(hook func(Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inject = hook
}

// SetCapacity makes the disk full when all files together have so many bytes.
func (d *Disk) SetCapacity(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = bytes
}

// FlipRead makes the n-th read of a file's bytes, counted from now and one among
// all operations that change nothing, come with a bit flipped. If that operation
// is no read, the next read is meant.
func (d *Disk) FlipRead(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flipAt = d.reads + n
}

// Damage changes a byte of a file whose sectors are durable, as a medium that
// decays: mask says which bits. No operation is counted.
func (d *Disk) Damage(name string, off int64, mask byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return fail(OpWrite, name, err)
	}
	n.own()
	n.bytes[off] ^= mask
	return nil
}

// count counts an operation and returns its fault. The caller holds the lock.
func (d *Disk) count(op Op) error {
	switch {
	case d.stopAt != 0 && d.ops >= d.stopAt:
		return ErrStopped
	case op.Kind.Changes():
		d.ops++
		op.Number = d.ops
	default:
		d.reads++
		op.Number = d.reads
	}
	if d.stopAt != 0 && d.ops >= d.stopAt {
		return ErrStopped
	}
	if op.Kind.Changes() && op.Number == d.failAt {
		return d.failErr
	}
	if d.inject != nil {
		return d.inject(op)
	}
	return nil
}

// short returns how many bytes a write that fails has written.
func (d *Disk) short(err error, size int) int {
	var short *ShortWriteError
	if errors.As(err, &short) {
		return min(short.Written, size)
	}
	return 0
}

// flip flips a bit of what was read, if it is time.
func (d *Disk) flip(b []byte) {
	if d.flipAt == 0 || d.reads < d.flipAt || len(b) == 0 {
		return
	}
	d.flipAt = 0
	at := d.rand().IntN(len(b) * 8)
	b[at/8] ^= 1 << (at % 8)
}
