package sim

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	second = bourse.Second
	minute = bourse.Minute
	hour   = bourse.Hour
)

// world is an exchange with its environment.
type world struct {
	Options
	chance *chance
	shape  shape
	steps  uint64
	now    bourse.Time
	ctx    context.Context //nolint:containedctx // the world has one, which never ends

	identity journal.Identity
	disk     *memdisk.Disk
	store    *store
	faults   faults
	// process is nil while the exchange is down; lives counts the processes, starting is
	// true during a start.
	process  *process
	lives    int
	starting bool
	// anchored is true if there was a snapshot that this history's cursor had reached.
	anchored bool
	// decayed is the name of the last damaged snapshot.
	decayed string

	clients clients
	wallets *wallets
	truth   *truth
	trail   *trail
	counts  Counts
}

func newWorld(o Options) *world {
	c := newChance(o.Seed, 1)
	w := &world{
		Options: o, chance: c, shape: drawShape(c, o.Commands), now: genesisTime, ctx: context.Background(),
		identity: journal.Identity{Exchange: [16]byte{'s', 'i', 'm', byte(o.Seed)}, Sandbox: true},
		disk:     memdisk.New(o.Seed), truth: newTruth(), trail: newTrail(),
	}
	w.store = newStore(w)
	draw := enginetest.NewWorkload
	if w.shape.networks > 0 {
		draw = enginetest.NewModestWorkload
	}
	w.clients = clients{world: w, work: draw(newChance(o.Seed, 2), w.truth.pair.Oracle)}
	w.wallets = newWallets(w)
	w.install()
	return w
}

func (w *world) count(k Kind) { w.counts[k]++ }

// mostSteps bounds the steps per command; more mean that there is no progress.
const mostSteps = 400

// safety runs the exchange with faults, until clients have sent their commands.
func (w *world) safety() {
	for w.clients.asked < w.Commands {
		w.turn()
	}
}

// turn makes a step of the world: of a part, or a fault.
func (w *world) turn() {
	if w.steps++; w.steps > uint64(w.Commands+1000)*mostSteps {
		fail("no progress: %d commands were asked for in %d steps", w.clients.asked, w.steps)
	}
	if w.process == nil {
		w.start()
		return
	}
	w.disturb()
	switch {
	case w.chance.oneIn(w.shape.kill):
		w.die(Killed)
	case w.chance.oneIn(w.shape.stop):
		w.shutDown()
	default:
		w.step(w.draw())
	}
}

// draw returns the part that makes the next step.
func (w *world) draw() part {
	total := uint64(0)
	for _, weight := range w.shape.weights {
		total += weight
	}
	at := w.chance.Below(total)
	for p, weight := range w.shape.weights {
		if at < weight {
			return part(p)
		}
		at -= weight
	}
	return partClock
}

// step makes a step of a part.
func (w *world) step(p part) {
	if w.steps < w.faults.stalledUntil[p] {
		return
	}
	if p == partWallets {
		w.wallets.act()
		return
	}

	x := w.process
	var err error
	w.faults.syncFailed = ""

	switch p {
	case partClients:
		w.clients.act()
	case partWrite:
		_, err = x.sequencer.Write(w.now)
	case partApply:
		err = w.apply()
	case partPrepare:
		err = w.prepare()
	case partFollow:
		err = w.follow()
	default:
		w.now += bourse.Time(w.chance.Below(w.shape.pause))
	}

	w.judge(p, err)
}

func (w *world) apply() error {
	more, err := w.process.sequencer.Apply()
	if more && err == nil {
		w.clients.collect()
		w.wallets.check()
		if w.chance.oneIn(checkEvery * w.shape.length) {
			w.check()
		}
	}
	return err
}

// prepare prepares the next segment. A full disk does not stop the process.
func (w *world) prepare() error {
	_, err := w.process.log.Prepare()
	if disk.IsFull(err) && w.excused(err) && w.faults.syncFailed == "" {
		return nil
	}
	return err
}

// follow steps the follower. Errors to retry do not stop the process.
func (w *world) follow() error {
	_, err := w.process.follower.Step(w.ctx)
	retry := (*follower.RetryError)(nil)
	if errors.As(err, &retry) {
		if !w.excused(err) {
			fail("the follower failed, and nothing was wrong: %w", err)
		}
		return nil
	}
	return err
}

// judge judges the end of a step: an error ends the process, and must have a fault as its
// cause; a failed sync must have ended it.
func (w *world) judge(p part, err error) {
	cut := w.faults.stopped
	switch {
	case err != nil && !w.excused(err):
		fail("%s failed, and nothing was wrong: %w", partNames[p], err)
	case err == nil && w.faults.syncFailed != "" && !cut:
		fail("%s went on after a failed %s", partNames[p], w.faults.syncFailed)
	case err == nil && !cut:
		return
	}

	w.trail.note("step %d: %s ends: %v", w.steps, partNames[p], err)
	if p != partApply && w.chance.oneIn(2) {
		w.applyRest()
	}
	if p != partFollow && w.chance.oneIn(2) {
		w.followRest()
	}

	if cut {
		w.die(w.faults.how)
	} else {
		w.die(pick(w.chance, Killed, PowerCut))
	}
}

// applyRest applies all durable frames, as the applying goroutine may before the process
// has ended.
func (w *world) applyRest() {
	for more := true; more; {
		var err error
		more, err = w.process.sequencer.Apply()
		want(err, "applying what is durable")
	}
	w.clients.collect()
}

// followRest steps the follower until the process has ended.
func (w *world) followRest() {
	for n := w.chance.Below(5); n > 0; n-- {
		if err := w.follow(); err != nil && !w.excused(err) {
			fail("behind a log that failed, the follower failed: %w", err)
		}
	}
}

// die ends the process. A power cut loses unsynced writes, or not.
func (w *world) die(how Kind) {
	w.count(how)
	w.trail.note("step %d: %s at command %d", w.steps, how, w.truth.last())
	w.wallets.end(how)
	if how == PowerCut || how == PowerCutInStart {
		w.disk = w.disk.Crash()
	} else {
		w.disk = w.disk.Clone()
	}
	w.end()
}

// end resets the world after the end of a process.
func (w *world) end() {
	w.process = nil
	w.faults.began()
	w.install()
	w.clients.hangUp()
}

// shutDown stops the process in order.
func (w *world) shutDown() {
	w.faults.syncFailed = ""
	err := w.process.stop(w.ctx)
	w.clients.collect()
	if err != nil || w.faults.stopped || w.faults.syncFailed != "" {
		w.judge(partWrite, errors.Join(err))
		return
	}

	w.count(Stopped)
	w.trail.note("step %d: stopped at command %d", w.steps, w.truth.last())
	w.wallets.end(Stopped)
	w.disk = w.disk.Clone()
	w.end()
}
