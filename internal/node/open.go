package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/lock"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// assemble puts an exchange together, ready to serve.
func assemble(ctx context.Context, o Options) (_ *Node, err error) {
	o.defaults()
	n := &Node{Options: o, failed: make(chan error, 1), summed: summed{gate: lock.NewGate()}}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.certificate, err = certificate.Open(o.Certificate, o.Data, o.Log); err != nil {
		return nil, err
	}
	if err := n.openDeskCertificate(); err != nil {
		return nil, err
	}
	if err := n.openJournal(ctx); err != nil {
		return nil, err
	}
	if err := n.releaseRoom(); err != nil {
		return nil, err
	}
	if err := n.openStores(ctx); err != nil {
		return nil, err
	}
	n.keepRoom()

	cursor, err := n.cursor(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.buildLine(cursor); err != nil {
		return nil, err
	}
	if err := n.replay(); err != nil {
		return nil, err
	}
	if err := n.checkState(); err != nil {
		return nil, err
	}
	if err := n.enterAccounts(ctx); err != nil {
		return nil, err
	}
	if err := n.openPeople(ctx); err != nil {
		return nil, err
	}
	if err := n.askPeers(ctx, false); err != nil {
		return nil, err
	}
	if err := n.begin(ctx); err != nil {
		return nil, err
	}
	if err := n.endRole(); err != nil {
		return nil, err
	}
	if err := n.anchorStart(); err != nil {
		return nil, err
	}
	if err := n.attach(ctx); err != nil {
		return nil, err
	}
	if err := n.openWebhooks(ctx); err != nil {
		return nil, err
	}
	if err := n.openFollower(ctx, cursor, n.behindView(cursor.Seq)); err != nil {
		return nil, err
	}
	n.clock = newClock(n.machine, n.engine.Now(), n.clockJumped)
	n.accounts.KeepTime(n.clock.Now)
	n.startLine(ctx)
	return n, nil
}

// openJournal opens the data directory and the journal in it, and checks both against the
// anchor.
func (n *Node) openJournal(ctx context.Context) (err error) {
	if n.disk, err = disk.Open(n.Data); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	n.closers = append(n.closers, n.disk)
	if err := n.readRole(); err != nil {
		return err
	}

	identity, exists, err := journal.Identify(n.disk)
	if err != nil {
		return fmt.Errorf("journal in %s: %w", n.Data, err)
	}
	switch {
	case n.needsReason():
		return errNoReason
	case n.Void != 0 && !exists:
		return fmt.Errorf("command %d cannot be voided: there is no journal in %s", n.Void, n.Data)
	case !exists:
		identity.Sandbox = n.Sandbox != nil
		if _, err := rand.Read(identity.Exchange[:]); err != nil {
			return err
		}
	}
	if identity.Sandbox != (n.Sandbox != nil) {
		return fmt.Errorf("%s: %w: `bourse dev` opens sandboxes, `bourse serve` production", n.Data, journal.ErrSandbox)
	}

	n.identity = identity
	if err := n.openAnchor(identity, exists); err != nil {
		return err
	}

	log, recovered, err := n.OpenLog(n.disk, journal.Options{
		Identity: identity, SegmentSize: n.SegmentSize, Reserve: n.reserved.Load,
		Progress: n.progress("verifying the journal"),
	})
	if err != nil {
		return fmt.Errorf("journal in %s: %w", n.Data, err)
	}

	n.log, n.term = log, recovered.Tip.Term+1
	if n.Member != nil {
		n.term = n.Term
	}
	n.reportRecovery(recovered)
	n.files = journal.NewFiles(n.disk, identity)
	n.snapshots = n.openSnapshots(identity)
	if n.voids, err = journal.LoadVoids(n.disk, identity); err != nil {
		return fmt.Errorf("voided commands: %w", err)
	}

	if err := n.checkAnchored(recovered.Tip); err != nil {
		return err
	}
	if err := n.void(ctx, recovered.Tip); err != nil {
		return err
	}
	return n.followHeads(ctx, recovered.Tip)
}

// buildLine puts the line together: the engine, its observers and the sequencer. The
// engine starts from the restorable state, and its observers see every command after
// that.
func (n *Node) buildLine(cursor history.Cursor) (err error) {
	n.view, n.feed, n.board = view.New(), feed.New(), wallet.NewBoard()
	n.botFeed = feed.New()
	if n.listenKeys, err = binance.NewListenKeys(n.accounts, rand.Reader, time.Now); err != nil {
		return err
	}
	n.tail = history.NewTail(n.TailRows)
	n.tail.Stored(cursor)
	n.reader = history.NewReader(n.store, n.tail, n.view)
	n.publisher = stream.NewPublisher(n.feed, n.view, n.transferRow)
	n.botPublisher = live.NewPublisher(n.botFeed, n.view, n.reader)
	n.proxies = &edge.Proxies{Trusted: n.TrustedProxies, Clock: time.Now, Log: n.Log}
	n.limits = api.NewLimiter(n.Limits, time.Now)
	n.streams = stream.NewServer(stream.Options{
		Feed: n.feed, View: n.view, History: n.reader, State: n.streamState, Who: n.limits.Guard(n.accounts),
		Signed: n.limits.GuardSigned(n.accounts),
		Submit: n.submit, From: n.proxies.From, Clock: time.Now, After: time.After, Log: n.Log,
		Limits: n.limits, PerSource: n.Limits.Connections,
	})

	n.newsDesk = n.newNews()

	// The tail closes a frame before the view, so that orders that leave the view are in
	// the tail already; the publisher reads the view. The view closes it before the office, which ends
	// the access of operators whom the view has as disabled.
	observers := []sequencer.Observer{
		n.tail, n.view, n.accounts, n.office, n.board, n.publisher, n.botPublisher, n.newsDesk,
	}

	n.engine = engine.New()
	section, err := n.restorable()
	if err != nil {
		return err
	}
	if section != nil {
		if n.engine, err = sequencer.Restore(section, observers); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}

	n.sequencer = sequencer.New(sequencer.Options{
		Log: &stopwatch{Log: n.anchoredLog(), applied: n.applied}, Engine: n.engine, Observers: observers,
		Voided: n.voids.Has, Load: n.loadSnapshot, Admits: n.admits,
		Weigh: func(id bourse.AccountID, more int) { n.limits.Charge(api.Orders, api.Payer{Account: id}, more) },
	})

	n.accounts.Bind(n.submit)
	n.office.View, n.office.Sequencer = n.view, n.sequencer
	n.metrics = newMetrics(n)
	return nil
}

// restorable returns the state to restore: the newest good snapshot's, advanced without
// observers over the commands that the tail does not need. Observers see every command
// after it. Nil means genesis.
func (n *Node) restorable() (sequencer.Section, error) {
	snapshot, found, err := n.newestSnapshot(n.log.Durable())
	if err != nil {
		return nil, err
	}
	var section sequencer.Section
	var tip journal.Tip
	if found {
		section, tip = snapshot.Section, snapshot.Header.Tip
	}
	to := n.tail.Unneeded(n.log.Durable())
	if to <= tip.Last {
		return section, nil
	}
	err = n.read(tip.Last, func(r journal.Reader, progress func(bourse.Seq)) (err error) {
		a := follower.Advance{Reader: r, To: to, Voided: n.voids.Has, Progress: progress}
		section, err = a.From(section)
		return err
	})
	return section, err
}

// openSnapshots returns the snapshots of the data directory. Those that another version of the program wrote are passed
// over, and the journal is replayed.
func (n *Node) openSnapshots(id journal.Identity) *journal.Snapshots {
	list := journal.NewSnapshots(n.disk, id)
	list.OnDamage = func(e *journal.DamageError) {
		n.Log.Error("passed over a damaged snapshot", slog.Any("error", e))
	}
	list.Reads = func(s *journal.Snapshot) bool {
		section, _ := s.Section(sequencer.EngineSection)
		reads := engine.Reads(section)
		if !reads {
			n.Log.Warn("passed over a snapshot of another version of the program; the journal is replayed instead",
				slog.Uint64("seq", uint64(s.Header.Tip.Last)))
		}
		return reads
	}
	return list
}

// newestSnapshot returns the newest good snapshot at or before a command; false if there
// is none. It lies on this journal's chain and, with an anchor, vouched accepts it.
func (n *Node) newestSnapshot(upTo bourse.Seq) (*journal.Snapshot, bool, error) {
	snapshot, found, err := n.snapshots.Newest(upTo)
	if err != nil {
		return nil, false, fmt.Errorf("snapshots: %w", err)
	}
	if !found {
		return nil, false, nil
	}

	tip := snapshot.Header.Tip
	switch ours, err := n.holds(tip.Last, tip.Chain); {
	case err != nil:
		return nil, false, fmt.Errorf("snapshot at %d: %w", tip.Last, err)
	case !ours:
		return nil, false, fmt.Errorf("the snapshot at %d is not of this journal", tip.Last)
	}

	if ok, err := n.vouched(snapshot); err != nil {
		return nil, false, err
	} else if !ok {
		return n.newestSnapshot(tip.Last - 1)
	}
	return snapshot, true, nil
}

// holds reports whether the journal holds a frame that ends with the command last and has
// the hash chain.
func (n *Node) holds(last bourse.Seq, chain journal.Hash) (bool, error) {
	stub, err := n.files.Stub()
	if err != nil {
		return false, err
	}
	if stub != nil && stub.Seq == last {
		return stub.Chain == chain, nil
	}
	reader, err := n.files.ReadBehind(last, n.log.Durable)
	if err != nil {
		return false, err
	}
	batch, err := reader.Next()
	if err := errors.Join(err, reader.Close()); err != nil {
		return false, err
	}
	return batch.Last() == last && batch.Chain == chain, nil
}

func (n *Node) loadSnapshot(at bourse.Seq) (sequencer.Section, error) {
	s, err := n.snapshots.Load(at)
	if err != nil {
		return nil, err
	}
	return s.Section, nil
}

// replay applies the rest of the journal.
func (n *Node) replay() error { return n.read(n.engine.Seq(), n.sequencer.Replay) }

// read hands the journal behind a command to apply, and logs its progress.
func (n *Node) read(from bourse.Seq, apply func(journal.Reader, func(bourse.Seq)) error) error {
	r, err := n.log.Read(from + 1)
	if errors.Is(err, journal.ErrCompacted) {
		r, err = n.files.ReadBehind(from+1, n.log.Durable)
	}
	if errors.Is(err, journal.ErrCompacted) && n.heads != nil {
		return fmt.Errorf("%w: no snapshot in %s from which the journal is kept is anchored in %s: %w. Bring such a snapshot or a later state of the anchor back from a copy, "+
			"or restore a backup; if the snapshots are known to be the exchange's own, %s",
			journal.ErrCut, n.Data, n.Anchor, err, n.accept(n.foundTip))
	}
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	r = journal.ReadAhead(r)
	last, progress := n.log.Durable(), n.progress("replaying the journal")
	err = apply(r, func(seq bourse.Seq) { progress(int64(seq-from), int64(last-from)) })
	if err := errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// progress returns a reporter that logs the progress of long work, at most every two
// seconds.
func (n *Node) progress(what string) func(done, total int64) {
	const every = 2 * time.Second
	last := time.Now()
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= every && total > 0 {
			last = now
			n.Log.Info(what, slog.Int64("done", done), slog.Int64("total", total), slog.Int64("percent", done*100/total)) //nolint:sloglint // what is one of two constants
		}
	}
}
