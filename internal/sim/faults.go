package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// errDisk is the error of a failing disk operation.
var errDisk = fmt.Errorf("the simulated disk: %w", syscall.EIO)

// never is beyond the end of any simulation.
const never = math.MaxInt32

// faults are the planned faults, and those since the process began.
type faults struct {
	// next is the operation to fail with err, as kind; cut is the operation before which
	// the process ends, with the machine or alone as how tells.
	next, cut trigger
	err       error
	kind, how Kind
	// flipAt is the number of the read that gets a bit flipped; zero is none.
	flipAt int
	// fullUntil is the step at which the disk has room again, downUntil the step at which
	// the history store answers again; zero if they do now.
	fullUntil, downUntil uint64
	stalledUntil         [parts]uint64

	// stopped is true once the process has ended. fired, flipped and full are since the
	// process began, syncFailed since the current step began.
	stopped              bool
	fired, flipped, full bool
	// named is true between the renaming of a snapshot and the next operation.
	named      bool
	syncFailed string
}

// trigger waits for one of the operations that it matches.
type trigger struct {
	// matches is nil if nothing is planned; left is the number of matches to let pass.
	matches func(memdisk.Op) bool
	left    uint64
}

func (t *trigger) waits() bool { return t.matches != nil }

// pulled reports whether this is the operation to trigger at.
func (t *trigger) pulled(op memdisk.Op) bool {
	switch {
	case t.matches == nil || !t.matches(op):
		return false
	case t.left > 0:
		t.left--
		return false
	}
	t.matches = nil
	return true
}

func (f *faults) historyDown(step uint64) bool { return step < f.downUntil }

// began resets the faults for a new process.
func (f *faults) began() {
	*f = faults{fullUntil: f.fullUntil, downUntil: f.downUntil, full: f.fullUntil > 0}
}

// install installs the faults in the world's disk.
func (w *world) install() {
	w.disk.Inject(func(op memdisk.Op) error {
		f := &w.faults
		if f.stopped {
			return memdisk.ErrStopped
		}

		if f.cut.pulled(op) {
			f.stopped = true
			w.trail.note("the end comes before the %s of %s", op.Kind, op.Name)
			return memdisk.ErrStopped
		}

		if op.Kind == memdisk.OpRead && f.flipAt != 0 && op.Number >= f.flipAt && op.Size > 0 {
			f.flipAt, f.flipped = 0, true
			w.count(BitFlipped)
			w.trail.note("a bit flips in %s, from %d", op.Name, op.Offset)
		}

		if f.next.pulled(op) {
			return w.fire(op)
		}

		w.watch(op)
		return nil
	})
}

// watch counts snapshots and archived segments.
func (w *world) watch(op memdisk.Op) {
	if isNaming(op) && w.faults.named {
		w.anchored = true // by a snapshot that history has reached
	}
	w.faults.named = op.Kind == memdisk.OpRename && strings.HasPrefix(op.Name, snapshotDir)
	switch {
	case op.Kind != memdisk.OpRename:
	case strings.HasPrefix(op.Name, snapshotDir):
		w.count(SnapshotTaken)
	case strings.HasPrefix(op.Name, journal.ArchiveDir):
		w.count(Archived)
	}
}

// fire returns the error of a failing operation.
func (w *world) fire(op memdisk.Op) error {
	f := &w.faults
	err := f.err
	f.fired = true
	if f.kind == ShortWrite {
		err = &memdisk.ShortWriteError{Written: int(w.chance.Below(uint64(op.Size) + 1)), Cause: err}
	}
	if isSync(op) {
		f.syncFailed = op.Kind.String() + " of " + op.Name
	}
	w.count(f.kind)
	w.trail.note("%s of %s fails: %v", op.Kind, op.Name, err)
	return err
}

func isSync(op memdisk.Op) bool { return op.Kind == memdisk.OpSync || op.Kind == memdisk.OpSyncDir }

func isWrite(op memdisk.Op) bool { return op.Kind == memdisk.OpWrite }

func isOther(op memdisk.Op) bool { return !isSync(op) && !isWrite(op) }

// changes matches the operations that can change the outcome of a crash.
func changes(op memdisk.Op) bool { return op.Kind.Changes() }

// isCommit matches the sync that makes a frame durable.
func isCommit(op memdisk.Op) bool {
	return op.Kind == memdisk.OpSync && strings.HasPrefix(op.Name, journal.LiveDir) &&
		strings.HasSuffix(op.Name, ".seg")
}

// plan makes one of the next operations fail.
func (w *world) plan(kind Kind, within uint64) {
	f := &w.faults
	f.kind, f.err, f.next.left = kind, errDisk, w.chance.Below(within)
	switch kind {
	case SyncFailed:
		f.next.matches = isSync
	case WriteFailed:
		f.next.matches = isWrite
	case ShortWrite:
		f.next.matches = isWrite
		if w.chance.oneIn(2) {
			f.err = syscall.ENOSPC
		}
	default:
		f.next.matches = isOther
	}
}

// isNaming matches the sync that makes names durable.
func isNaming(op memdisk.Op) bool { return op.Kind == memdisk.OpSyncDir }

// cut ends the process before one of the next changing operations: any, or between the
// write of a frame and its sync, or before a name is durable.
func (w *world) cut(how Kind, within uint64) {
	f := &w.faults
	f.how = how
	switch w.chance.Below(4) {
	case 0:
		f.cut = trigger{isNaming, w.chance.Below(3)}
	case 1:
		f.cut = trigger{isCommit, w.chance.Below(3)}
	default:
		f.cut = trigger{changes, w.chance.Below(within)}
	}
}

// flipBit flips a bit in one of the next reads.
func (w *world) flipBit(within uint64) {
	n := 1 + int(w.chance.Below(within))
	w.disk.FlipRead(n)
	w.faults.flipAt = w.disk.Reads() + n
}

// fillDisk leaves the disk little room for a while.
func (w *world) fillDisk() {
	free, err := w.disk.Free()
	want(err, "room on the disk")
	used := math.MaxInt64 - int64(free) // the disk is unlimited at this point
	w.disk.SetCapacity(used + int64(w.chance.Below(uint64(2*w.shape.segment))))
	w.faults.full, w.faults.fullUntil = true, w.steps+w.chance.between(20, 400)
	w.count(DiskFull)
	w.trail.note("the disk is full")
}

// withoutRoom reports whether a command was refused because of a full disk, and the disk
// is full.
func (w *world) withoutRoom(err error) bool {
	if !errors.Is(err, sequencer.ErrNoRoom) || !w.faults.full && !w.faults.fired {
		return false
	}
	w.count(NoRoom)
	return true
}

// emptyDisk removes the disk's limit.
func (w *world) emptyDisk() {
	w.disk.SetCapacity(math.MaxInt64)
	w.faults.fullUntil = 0
}

// disturb draws the faults of a step.
func (w *world) disturb() {
	s, c, f := &w.shape, w.chance, &w.faults
	if f.fullUntil != 0 && w.steps >= f.fullUntil {
		w.emptyDisk()
	}

	switch {
	case c.oneIn(s.powerCut) && !f.cut.waits():
		w.cut(PowerCut, 40)
	case c.oneIn(s.killInside) && !f.cut.waits():
		w.cut(Killed, 40)
	case c.oneIn(s.sync) && !f.next.waits():
		w.plan(SyncFailed, 6)
	case c.oneIn(s.operation) && !f.next.waits():
		w.plan(OperationFailed, 30)
	case c.oneIn(s.write) && !f.next.waits():
		w.plan(pick(c, WriteFailed, ShortWrite), 10)
	case c.oneIn(s.full) && f.fullUntil == 0:
		w.fillDisk()
	case c.oneIn(s.flip) && f.flipAt == 0:
		w.flipBit(20)
	case c.oneIn(s.history):
		f.downUntil = w.steps + c.between(10, 600)
	case c.oneIn(s.stall):
		f.stalledUntil[c.between(uint64(partWrite), uint64(partFollow))] = w.steps + c.between(20, 600)
		w.count(Stalled)
	case c.oneIn(s.clock):
		w.jump()
	}
}

// jump moves the clock.
func (w *world) jump() {
	by := pick(w.chance, second, minute, hour, 13*hour, 24*hour, 30*hour)
	if w.chance.oneIn(3) {
		w.now -= by
		w.count(ClockBack)
	} else {
		w.now += by
		w.count(ClockForward)
	}
	w.trail.note("the clock jumps to %d", w.now)
}

// excused reports whether a fault explains an error.
func (w *world) excused(err error) bool {
	f := &w.faults
	damage := (*journal.DamageError)(nil)

	switch {
	case errors.Is(err, memdisk.ErrStopped):
		return f.stopped
	case errors.Is(err, errDisk):
		return f.fired
	case errors.Is(err, syscall.ENOSPC):
		return f.full || f.fired
	case errors.Is(err, errHistory):
		return true
	case errors.As(err, &damage):
		return f.flipped
	default:
		return f.flipped
	}
}
