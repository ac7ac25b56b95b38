package sim

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// TestNotices breaks an exchange in ways that must not happen, and wants the simulation
// to notice.
func TestNotices(t *testing.T) {
	seed := uint64(1)
	for !calmLife(seed).eventful() {
		seed++
	}
	for name, meddle := range map[string]func(*world){
		"a frame that was yielded is lost": loseFrame,
		"a frame is another one":           changeFrame,
		"a command did something else": func(w *world) {
			e := &w.truth.past[len(w.truth.past)-1].events
			e.List = append(e.List, bourse.Event{})
		},
		"an answer is another one":                func(w *world) { w.truth.past[len(w.truth.past)-1].events.Outcome.ID++ },
		"history lacks rows":                      loseRows,
		"history is of another journal":           changeCursor,
		"a sync fails and nobody stops":           func(w *world) { w.faults.syncFailed = "sync"; w.judge(partWrite, nil) },
		"an error comes from nowhere":             func(w *world) { w.judge(partWrite, errDisk) },
		"a chain has more than the ledger says":   chainHasMore,
		"a payment never arrived":                 losePayment,
		"a deposit was not credited":              missDeposit,
		"a withdrawal that was paid is canceled":  cancelPaid,
		"a client id gets two answers":            answerTwice,
		"an order that was acknowledged is lost":  loseOrder,
		"a trade that nobody made is in the tape": func(w *world) { w.truth.rows.Trades = w.truth.rows.Trades[1:]; w.truth.rows.Trades[0].Number = 1 << 40 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := meddled(t, seed, meddle); err == nil {
				t.Error("nothing was noticed")
			} else {
				t.Logf("%.200v", err)
			}
		})
	}
	if err := meddled(t, seed, func(*world) {}); err != nil {
		t.Errorf("what was left alone: %v", err)
	}
}

// calmLife returns an exchange that has run without faults for a while.
func calmLife(seed uint64) *world {
	w := newWorld(Options{Seed: seed, Commands: 300})
	segment := w.shape.segment
	w.shape.calm()
	w.shape.segment, w.shape.burst, w.shape.pending = segment, 4, 20
	for p := range w.shape.weights {
		w.shape.weights[p] = 1
	}
	w.shape.pace, w.shape.snapshotEvery = 1, never // so that a start replays everything
	w.safety()
	w.wallets.relax()
	for w.process == nil || !w.settled() {
		w.turn()
	}
	w.wallets.checkPaid()
	return w
}

// eventful reports whether everything happened that a case breaks.
func (w *world) eventful() bool {
	return w.counts[WithdrawalPaid] > 0 && w.counts[DepositCredited] > 0 &&
		len(w.truth.rows.Trades) >= 2 && slices.ContainsFunc(w.clients.answered, accepted)
}

// accepted reports whether a request's answer must stay the same: a rejection's may be
// evicted.
func accepted(a answer) bool { return a.result.Outcome.Reason == 0 }

// meddled breaks an exchange, starts it again and checks everything. It returns the
// violation noticed.
func meddled(t *testing.T, seed uint64, meddle func(*world)) (err error) {
	t.Helper()
	w := calmLife(seed)
	defer func() {
		if r := recover(); r != nil {
			err = causeOf(r)
			if v := (violation{}); !errors.As(r.(error), &v) {
				t.Errorf("something else than a check stopped it: %v", r)
			}
		}
	}()
	meddle(w)
	w.check()
	w.wallets.check()
	w.wallets.checkPaid()
	w.die(Killed)
	w.start()
	w.checkDeep()
	return nil
}

// loseFrame zeros the last frame, and the entry without commands after it, if any.
func loseFrame(w *world) {
	w.overwrite(func(end *journal.End) int64 {
		if end.Last == journal.EntryBatch {
			return end.LastOffset
		}
		return end.LastOffset - journal.Block
	}, func(b []byte) { clear(b) })
}

// changeFrame changes a bit of the first frame in the last segment.
func changeFrame(w *world) {
	w.overwrite(func(*journal.End) int64 { return journal.Block }, func(b []byte) { b[40] ^= 1 })
}

// overwrite changes the last segment from an offset on.
func (w *world) overwrite(from func(*journal.End) int64, change func([]byte)) {
	end, _, err := w.files().End(nil)
	want(err, "the journal's end")
	name, off := end.Segment.Name(), from(&end)
	b, err := disk.ReadFile(w.disk.Clone(), name)
	want(err, name)
	change(b[off:])
	f, err := w.disk.Edit(name)
	want(err, name)
	_, err = f.WriteAt(b[off:], off)
	want(err, name)
}

// loseRows removes all rows of the store but keeps its cursor.
func loseRows(w *world) {
	cursor, _ := w.store.Cursor(w.ctx)
	w.store.Memory = historytest.NewMemory()
	want(w.store.Memory.Write(w.ctx, &history.Batch{From: 1, To: cursor.Seq, Time: cursor.Time, Chain: cursor.Chain}), "rows")
}

func changeCursor(w *world) {
	cursor, _ := w.store.Cursor(w.ctx)
	w.store.Memory = historytest.NewMemory()
	want(w.store.Memory.Write(w.ctx, &history.Batch{From: 1, To: cursor.Seq, Time: cursor.Time}), "rows")
}

// answerTwice changes a remembered answer.
func answerTwice(w *world) {
	a := w.clients.answered[slices.IndexFunc(w.clients.answered, accepted)]
	result := a.result
	a.result.Outcome.Filled++
	a.since = w.now
	w.clients.checkEarlier(&request{cmd: a.cmd, earlier: &a}, &result)
}

// loseOrder looks for an order that does not exist.
func loseOrder(w *world) {
	r := &request{cmd: bourse.Command{Kind: bourse.CommandPlace, Account: 1}}
	a := w.clients.answered[0].result
	a.Outcome = bourse.Outcome{ID: 1 << 40}
	w.checkFound(r, &a)
}

// chainHasMore changes a coin's unit, so that the chain has more of it.
func chainHasMore(w *world) {
	n := w.wallets.networks[0]
	n.listed[0].unit++
	n.checked = bourse.BlockRef{}
}

// losePayment makes a chain forget all payments.
func losePayment(w *world) {
	n := w.wallets.networks[0]
	_, err := n.node.Reorg(int(n.node.Head().Height)-2, true)
	want(err, "rewriting a chain")
}

// missDeposit adds a deposit to the oracle alone.
func missDeposit(w *world) {
	var ev bourse.Events
	ev.AddDeposit(bourse.EventDeposit, &bourse.Deposit{
		Number: 1 << 40, Account: 1, Asset: 1, Amount: bourse.Units(1), Status: bourse.WalletDone,
	})
	want(w.truth.pair.Oracle.Follow(0, &ev), "a deposit")
}

func cancelPaid(w *world) {
	d := w.wallets.among(func(d *bourse.Withdrawal) bool { return d.Status == bourse.WalletDone })
	d.Status = bourse.WalletCanceled
	var ev bourse.Events
	ev.AddWithdrawal(bourse.EventWithdrawal, d)
	want(w.truth.pair.Oracle.Follow(0, &ev), "a withdrawal")
}
