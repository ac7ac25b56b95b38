package sequencer_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal/memlog"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// rig is a sequencer between a log that misbehaves on demand and an observer. The test
// steps it.
type rig struct {
	*sequencer.Sequencer
	t      *testing.T
	store  *memlog.Store
	log    *memlog.Log
	engine *engine.Engine
	seen   *observer
	now    bourse.Time
	// voided and load are the sequencer's callbacks.
	voided map[bourse.Seq]bool
	load   func(bourse.Seq) (sequencer.Section, error)
	// weighed are the calls of Weigh.
	weighed []weighed
}

// weighed is a call of Weigh.
type weighed struct {
	account bourse.AccountID
	more    int
}

// observer records commands and events.
type observer struct {
	t        *testing.T
	commands []bourse.Command
	outcomes []bourse.Outcome
	// restored counts the pieces of a restore, resets the restores.
	restored, resets int
	frames           int
	inside           bool
	// atEnd is called before End returns.
	atEnd func()
}

func (o *observer) Reset(func(string) ([]byte, bool)) error {
	if !o.inside {
		o.t.Error("Reset outside of a frame")
	}
	o.commands, o.outcomes = nil, nil
	o.resets++
	return nil
}

func (o *observer) Begin() {
	if o.inside {
		o.t.Error("a frame begins within a frame")
	}
	o.inside = true
}

func (o *observer) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if !o.inside {
		o.t.Error("a command outside of a frame")
	}
	if cmd.Kind == 0 {
		o.restored++
		return
	}
	o.commands = append(o.commands, *cmd)
	o.outcomes = append(o.outcomes, ev.Outcome)
}

func (o *observer) End() {
	if !o.inside {
		o.t.Error("a frame ends that did not begin")
	}
	o.inside = false
	o.frames++
	if o.atEnd != nil {
		o.atEnd()
	}
}

// kinds returns the kinds of the commands seen.
func (o *observer) kinds() []bourse.CommandKind {
	var list []bourse.CommandKind
	for i := range o.commands {
		list = append(list, o.commands[i].Kind)
	}
	return list
}

// newRig opens an exchange with two rich accounts, and a clock at one minute.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t: t, store: memlog.NewStore(), now: bourse.Minute, voided: map[bourse.Seq]bool{},
		load: func(bourse.Seq) (sequencer.Section, error) { return nil, errors.New("no snapshot") },
	}
	r.start(engine.New())
	for _, c := range opening() {
		r.submit(&c)
	}
	r.settle()
	for i, o := range r.seen.outcomes {
		if o.Reason != 0 {
			t.Fatalf("opening, command %d: %s", i+1, o.Reason)
		}
	}
	r.seen.commands, r.seen.outcomes, r.seen.frames = nil, nil, 0
	return r
}

// opening returns the commands that open an exchange: genesis, one market, two
// accounts.
func opening() []bourse.Command {
	list := []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BASE", Name: "Base", Scale: 8, Enabled: true}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "QUOTE", Name: "Quote", Scale: 8, Enabled: true}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 4, QuotePrecision: 2, Enabled: true,
			SelfTrade: bourse.SelfTradeNone, InitialPrice: 100, MaxPrice: bourse.MaxPrice, Maker: 1000, Taker: 2000,
		}},
	}
	for account := bourse.AccountID(1); account <= 2; account++ {
		list = append(list, bourse.Command{Kind: bourse.CommandCreateAccount})
		for asset := bourse.AssetID(1); asset <= 2; asset++ {
			list = append(list, bourse.Command{
				Kind: bourse.CommandCredit, Account: account, AssetID: asset, Amount: bourse.Amount{Hi: 1 << 20},
			})
		}
	}
	return list
}

// start opens the log, replays its commands, and starts a sequencer on it.
func (r *rig) start(e *engine.Engine) {
	r.t.Helper()
	r.log, r.engine, r.seen = r.store.Open(1), e, &observer{t: r.t}
	r.Sequencer = sequencer.New(sequencer.Options{
		Log: r.log, Engine: e, Observers: []sequencer.Observer{r.seen},
		Voided: func(seq bourse.Seq) bool { return r.voided[seq] },
		Load:   func(at bourse.Seq) (sequencer.Section, error) { return r.load(at) },
		Weigh:  func(account bourse.AccountID, more int) { r.weighed = append(r.weighed, weighed{account, more}) },
	})
	reader, err := r.log.Read(e.Seq() + 1)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Replay(reader, nil); err != nil {
		r.t.Fatal(err)
	}
}

// submit queues a command with a ticket.
func (r *rig) submit(c *bourse.Command) *sequencer.Ticket {
	r.t.Helper()
	ticket := sequencer.NewTicket()
	if err := r.Submit(c, ticket); err != nil {
		r.t.Fatalf("Submit: %v", err)
	}
	return ticket
}

func (r *rig) write() bourse.Time {
	r.t.Helper()
	sleep, err := r.Write(r.now)
	if err != nil {
		r.t.Fatalf("Write: %v", err)
	}
	return sleep
}

func (r *rig) apply() bool {
	r.t.Helper()
	more, err := r.Apply()
	if err != nil {
		r.t.Fatalf("Apply: %v", err)
	}
	return more
}

// settle writes and applies until nothing more happens at this time.
func (r *rig) settle() {
	r.t.Helper()
	for {
		sleep := r.write()
		if !r.apply() && sleep != 0 {
			return
		}
	}
}

// result returns the result of a ticket, which must be resolved.
func (r *rig) result(ticket *sequencer.Ticket) sequencer.Result {
	r.t.Helper()
	if !resolved(ticket) {
		r.t.Fatal("a ticket is not resolved")
	}
	return ticket.Result
}

func resolved(ticket *sequencer.Ticket) bool {
	select {
	case <-ticket.Done():
		return true
	default:
		return false
	}
}

func hasCode(err error, code bourse.Code) bool {
	var e *bourse.Error
	return errors.As(err, &e) && e.Code == code
}

// place returns a limit order that does not match.
func place(account bourse.AccountID, price bourse.Price, lots bourse.Lots) *bourse.Command {
	return &bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: lots,
	}}
}

func cancel(account bourse.AccountID, id uint64) *bourse.Command {
	return &bourse.Command{Kind: bourse.CommandCancel, Account: account, Order: bourse.OrderID(id)}
}

func note(text string) *bourse.Command {
	return &bourse.Command{Kind: bourse.CommandNote, Text: text}
}

// texts returns the texts of the notes seen.
func (o *observer) texts() []string {
	var list []string
	for i := range o.commands {
		list = append(list, o.commands[i].Text)
	}
	return list
}

// sections returns a snapshot of an engine.
func sections(e *engine.Engine) sequencer.Section {
	var state []byte
	e.Snapshot(func(b []byte) { state = append(state, b...) })
	return func(name string) ([]byte, bool) { return slices.Clone(state), name == sequencer.EngineSection }
}
