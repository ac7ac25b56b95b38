package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// snapshotDir is the product's directory of snapshots.
const snapshotDir = "snapshots"

// start starts the exchange, with faults of its own.
func (w *world) start() {
	c, s := w.chance, &w.shape
	w.loseHistory()
	if c.oneIn(s.decayed) {
		w.refuseDecay()
	}
	if c.oneIn(s.decayed) {
		w.decaySnapshot()
	}

	switch {
	case c.oneIn(s.cutInStart):
		w.cut(pick(c, PowerCutInStart, PowerCutInStart, KilledInStart), 30)
	case c.oneIn(s.failInStart):
		w.plan(pick(c, SyncFailed, OperationFailed, WriteFailed, ShortWrite), 8)
	case c.oneIn(s.flipped):
		w.flipBit(12)
	}

	p, err := w.open()
	switch cut := w.faults.stopped; {
	case err != nil && !w.excused(err):
		fail("the start failed, and nothing was wrong: %w", err)
	case err == nil && w.faults.syncFailed != "" && !cut:
		fail("the start went on after a failed %s", w.faults.syncFailed)
	case cut:
		w.trail.note("start: %v", err)
		w.die(w.faults.how)
	case err != nil:
		w.trail.note("start: %v", err)
		if disk.IsFull(err) {
			w.emptyDisk() // as an operator would
		}
		w.die(Killed)
	default:
		w.serve(p)
	}
}

// open opens the exchange.
func (w *world) open() (*process, error) {
	w.starting = true
	defer func() { w.starting = false }()
	w.faults.syncFailed = ""
	return open(w.ctx, w)
}

// serve puts a started process into service.
func (w *world) serve(p *process) {
	w.process = p
	w.lives++
	if p.recovered.Torn != nil {
		w.count(TornEnd)
	}
	w.trail.note("step %d: life %d begins at command %d, term %d",
		w.steps, w.lives, p.engine.Seq(), p.recovered.Tip.Term+1)
	if p.engine.Seq() < w.truth.last() {
		fail("the journal ends at command %d, and command %d was yielded", p.engine.Seq(), w.truth.last())
	}
	w.check()
	if w.truth.last() > 0 && w.chance.oneIn(deepEvery*w.shape.length) {
		w.checkDeep()
	}
}

// checkAnchor checks that a snapshot at or below history's cursor exists, if there ever
// was a durable one for this history.
func (w *world) checkAnchor(found bool) {
	if w.anchored && !found && !w.faults.flipped {
		fail("no snapshot is left that history's cursor has reached")
	}
}

// loseHistory deletes the history store, or its last batches.
func (w *world) loseHistory() {
	switch {
	case w.chance.oneIn(w.shape.deleted):
		w.store, w.anchored = newStore(w), false
		w.count(HistoryDeleted)
		w.trail.note("history is deleted")
	case w.chance.oneIn(w.shape.wentBack) && len(w.store.batches) > 0:
		n := 1 + int(w.chance.Below(uint64(min(len(w.store.batches), pick(w.chance, 3, 10, 1000)))))
		w.store, w.anchored = w.store.without(n), false
		w.count(HistoryWentBack)
		w.trail.note("history lost %d batches", n)
	}
}

// files returns the journal on a copy of the disk, without faults.
func (w *world) files() *journal.Files {
	d := w.disk.Clone()
	d.SetCapacity(math.MaxInt64)
	return journal.NewFiles(d, w.identity)
}

// refuseDecay damages a byte before the watermark in a copy of the disk. The start must
// refuse and name the file.
func (w *world) refuseDecay() {
	end, ok, err := w.files().End(nil)
	want(err, "the journal's end")
	if !ok {
		return
	}

	d := w.disk.Clone()
	names, err := d.List(journal.LiveDir)
	want(err, "the journal's files")
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".seg") })
	name := journal.LiveDir + "/" + pick(w.chance, names...)

	b, err := disk.ReadFile(d, name)
	want(err, name)
	limit := int64(len(b))
	if name == end.Segment.Name() {
		limit = max(end.LastOffset, journal.Block)
	}
	w.tryDecayed(name, int64(w.chance.Below(uint64(limit))))
}

// tryDecayed starts the exchange with a byte changed, and then restores the disk.
func (w *world) tryDecayed(name string, off int64) {
	before := w.disk
	w.disk = before.Clone()
	w.install()
	if err := w.disk.Damage(name, off, byte(w.chance.between(1, 255))); err != nil {
		fail("damaging %s: %w", name, err)
	}
	w.trail.note("byte %d of %s decays", off, name)

	_, err := w.open()
	damage := (*journal.DamageError)(nil)

	switch {
	case err == nil:
		fail("a start did not notice that byte %d of %s was another one", off, name)
	case errors.As(err, &damage) && damage.File != name:
		fail("byte %d of %s was another one, and the start said: %w", off, name, err)
	case damage == nil && !w.excused(err):
		fail("byte %d of %s was another one, and the start said: %w", off, name, err)
	}

	if damage != nil {
		w.count(Decayed)
	}
	w.trail.note("%v", fmt.Sprint(err))
	w.disk = before
}

// decaySnapshot damages a byte of a snapshot for good. Starts skip it. Since one of the
// two newest snapshots, and of the ones history may need, must stay good, no other one
// is damaged until it is gone.
func (w *world) decaySnapshot() {
	d := w.disk.Clone()
	names, err := d.List(snapshotDir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	want(err, "the snapshots")
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".snap") })
	if len(names) == 0 || slices.Contains(names, w.decayed) {
		return
	}

	w.decayed, w.anchored = pick(w.chance, names...), false
	name := snapshotDir + "/" + w.decayed
	b, err := disk.ReadFile(d, name)
	want(err, name)
	want(w.disk.Damage(name, int64(w.chance.Below(uint64(len(b)))), byte(w.chance.between(1, 255))), name)
	w.count(SnapshotDecayed)
	w.trail.note("%s decays", name)
}

// withoutDecayed removes the damaged snapshot from a copy of the disk.
func (w *world) withoutDecayed(d *memdisk.Disk) {
	if err := d.Remove(snapshotDir + "/" + w.decayed); w.decayed != "" && !errors.Is(err, fs.ErrNotExist) {
		want(err, "removing what decayed")
	}
}
