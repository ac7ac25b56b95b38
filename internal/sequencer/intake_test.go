package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

func TestCommandsKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	from := r.Applied()
	var tickets []*sequencer.Ticket
	for i := range 500 {
		tickets = append(tickets, r.submit(note(fmt.Sprint(i))))
		if i%100 == 50 {
			r.write()
		}
	}
	r.settle()
	for i, ticket := range tickets {
		got := r.result(ticket)
		if got.Err != nil || got.Seq != from+bourse.Seq(i)+1 || got.Time != r.now || got.Outcome.Reason != 0 {
			t.Fatalf("command %d became %+v", i, got)
		}
		if r.seen.commands[i].Text != fmt.Sprint(i) || r.seen.commands[i].Seq != got.Seq {
			t.Fatalf("observers saw %+v in place of command %d", r.seen.commands[i], i)
		}
	}
	if r.Applied() != from+500 || r.seen.frames != 6 {
		t.Errorf("applied up to %d in %d frames", r.Applied(), r.seen.frames)
	}
}

func TestSubmitTakesTheCommandAsItIs(t *testing.T) {
	r := newRig(t)
	c := note("mine")
	ticket := r.submit(c)
	*c = *note("other")
	r.settle()
	if r.result(ticket); r.seen.commands[0].Text != "mine" {
		t.Errorf("the journal has %q", r.seen.commands[0].Text)
	}
}

func TestMalformedCommandsAreNotTaken(t *testing.T) {
	r := newRig(t)
	if err := r.Submit(&bourse.Command{Kind: bourse.CommandNote}, nil); !hasCode(err, bourse.CodeInvalid) {
		t.Errorf("a note without text: %v", err)
	}
	if !r.Idle() || r.Queued() != 0 {
		t.Error("something was taken")
	}
}

func TestFullLane(t *testing.T) {
	r := newRig(t)
	long := note(strings.Repeat("x", 4000))
	taken := 0
	for ; taken < 100_000; taken++ {
		if err := r.Submit(long, nil); err != nil {
			if !errors.Is(err, bourse.ErrBusy) || !hasCode(err, bourse.CodeBusy) {
				t.Fatalf("a full lane says %v", err)
			}
			break
		}
	}
	if most := 5 * journal.MaxFrame / 4000; taken > most {
		t.Fatalf("%d long commands were taken", taken)
	}
	if r.Queued() != taken {
		t.Errorf("%d of %d are queued", r.Queued(), taken)
	}
	ticket := r.submit(cancel(1, 1)) // the other lane has room
	r.settle()
	if got := r.result(ticket); got.Err != nil {
		t.Errorf("the cancel became %+v", got)
	}
	if len(r.seen.commands) != taken+1 || !r.Idle() || r.Queued() != 0 {
		t.Errorf("%d of %d commands were carried out", len(r.seen.commands), taken+1)
	}
	if err := r.Submit(long, nil); err != nil {
		t.Errorf("an empty lane says %v", err)
	}
}

func TestCancelsOvertake(t *testing.T) {
	r := newRig(t)
	long := note(strings.Repeat("x", 4000))
	for range 150 { // more than two frames
		r.submit(long)
	}
	kinds := []*bourse.Command{
		cancel(1, 1),
		{Kind: bourse.CommandCancelAll, Account: 1},
		{Kind: bourse.CommandCancelAfter, Account: 1, Hold: bourse.Hour},
		{Kind: bourse.CommandFreezeAccount, Account: 1, On: true},
		{Kind: bourse.CommandRevokeKey, Key: 1},
		{Kind: bourse.CommandSecureAccount, Account: 1},
	}
	for _, c := range kinds {
		r.submit(c)
	}
	r.settle()
	for i, c := range kinds {
		if r.seen.commands[i].Kind != c.Kind {
			t.Errorf("command %d is of kind %d, not %d", i, r.seen.commands[i].Kind, c.Kind)
		}
	}
	if r.seen.frames != 3 || len(r.seen.commands) != 156 {
		t.Errorf("%d commands in %d frames", len(r.seen.commands), r.seen.frames)
	}
}

// TestBlocksFitAFrame fills parts of blocks with memos of each length that strangers may choose: none is longer than a
// frame, which would be queued for ever.
func TestBlocksFitAFrame(t *testing.T) {
	for _, length := range []int{0, bourse.MaxEarlyMemo, bourse.MaxEarlyMemo + 1, bourse.MaxMemo} {
		for _, marked := range []bool{false, true} {
			tx := bourse.TxEffect{Hash: bourse.TxHash{1}}
			c := bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.BlockEffect{
				Network: 1, BlockRef: bourse.BlockRef{Hash: bourse.TxHash{2}}, Txs: []bourse.TxEffect{tx},
			}}}
			last := 0
			for n := range uint32(bourse.MaxBlockEntries) {
				tx.Inflows = append(tx.Inflows, bourse.Inflow{
					Index: n, Asset: 1, Amount: bourse.Units(1), Owner: 1, Memo: strings.Repeat("m", length), OverAlone: marked,
				})
				if c.Wallet.Block.Txs[0] = tx; record.Check(&c) != nil {
					break
				}
				last = len(record.Append(nil, &c))
			}
			if last == 0 || last > journal.MaxFrame {
				t.Errorf("memos of %d bytes, marked %t: a part of %d bytes", length, marked, last)
			}
		}
	}
}

// TestJoinedFitsAFrame wants the longest entry of the signer's record, with as many withdrawals as a transaction pays,
// to fit a frame.
func TestJoinedFitsAFrame(t *testing.T) {
	s := &bourse.SignedTx{
		Network: 1, Kind: bourse.SignedWithdrawal, Wallet: 1, Tx: bourse.TxHash{1},
		Raw: make([]byte, bourse.MaxRaw), Inputs: make([]bourse.Outpoint, bourse.MaxInputs),
	}
	c := bourse.Command{Kind: bourse.CommandRecordJoined, Wallet: &bourse.WalletCommand{
		Record: 1, Chain: bourse.TxHash{1}, Signed: s,
	}}
	for id := range bourse.WalletID(bourse.MaxJoined) {
		s.Joined = append(s.Joined, bourse.Share{Wallet: id + 1, Amount: bourse.Units(1)})
	}
	if err := record.Check(&c); err != nil {
		t.Fatal(err)
	}
	if size := len(record.Append(nil, &c)); size > journal.MaxFrame {
		t.Errorf("an entry of %d bytes", size)
	}
	s.Joined = append(s.Joined, bourse.Share{Wallet: bourse.MaxJoined + 1, Amount: bourse.Units(1)})
	if record.Check(&c) == nil {
		t.Error("one more withdrawal passes")
	}
}

// TestFramesAreFull shows that no frame exceeds MaxFrame, and that commands beyond it go
// into the next one.
func TestFramesAreFull(t *testing.T) {
	r := newRig(t)
	size := journal.MaxFrame - 100
	var want []string
	for i := range 300 {
		n := 1 + (i*977)%4000
		size -= n
		text := strings.Repeat(string(rune('a'+i%26)), n)
		want = append(want, text)
		r.submit(note(text))
	}
	for frame := range 2 {
		if sleep := r.write(); sleep != 0 || r.Queued() == 0 {
			t.Fatalf("after frame %d the writer sleeps for %d, with %d commands queued", frame+1, sleep, r.Queued())
		}
	}
	r.settle()
	if !slices.Equal(r.seen.texts(), want) {
		t.Error("commands were lost, doubled or reordered")
	}
	if r.seen.frames != 3 {
		t.Errorf("600 KB of commands took %d frames", r.seen.frames)
	}
}

func TestRefuse(t *testing.T) {
	r := newRig(t)
	full := errors.New("disk nearly full")
	queued := r.submit(note("before"))
	r.Refuse(sequencer.Orders, full)
	if err := r.Submit(note("x"), nil); !errors.Is(err, full) {
		t.Errorf("a closed lane says %v", err)
	}
	if err := r.Takes(bourse.CommandCreateKey); !errors.Is(err, full) || r.Takes(bourse.CommandRevokeKey) != nil {
		t.Errorf("before a command it says %v", err)
	}
	other := r.submit(cancel(1, 1))
	r.settle()
	r.result(queued)
	r.result(other)
	r.Refuse(sequencer.Orders, nil)
	again := r.submit(note("after"))
	r.settle()
	r.result(again)
}

func TestDo(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Do(ctx, note("abandoned")); !hasCode(err, bourse.CodeUnknown) {
		t.Errorf("a Do that was abandoned says %v", err)
	}
	r.settle()
	if !r.Idle() || len(r.seen.commands) != 1 {
		t.Error("what was taken was not carried out")
	}
	if _, err := r.Do(t.Context(), &bourse.Command{}); !hasCode(err, bourse.CodeInvalid) {
		t.Errorf("a Do of nothing says %v", err)
	}
	drainWake(r)
	done := make(chan sequencer.Result)
	go func() {
		got, err := r.Do(t.Context(), note("x"))
		if err != nil {
			t.Errorf("Do: %v", err)
		}
		done <- got
	}()
	<-r.Wake()
	r.settle()
	if got := <-done; got.Seq != r.Applied() {
		t.Errorf("Do returned %+v", got)
	}
}

// TestDoAll submits commands together: each has its own result, and an invalid one does
// not affect the others.
func TestDoAll(t *testing.T) {
	r := newRig(t)
	drainWake(r)
	done := make(chan []sequencer.Result)
	go func() { done <- r.DoAll(t.Context(), []bourse.Command{*note("a"), {}, *note("b")}) }()
	<-r.Wake()
	if err := r.Drain(1); err != nil {
		t.Fatal(err)
	}

	var got []sequencer.Result
	for got == nil {
		select {
		case got = <-done:
		case <-r.Wake():
			if err := r.Drain(1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got[0].Refusal() != nil || !hasCode(got[1].Refusal(), bourse.CodeInvalid) || got[2].Refusal() != nil || got[2].Seq != got[0].Seq+1 {
		t.Errorf("results are %+v", got)
	}
	refused := sequencer.Result{Outcome: bourse.Outcome{Reason: bourse.UnknownAccount}}
	if refused.Refusal() == nil || !r.Idle() {
		t.Error("a refusal is no error, or something is left")
	}
}

// TestTogether wants the commands of a batch in one frame, in their order, behind others that
// leave room for a part of it.
func TestTogether(t *testing.T) {
	r := newRig(t)
	const before = journal.MaxFrame/bourse.MaxText - 2
	long := note(strings.Repeat("x", bourse.MaxText))
	for range before {
		r.submit(long)
	}
	var ends []int
	r.seen.atEnd = func() { ends = append(ends, len(r.seen.commands)) }

	batch := []bourse.Command{*note("a"), *long, *long, *note("b")}
	done := make(chan []sequencer.Result)
	go func() {
		results, err := r.DoTogether(t.Context(), batch)
		if err != nil {
			t.Error(err)
		}
		done <- results
	}()
	for r.Queued() < before+len(batch) {
		runtime.Gosched()
	}
	r.settle()

	got := <-done
	for i := range got {
		if got[i].Refusal() != nil || got[i].Seq != got[0].Seq+bourse.Seq(i) || r.seen.commands[before+i].Text != batch[i].Text {
			t.Errorf("results are %+v", got)
		}
	}
	if !slices.Equal(ends, []int{before, before + len(batch)}) {
		t.Errorf("frames end behind the commands %v", ends)
	}
	if _, err := r.DoTogether(t.Context(), []bourse.Command{*note("a"), {}}); !hasCode(err, bourse.CodeInvalid) || !r.Idle() {
		t.Errorf("a malformed command: %v", err)
	}
}

// TestDrainWaitsForCompany drains a command that waits for company and gets none.
func TestDrainWaitsForCompany(t *testing.T) {
	r := newRig(t)
	for range 9 {
		ticket := sequencer.NewTicket()
		if err := r.Submit(place(77, 1, 1), ticket); err != nil {
			t.Fatal(err)
		}
		if err := r.Drain(1); err != nil {
			t.Fatal(err)
		}
		if r.result(ticket).Outcome.Reason == 0 {
			t.Fatal("an unknown account has an order")
		}
	}
}

// TestFruitlessChanges amends an order to the terms that it has, and replaces an order that is
// not there by one that finds nothing: after a few they wait for company. A replacement that
// cancels is no such.
func TestFruitlessChanges(t *testing.T) {
	r := newRig(t)
	rests := r.submit(place(1, 5, 1))
	r.settle()
	id := bourse.OrderID(r.result(rests).Outcome.ID)
	same := &bourse.Command{Kind: bourse.CommandAmend, Account: 1, Order: id, NewOrder: bourse.NewOrder{Price: 5}}
	nothing := place(1, 0, 1)
	nothing.Kind, nothing.Order, nothing.On = bourse.CommandReplace, 99, true
	nothing.NewOrder.Type, nothing.NewOrder.TIF = bourse.MarketOrder, bourse.IOC
	for i := range 8 {
		ticket := r.submit([]*bourse.Command{same, nothing}[i%2])
		r.settle()
		if o := r.result(ticket).Outcome; !o.Repeated && o.Cancel != bourse.OrderNotFound {
			t.Fatalf("%+v", o)
		}
	}

	replaced := *nothing
	replaced.Order = id
	last := r.submit(&replaced)
	if r.settle(); resolved(last) {
		t.Error("the ninth did not wait")
	}
	r.now += bourse.Second
	r.settle()
	if o := r.result(last).Outcome; o.Cancel != 0 || o.Filled != 0 {
		t.Fatalf("%+v", o)
	}
	next := r.submit(nothing)
	if r.settle(); !resolved(next) {
		t.Error("one waits behind a command that canceled")
	}
}

// TestOrdersThatFindNothing sends MARKET orders to an empty book, which hold no funds:
// after a few they wait for company, as refused ones do.
func TestOrdersThatFindNothing(t *testing.T) {
	r := newRig(t)
	nothing := place(2, 0, 1)
	nothing.NewOrder.Side, nothing.NewOrder.Type, nothing.NewOrder.TIF = bourse.Buy, bourse.MarketOrder, bourse.IOC
	for range 8 {
		ticket := r.submit(nothing)
		r.settle()
		if o := r.result(ticket).Outcome; o.Status != bourse.Killed {
			t.Fatalf("%+v", o)
		}
	}
	ninth := r.submit(nothing)
	if r.settle(); resolved(ninth) {
		t.Error("the ninth did not wait")
	}
}

// TestClosedLanesDoNotWait closes the intake while commands wait for company: they are
// written at once, because no company can come.
func TestClosedLanesDoNotWait(t *testing.T) {
	r := newRig(t)
	refused := place(2, 1000, 1)
	refused.NewOrder.Market = 9
	for range 8 {
		r.submit(refused)
		r.settle()
	}
	r.Save(true)
	waiting := []*sequencer.Ticket{r.submit(refused), r.submit(cancel(1, 1))}
	r.settle()
	if resolved(waiting[0]) || resolved(waiting[1]) {
		t.Fatal("they did not wait")
	}
	r.Refuse(sequencer.Orders, sequencer.ErrNoRoom)
	r.Refuse(sequencer.Cancels, sequencer.ErrNoRoom)
	r.settle()
	if !r.Idle() {
		t.Error("commands wait in a lane that takes no others")
	}
}

// TestFruitlessCommandsShareFrames sends an account's fruitless commands: after a few
// they cause at most twenty frames a second, join other frames at once, and go back to
// normal once one succeeds.
func TestFruitlessCommandsShareFrames(t *testing.T) {
	r := newRig(t)
	refused := place(2, 1000, 1)
	refused.NewOrder.Market = 9
	step := func() { // until only time can move it
		for range 4 {
			r.write()
			r.apply()
		}
	}
	for range 8 {
		ticket := r.submit(refused)
		step()
		if r.result(ticket).Outcome.Reason == 0 {
			t.Fatal("it was not refused")
		}
	}

	frames := r.seen.frames
	var waiting []*sequencer.Ticket
	for range 50 { // in 50 ms
		waiting = append(waiting, r.submit(refused))
		step()
		r.now += bourse.Second / 1000
	}
	if r.seen.frames != frames || resolved(waiting[0]) {
		t.Fatalf("%d frames for commands that are refused", r.seen.frames-frames)
	}
	if sleep := r.write(); sleep > bourse.Second/20 {
		t.Fatalf("the writer sleeps for %d", sleep)
	}
	step()
	for _, ticket := range waiting {
		if r.result(ticket).Outcome.Reason != bourse.UnknownMarket {
			t.Fatal("another answer")
		}
	}
	if r.seen.frames != frames+1 {
		t.Errorf("%d frames for 50 commands", r.seen.frames-frames)
	}

	company := r.submit(refused)
	step()
	other := r.submit(place(1, 1000, 1))
	step()
	if r.result(other).Outcome.Reason != 0 || r.result(company).Outcome.Reason == 0 || r.seen.frames != frames+2 {
		t.Errorf("with company: %d frames", r.seen.frames-frames)
	}

	good := r.submit(place(2, 2000, 1))
	step()
	r.now += bourse.Second / 20
	step()
	if r.result(good).Outcome.Reason != 0 {
		t.Fatal("the good order was refused")
	}
	again := r.submit(refused)
	step()
	r.result(again)
}

// TestFreeCommandsShareFrames arms switches of an account without open orders.
func TestFreeCommandsShareFrames(t *testing.T) {
	r := newRig(t)
	arm := &bourse.Command{Kind: bourse.CommandCancelAfter, Account: 2, Hold: bourse.Hour}
	frames := func(commands int) int {
		before := r.seen.frames
		for range commands {
			r.submit(arm)
			for range 4 {
				r.write()
				r.apply()
			}
		}
		return r.seen.frames - before
	}

	if n := frames(20); n != 8 {
		t.Errorf("%d frames without an open order", n)
	}
	for _, c := range []*bourse.Command{arm, place(2, 2000, 1)} {
		r.submit(c)
		r.settle()
		r.now += bourse.Second / 20
		r.settle()
	}
	if n := frames(20); n != 20 {
		t.Errorf("%d frames with an open order", n)
	}
}

// TestSaving lets cancels wait for company while the disk is nearly full.
func TestSaving(t *testing.T) {
	r := newRig(t)
	first, second := r.submit(place(1, 1000, 1)), r.submit(place(1, 1001, 1))
	r.settle()
	r.Save(true)
	frames := r.seen.frames
	one := r.submit(cancel(1, r.result(first).Outcome.ID))
	r.write()
	r.apply()
	two := r.submit(cancel(1, r.result(second).Outcome.ID))
	r.write()
	if r.apply(); resolved(one) {
		t.Fatal("a cancel did not wait")
	}
	r.now += bourse.Second / 20
	r.settle()
	if r.result(one).Outcome.Reason != 0 || r.result(two).Outcome.Reason != 0 || r.seen.frames != frames+1 {
		t.Errorf("%d frames for two cancels", r.seen.frames-frames)
	}
}

// TestSafetyCommandsOnAFullDisk arms a switch of an account whose commands wait for
// company, while the intake takes cancels alone.
func TestSafetyCommandsOnAFullDisk(t *testing.T) {
	r := newRig(t)
	arm := &bourse.Command{Kind: bourse.CommandCancelAfter, Account: 2, Hold: bourse.Hour}
	for range 20 {
		r.submit(arm)
		r.settle()
	}
	full := errors.New("disk nearly full")
	r.Save(true)
	r.Refuse(sequencer.Orders, full)

	if err := r.Submit(place(2, 1000, 1), nil); !errors.Is(err, full) {
		t.Errorf("an order: %v", err)
	}
	frames := r.seen.frames
	for range 20 {
		r.submit(arm)
	}
	last := r.submit(arm)
	r.settle()
	if resolved(last) {
		t.Error("the switches did not wait for company")
	}
	r.now += bourse.Second / 20
	r.settle()
	if got := r.result(last); got.Refusal() != nil || r.seen.frames != frames+1 {
		t.Errorf("%d frames, and the last was answered %+v", r.seen.frames-frames, got)
	}

	r.Refuse(sequencer.Cancels, full)
	if err := r.Submit(arm, nil); !errors.Is(err, full) {
		t.Errorf("with cancels closed: %v", err)
	}
}

// TestNotAdmitted wants a command that may not be in the log yet to be refused before it is queued, and before its
// caller writes anything.
func TestNotAdmitted(t *testing.T) {
	refusal := errors.New("not yet")
	s := sequencer.New(sequencer.Options{Engine: engine.New(), Admits: func(kind bourse.CommandKind, rules uint32) error {
		if kind == bourse.CommandCool || rules > 1 {
			return refusal
		}
		return nil
	}})
	if err := s.Submit(&bourse.Command{Kind: bourse.CommandSetRules, Rules: 2}, nil); !errors.Is(err, refusal) {
		t.Errorf("newer rules: %v", err)
	}
	if err := s.Submit(&bourse.Command{Kind: bourse.CommandSetRules, Rules: 1}, nil); err != nil {
		t.Error(err)
	}
	if err := s.Takes(bourse.CommandCool); !errors.Is(err, refusal) {
		t.Errorf("a newer kind is taken: %v", err)
	}
	if n := s.Queued(); n != 1 {
		t.Errorf("%d commands are queued", n)
	}
}
