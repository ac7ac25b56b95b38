package sequencer

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Observer receives every command and its events, in order, on the goroutine that
// applies.
type Observer interface {
	// Reset empties the observer. The state that a snapshot restores follows as Restored
	// events, between one Begin and End. State that is not the engine's is in the
	// observer's own section.
	Reset(section func(name string) ([]byte, bool)) error
	// Begin begins a frame.
	Begin()
	// Observe receives a command and its events. During a restore the command has no
	// kind, and the last call has the snapshot's Seq and Time. Both are valid only during
	// the call.
	Observe(cmd *bourse.Command, ev *bourse.Events)
	// End ends the frame. Its tickets are resolved only after End of every observer has
	// returned.
	End()
}

// Section returns a snapshot's section by its name; false if there is none.
type Section = func(name string) ([]byte, bool)

// EngineSection is the section with the engine's state.
const EngineSection = "engine"

// Sequencer is the single writer. Write belongs to one goroutine, Apply to another; all
// other methods are safe for concurrent use.
type Sequencer struct {
	log       journal.Log
	engine    *engine.Engine
	observers []Observer
	voided    func(bourse.Seq) bool
	load      func(bourse.Seq) (Section, error)
	weigh     func(bourse.AccountID, int)
	admits    func(bourse.CommandKind, uint32) error

	// Intake, guarded by mu.
	mu    sync.Mutex
	lanes [lanes]lane
	// asked are the refusals that Refuse has set. While another node leads, the lanes have ErrElsewhere.
	asked [lanes]error
	// awake is true while the writer knows of queued commands.
	awake bool
	wake  chan struct{}
	// barren has the accounts whose commands wait for company, saving is true while
	// cancels wait too.
	barren barren
	saving atomic.Bool

	// Owned by Write.
	next    proposal
	lastID  uint64
	written bourse.Time
	marked  bool
	// stood is the last durable command that stand has seen.
	stood bourse.Seq
	// waiting is the time since which commands wait for company, zero if none do.
	waiting bourse.Time

	// flying are the proposals between Write and Apply, oldest first. Guarded by
	// flyingMu.
	flyingMu sync.Mutex
	flying   []*proposal
	spare    []*proposal

	// Owned by Apply. opening is the newest one, nil if no switch was armed, and begun is set
	// once its command was applied.
	cmd     bourse.Command
	ev      bourse.Events
	opening *opening
	begun   bool

	// unfinished is set when a Continue must be proposed.
	unfinished atomic.Bool
	// due is the newest opening while its command must be proposed.
	due atomic.Pointer[opening]
	// holding is set from a start or an installed snapshot until the switches of its opening
	// have canceled their orders: no lane but Cancels is taken meanwhile.
	holding atomic.Bool
	// follows is set while another node leads: nothing is proposed then.
	follows atomic.Bool
	// full is set while the journal has no room: the sequencer's own commands then wait
	// for the next tick, which tries again.
	full    atomic.Bool
	applied atomic.Uint64
	// outstanding counts submitted commands without an outcome.
	outstanding atomic.Int64
	tickets     sync.Pool
}

// opening is the first command that a process proposes after a start or an installed snapshot
// where dead man's switches are armed: it fires the switches that are due by then. Immutable.
type opening struct {
	// orphans is the newest connection of earlier processes whose close cancels orders; zero
	// for none.
	orphans bourse.ConnectionID
}

// proposal is a frame being gathered or in flight.
type proposal struct {
	id    uint64
	bytes []byte
	count int
	// submitted is the number of commands that came through Submit.
	submitted int
	tickets   []*Ticket
	// opening is the newest opening whose command it has, or nil.
	opening *opening
}

// Options configure a sequencer.
type Options struct {
	// Log continues right after Engine's last command.
	Log    journal.Log
	Engine *engine.Engine
	// Observers receive each frame in this order.
	Observers []Observer
	// Voided reports the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Load returns a snapshot that the log installed.
	Load func(bourse.Seq) (Section, error)
	// Weigh, if not nil, is called when a command submitted to this process walked so
	// much of a book that it costs more than one request: more is the difference. Apply
	// calls it for every such command, also without a waiting sender, so that not waiting
	// saves nothing.
	Weigh func(account bourse.AccountID, more int)
	// Admits, if not nil, returns the refusal of a command that some reader of the log does not know, by what record.Needs
	// says of it.
	Admits func(kind bourse.CommandKind, rules uint32) error
}

// stepsOfARequest is the number of steps of a walk included in a request: at about 20 ns
// a step they cost as much as the rest of a command.
const stepsOfARequest = 100

// New returns a sequencer that continues after the last command of o.Engine.
func New(o Options) *Sequencer {
	s := &Sequencer{
		log: o.Log, engine: o.Engine, observers: o.Observers, voided: o.Voided, load: o.Load, weigh: o.Weigh,
		admits: o.Admits,
		wake:   make(chan struct{}, 1), written: o.Engine.Now(), marked: true,
	}
	s.barren.counts = map[bourse.AccountID]uint8{}
	s.tickets.New = func() any { return NewTicket() }
	s.applied.Store(uint64(o.Engine.Seq()))
	s.begin()
	return s
}

// begin notes the open work in the state of another process: unfinished work, and armed dead man's
// switches. The switches of connections are due: this process has accepted no connection yet at a
// start, and an installed snapshot cuts off all that it accepted.
func (s *Sequencer) begin() {
	s.opening, s.begun = nil, false
	if s.engine.Armed() {
		s.opening = &opening{s.engine.Connections()}
	}
	s.holding.Store(s.opening != nil) // before due: the writer takes no order with the command
	s.due.Store(s.opening)
	s.unfinished.Store(s.engine.Unfinished())
}

// Applied returns the last command whose effect every observer has seen.
func (s *Sequencer) Applied() bourse.Seq { return bourse.Seq(s.applied.Load()) }

// Wake returns a channel that receives when Write has work before the time it asked for.
func (s *Sequencer) Wake() <-chan struct{} { return s.wake }

func (s *Sequencer) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
