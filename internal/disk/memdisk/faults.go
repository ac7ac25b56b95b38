package memdisk

import (
	"errors"
	"fmt"
)

// ErrStopped is the error of every operation after the machine has stopped.
var ErrStopped = errors.New("the machine has stopped")

// OpKind is a kind of operation.
type OpKind uint8

// The kinds of operations. Those up to OpLock change the disk and are counted by Ops, the
// others by Reads, except OpClose, which cannot fail.
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

// Changes reports whether an operation of this kind can change the outcome of a crash.
func (k OpKind) Changes() bool { return k <= OpLock }

// Op is an operation about to run.
type Op struct {
	Kind OpKind
	// Number counts the changing operations, or the others, from one.
	Number int
	Name   string
	// Offset and Size are set for reads, writes and truncations.
	Offset int64
	Size   int
}

// ShortWriteError makes a write stop after Written bytes.
type ShortWriteError struct {
	Written int
	Cause   error
}

// Error names the number of bytes written.
func (e *ShortWriteError) Error() string {
	return fmt.Sprintf("short write of %d bytes: %v", e.Written, e.Cause)
}

// Unwrap returns the cause.
func (e *ShortWriteError) Unwrap() error { return e.Cause }

// faults are the planned faults and the operation counts.
type faults struct {
	ops, reads int
	// capacity bounds the total size of all files in bytes.
	capacity int64
	// failAt and stopAt are operation numbers; zero is none.
	failAt  int
	failErr error
	stopAt  int
	// flipAt is the number of the read that gets a bit flipped; zero is none.
	flipAt int
	inject func(Op) error
}

// Ops returns the number of operations that change the disk, failed ones included.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Reads returns the number of operations that do not change the disk.
func (d *Disk) Reads() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

// FailAt makes the n-th changing operation from now fail, and only that one; one is the
// next. A *ShortWriteError makes a write stop early; any other error makes it write
// nothing.
func (d *Disk) FailAt(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failAt, d.failErr = d.ops+n, err
}

// StopAt makes the n-th changing operation from now, and every later operation, fail with
// ErrStopped and change nothing; one is the next. With Crash it simulates a crash between
// any two operations.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = d.ops + n
}

// Inject calls hook before every operation; an error that it returns is the operation's.
// The hook must not call the disk. Nil removes it.
func (d *Disk) Inject(hook func(Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inject = hook
}

// SetCapacity bounds the total size of all files in bytes.
func (d *Disk) SetCapacity(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = bytes
}

// FlipRead flips a bit in the n-th non-changing operation from now, one being the next.
// If that is no read of a file's bytes, the next such read is meant.
func (d *Disk) FlipRead(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flipAt = d.reads + n
}

// Damage flips the bits of mask in a byte of a file whose sectors are durable, like a
// decaying medium. It counts no operation.
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

// count counts an operation and returns its fault. The caller holds mu.
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

// short returns the number of bytes that a failing write has written.
func (d *Disk) short(err error, size int) int {
	var short *ShortWriteError
	if errors.As(err, &short) {
		return min(short.Written, size)
	}
	return 0
}

// flip flips a bit of b, if a flip is due.
func (d *Disk) flip(b []byte) {
	if d.flipAt == 0 || d.reads < d.flipAt || len(b) == 0 {
		return
	}
	d.flipAt = 0
	at := d.rand().IntN(len(b) * 8)
	b[at/8] ^= 1 << (at % 8)
}
