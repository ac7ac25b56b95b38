package sequencer

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Lane is one of the intake's queues.
type Lane int

// The lanes. What takes risk away has one of its own, so that a flood of orders
// does not keep it out.
const (
	// Orders is for everything else.
	Orders Lane = iota
	// Cancels is for cancels, freezes and revocations.
	Cancels
	// Patient is for what accounts ask for whose last commands all came to nothing. It
	// causes no frame of its own before it has waited, and goes along with others.
	Patient
	lanes
)

// laneSize bounds what a lane holds, in bytes of records: four frames, some
// 30,000 orders. A proposal takes cancels first and never more than a frame.
const laneSize = 4 * journal.MaxFrame

// ErrFull says that the intake is full; nothing was taken.
var ErrFull = bourse.Errorf(bourse.CodeBusy, "Too many requests")

// ErrNoRoom says that the journal's disk is full; nothing was taken.
var ErrNoRoom = bourse.Errorf(bourse.CodeUnavailable, "The exchange's disk is full; nothing is taken until it has room")

// lane is a queue of encoded commands.
type lane struct {
	buf     []byte
	entries []entry
	// refusal is why the lane takes nothing now, or nil.
	refusal error
}

// entry is one queued command.
type entry struct {
	ticket *Ticket
	// end is where its record ends in buf.
	end int
}

func laneOf(kind bourse.CommandKind) Lane {
	switch kind {
	case bourse.CommandCancel, bourse.CommandCancelAll, bourse.CommandFreezeAccount, bourse.CommandRevokeKey,
		bourse.CommandSecureAccount, bourse.CommandCancelWithdrawal, bourse.CommandPauseWithdrawals:
		return Cancels
	default:
		return Orders
	}
}

// Submit queues a command; its ticket, which may be nil, is resolved when the
// command has been committed and applied. Any goroutine may call it. The errors
// are those of Check, ErrFull, and the refusal of a lane that was closed; then
// nothing was taken. The command may be used again as soon as Submit returns.
func (s *Sequencer) Submit(c *bourse.Command, t *Ticket) error {
	if err := c.Check(); err != nil {
		return err
	}
	at := laneOf(c.Kind)
	if at == Orders && s.barren.waits(c.Account) {
		at = Patient
	}

	s.mu.Lock()
	l := &s.lanes[at]
	if l.refusal != nil {
		defer s.mu.Unlock()
		return l.refusal
	}
	if len(l.buf) >= laneSize {
		s.mu.Unlock()
		return ErrFull
	}
	l.buf = record.Append(l.buf, c)
	l.entries = append(l.entries, entry{t, len(l.buf)})
	s.outstanding.Add(1)
	asleep := !s.awake
	s.awake = true
	s.mu.Unlock()
	if asleep {
		s.poke()
	}
	return nil
}

// Refuse closes a lane: what is queued goes on, what comes is refused with this
// error. A nil error opens the lane again. What is true of Orders is true of Patient.
func (s *Sequencer) Refuse(l Lane, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes[l].refusal = err
	if l == Orders {
		s.lanes[Patient].refusal = err
	}
}

// Takes returns why a command of a kind would be refused now, if its lane is closed.
// Callers that write something before they submit ask first.
func (s *Sequencer) Takes(kind bourse.CommandKind) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lanes[laneOf(kind)].refusal
}

// Save makes cancels wait for company too, while the disk is nearly full: then a frame
// has many of them, and what room there is lasts longer.
func (s *Sequencer) Save(on bool) { s.saving.Store(on) }

// Queued returns how many commands wait to be proposed.
func (s *Sequencer) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.lanes {
		n += len(s.lanes[i].entries)
	}
	return n
}

// gather moves queued commands into the proposal, cancels first, up to a frame.
// Lanes that wait for company are left out of a frame that would hold nothing else,
// until they have waited for long or, being closed, get no company any more.
func (s *Sequencer) gather(p *proposal, now bourse.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.waiting != 0 && (now >= s.waiting+patience || now < s.waiting)
	if due {
		s.lanes[Patient].take(p, journal.MaxFrame/patientShare)
	}

	left, waits := false, false
	for _, at := range [...]Lane{Cancels, Orders, Patient} {
		l := &s.lanes[at]
		switch {
		case len(l.entries) == 0:
		case !due && p.count == 0 && l.refusal == nil && (at == Patient || at == Cancels && s.saving.Load()):
			waits = true
		default:
			l.take(p, journal.MaxFrame)
			left = left || len(l.entries) > 0
		}
	}

	s.awake = left
	switch {
	case !waits:
		s.waiting = 0
	case s.waiting == 0:
		s.waiting = now
	}
}

// take moves the lane's first entries into a proposal, as many as fit into it and at
// most so many bytes.
func (l *lane) take(p *proposal, most int) {
	l.move(l.fit(min(most, journal.MaxFrame-len(p.bytes))), p)
}

// fit returns how many of the lane's first entries fit into some bytes.
func (l *lane) fit(room int) int {
	if len(l.buf) <= room {
		return len(l.entries)
	}
	n := 0
	for n < len(l.entries) && l.entries[n].end <= room {
		n++
	}
	return n
}

// move moves the lane's first n entries into a proposal.
func (l *lane) move(n int, p *proposal) {
	if n == 0 {
		return
	}
	cut := l.entries[n-1].end
	p.bytes = append(p.bytes, l.buf[:cut]...)
	for _, e := range l.entries[:n] {
		p.tickets = append(p.tickets, e.ticket)
	}
	p.count += n
	p.submitted += n
	l.buf = l.buf[:copy(l.buf, l.buf[cut:])]
	rest := copy(l.entries, l.entries[n:])
	clear(l.entries[rest:])
	l.entries = l.entries[:rest]
	for i := range l.entries {
		l.entries[i].end -= cut
	}
}
