package sequencer

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Observer stands behind the engine: it sees every command and what it did, in
// order, on the goroutine that applies.
type Observer interface {
	// Reset empties the observer: what a snapshot restores follows, as Restored
	// events, between one Begin and End. What is not the engine's it finds in a
	// section of its own.
	Reset(section func(name string) ([]byte, bool)) error
	// Begin announces the commands of a frame.
	Begin()
	// Observe takes in what a command did. During a restore the command has no
	// kind, and, with the last piece, the snapshot's Seq and Time. Both are good
	// only during the call.
	Observe(cmd *bourse.Command, ev *bourse.Events)
	// End closes the frame. No ticket of the frame is resolved before every
	// observer has returned from it.
	End()
}

// Section returns a part of a snapshot by its name; false if it has none.
type Section = func(name string) ([]byte, bool)

// EngineSection is the section of a snapshot that holds the engine's state.
const EngineSection = "engine"

// Sequencer is the one writer. Write and Apply belong to one goroutine each;
// everything else may be called by anybody.
type Sequencer struct {
	log       journal.Log
	engine    *engine.Engine
	observers []Observer
	voided    func(bourse.Seq) bool
	load      func(bourse.Seq) (Section, error)
	weigh     func(bourse.AccountID, int)

	// The intake.
	mu    sync.Mutex
	lanes [lanes]lane
	// awake is true while the writer knows that there is something to gather.
	awake bool
	wake  chan struct{}
	// barren says whose commands wait for company, saving whether cancels do.
	barren barren
	saving atomic.Bool

	// Of Write.
	next    proposal
	lastID  uint64
	written bourse.Time
	marked  bool
	// waiting is since when commands wait for company, zero if none does.
	waiting bourse.Time

	// flying are the proposals between Write and Apply, oldest first.
	flyingMu sync.Mutex
	flying   []*proposal
	spare    []*proposal

	// Of Apply.
	cmd bourse.Command
	ev  bourse.Events

	// unfinished is set when a Continue has to be proposed.
	unfinished atomic.Bool
	// full is set while the journal has no room: then the sequencer's own commands
	// wait for the next tick, which asks again.
	full    atomic.Bool
	applied atomic.Uint64
	// outstanding counts what was submitted and has no outcome yet.
	outstanding atomic.Int64
	tickets     sync.Pool
}

// proposal is a frame to be, or on its way.
type proposal struct {
	id    uint64
	bytes []byte
	count int
	// submitted is how many of the commands came through Submit.
	submitted int
	tickets   []*Ticket
}

// Options are what a sequencer is put together from.
type Options struct {
	// Log is positioned right behind Engine's last command.
	Log    journal.Log
	Engine *engine.Engine
	// Observers see each frame in this order.
	Observers []Observer
	// Voided tells the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Load returns the snapshot at a sequence, when the log installed one.
	Load func(bourse.Seq) (Section, error)
	// Weigh is told when a command that was submitted here walked so much of a book
	// that it is worth more than one request, how many more, and whose it was. It
	// is called from Apply, for commands without a ticket and those whose sender is
	// gone as well, so that nobody walks for free by not waiting. Nil is none.
	Weigh func(account bourse.AccountID, more int)
}

// stepsOfARequest is how many steps of a walk a request has paid for: with some 20
// ns a step it is about what the rest of a command costs.
const stepsOfARequest = 100

// New returns a sequencer.
func New(o Options) *Sequencer {
	s := &Sequencer{
		log: o.Log, engine: o.Engine, observers: o.Observers, voided: o.Voided, load: o.Load, weigh: o.Weigh,
		wake: make(chan struct{}, 1), written: o.Engine.Now(), marked: true,
	}
	s.barren.counts = map[bourse.AccountID]uint8{}
	s.tickets.New = func() any { return NewTicket() }
	s.applied.Store(uint64(o.Engine.Seq()))
	s.unfinished.Store(o.Engine.Unfinished())
	return s
}

// Applied returns the last command whose effect everybody sees.
func (s *Sequencer) Applied() bourse.Seq { return bourse.Seq(s.applied.Load()) }

// Wake returns a channel that receives when Write has something to do before
// the time it asked for.
func (s *Sequencer) Wake() <-chan struct{} { return s.wake }

func (s *Sequencer) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
