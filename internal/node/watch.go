package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// watch checks the disk, the clock, idle streams, the history's lag and the anchor every
// second, and reloads the certificate on request.
func (n *Node) watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.Reload:
			n.certificate.Reload()
			if n.deskCertificate != n.certificate {
				n.deskCertificate.Reload()
			}
			continue
		case <-tick.C:
		}
		n.checkRoom()
		n.checkClock()
		n.streams.Ping()
		n.checkLag()
		n.checkHeads()
	}
}

// alwaysFree is the space in bytes that the journal leaves free beside room for
// snapshots, for a start and for the databases.
const alwaysFree = 2 << 20

// leaveRoom computes how many bytes the journal leaves free: the follower writes a
// snapshot while the previous ones are there, and copies superfluous files before it
// removes them.
func (n *Node) leaveRoom() {
	snapshot, err := n.snapshots.NewestBytes()
	if err != nil {
		n.Log.Error("cannot tell how large snapshots are", slog.Any("error", err))
		return
	}
	n.reserved.Store(alwaysFree + 2*uint64(snapshot))
}

// expireEvery is the time between searches for streams with an expired key: they end
// within a second.
const expireEvery = 200 * time.Millisecond

// expire ends streams whose keys have expired. It waits for no disk.
func (n *Node) expire(ctx context.Context) error { return every(ctx, expireEvery, n.streams.Expire) }

// every calls f at an interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			f()
		}
	}
}

// checkRoom refuses new business while the disk is nearly full. Cancels go on as long as
// the journal has segments: they reduce risk.
func (n *Node) checkRoom() {
	n.leaveRoom()
	n.keepRoom()

	free, err := n.disk.Free()
	if err != nil {
		n.Log.Error("cannot tell how much room the disk has", slog.Any("error", err))
		return
	}
	n.room.free.Store(free)
	n.metrics.free.Set(float64(free))
	least := max(n.MinFree, 2*uint64(n.SegmentSize)+n.reserved.Load())
	n.room.least.Store(least)
	n.metrics.least.Set(float64(least))
	if full := free < least; full != n.full.Load() {
		n.full.Store(full)
		n.sequencer.Save(full)
		if full {
			n.Log.Error("the disk is nearly full: only cancels are taken", slog.Uint64("free_bytes", free),
				slog.Uint64("min_free_bytes", least))
			n.refuse(sequencer.Orders, diskFull, errDiskFull)
		} else {
			n.Log.Warn("the disk has room again", slog.Uint64("free_bytes", free))
			n.refuse(sequencer.Orders, diskFull, nil)
		}
	}
}

// unprepared refuses new business while the journal's next segment finds no room: a disk
// that fills up fast can reach this between two calls of checkRoom.
func (n *Node) unprepared(err error) {
	if err == nil {
		n.Log.Warn("the journal's next segment has room again")
		n.refuse(sequencer.Orders, noSegment, nil)
		return
	}
	n.Log.Error("no room for the journal's next segment: only cancels are taken", slog.Any("error", err))
	n.refuse(sequencer.Orders, noSegment, errDiskFull)
}

// checkLag logs when history falls far behind and when it has caught up.
func (n *Node) checkLag() {
	commands, _ := n.tail.Lag()
	if far := commands > uint64(n.TailRows); far != n.lagging {
		n.lagging = far
		if far {
			n.Log.Warn("history lags behind trading", slog.Uint64("commands", commands))
		} else {
			n.Log.Info("history has caught up")
		}
	}
}

// clockJumped closes the intake after a jump forward of the machine's clock.
func (n *Node) clockJumped(by bourse.Time) {
	n.Log.Error("the machine's clock has jumped forward; nothing is taken until an operator accepts its time",
		slog.Duration("by", time.Duration(by)*time.Microsecond), slog.String("accept", n.Admin+" clock accept"))
	n.refuse(sequencer.Orders, clockJumped, errClock)
	n.refuse(sequencer.Cancels, clockJumped, errClock)
}

// checkClock reopens the intake once the clock is right or accepted.
func (n *Node) checkClock() {
	if !n.clock.Jumped() {
		n.refuse(sequencer.Orders, clockJumped, nil)
		n.refuse(sequencer.Cancels, clockJumped, nil)
	}
}

// acceptClock accepts the machine's time after a jump.
func (n *Node) acceptClock() {
	n.clock.Accept()
	n.checkClock()
}

// reportRecovery logs the state of the journal's end.
func (n *Node) reportRecovery(r *journal.Recovery) {
	n.Log.Info("journal opened", slog.Uint64("last_seq", uint64(r.Tip.Last)))
	switch {
	case r.Torn == nil:
	case r.Torn.Copy == "":
		n.Log.Error("the journal's end is torn, and the disk has no room for a copy of it; nothing is taken before it has", slog.Uint64("after_seq", uint64(r.Tip.Last)))
	default:
		n.Log.Warn("cut a torn end that was never acknowledged", slog.Uint64("after_seq", uint64(r.Tip.Last)),
			slog.String("copy", r.Torn.Copy))
	}
}
