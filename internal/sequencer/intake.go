package sequencer

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Lane is one of the intake's queues.
type Lane int

// The lanes. Commands that reduce risk have their own, so that a flood of orders does not
// block them.
const (
	// Orders is for all other commands.
	Orders Lane = iota
	// Cancels is for cancels, freezes and revocations.
	Cancels
	// Patient is for accounts whose last commands were all fruitless. Its commands join a
	// frame with others, and get a frame of their own only after patience.
	Patient
	lanes
)

// laneSize bounds a lane in bytes of records: four frames, about 30,000 orders. A
// proposal takes cancels first and never more than a frame.
const laneSize = 4 * journal.MaxFrame

// ErrNoRoom means that the journal's disk is full; the command was not accepted.
var ErrNoRoom = bourse.Errorf(
	bourse.CodeFull, "The exchange's disk is full; nothing is taken until it has room")

// lane is a queue of encoded commands.
type lane struct {
	buf     []byte
	entries []entry
	// refusal is the error of a closed lane, nil if it is open; Patient has none of its own.
	refusal error
}

// entry is one queued command.
type entry struct {
	ticket *Ticket
	// end is the offset of its record's end in buf.
	end int
	// joined is true if the next entry must be in the same frame.
	joined bool
}

func laneOf(kind bourse.CommandKind) Lane {
	if record.Urgent(kind) {
		return Cancels
	}
	return Orders
}

// Submit queues a command; its ticket, which may be nil, is resolved once the command is
// committed and applied. Safe for concurrent use. The errors are those of record.Check and Options.Admits,
// bourse.ErrBusy, and the refusal of a closed lane; the command is then not queued. The
// caller may reuse the command as soon as Submit returns.
func (s *Sequencer) Submit(c *bourse.Command, t *Ticket) error {
	if err := record.Check(c); err != nil {
		return err
	}
	if s.admits != nil {
		if err := s.admits(record.Needs(c)); err != nil {
			return err
		}
	}
	own := laneOf(c.Kind)
	at := own
	if (own == Orders || record.Free(c.Kind)) && s.barren.waits(c.Account) {
		at = Patient
	}

	s.mu.Lock()
	if refusal := s.lanes[own].refusal; refusal != nil {
		s.mu.Unlock()
		return refusal
	}
	l := &s.lanes[at]
	if len(l.buf) >= laneSize {
		s.mu.Unlock()
		return bourse.ErrBusy
	}

	l.buf = record.Append(l.buf, c)
	l.entries = append(l.entries, entry{ticket: t, end: len(l.buf)})
	s.outstanding.Add(1)
	s.rouse()
	return nil
}

// rouse unlocks mu and wakes the writer for a command that was queued.
func (s *Sequencer) rouse() {
	asleep := !s.awake
	s.awake = true
	s.mu.Unlock()

	if asleep {
		s.poke()
	}
}

// Refuse closes Orders or Cancels: queued commands continue, new ones of the lane get err, even
// if they would wait in Patient. A nil error opens the lane again.
func (s *Sequencer) Refuse(l Lane, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[l] = err
	s.setRefusals()
}

// setRefusals sets the refusals of the lanes. The caller holds mu.
func (s *Sequencer) setRefusals() {
	for i := range s.lanes {
		s.lanes[i].refusal = s.asked[i]
		if s.follows.Load() {
			s.lanes[i].refusal = ErrElsewhere
		}
	}
}

// Takes returns the refusal of a command by its kind, nil if its lane is open. Callers that write
// something before they submit ask first.
func (s *Sequencer) Takes(kind bourse.CommandKind) error {
	if s.admits != nil {
		if err := s.admits(kind, 0); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lanes[laneOf(kind)].refusal
}

// Save makes cancels wait for company too, while the disk is nearly full: fuller frames
// use less of the remaining space.
func (s *Sequencer) Save(on bool) { s.saving.Store(on) }

// Queued returns the number of commands not yet proposed.
func (s *Sequencer) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.lanes {
		n += len(s.lanes[i].entries)
	}
	return n
}

// gather moves queued commands into the proposal, cancels first, up to a frame. Waiting
// lanes are left out of a frame that would hold only their commands, until patience has
// passed or Cancels is closed, as before a stop. After a start Cancels alone is taken until
// the orders of earlier processes' connections are canceled.
func (s *Sequencer) gather(p *proposal, now bourse.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	holding, stops := s.holding.Load(), s.lanes[Cancels].refusal != nil
	due := s.waiting != 0 && (now >= s.waiting+patience || now < s.waiting)
	if due && !holding {
		s.lanes[Patient].take(p, journal.MaxFrame/patientShare)
	}

	left, waits := false, false
	for _, at := range [...]Lane{Cancels, Orders, Patient} {
		l := &s.lanes[at]
		switch {
		case len(l.entries) == 0 || holding && at != Cancels:
		case !due && p.count == 0 && !stops && (at == Patient || at == Cancels && s.saving.Load()):
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

// refuseHeld refuses the queued commands that wait for the first cancels of a process,
// because the journal has no room for these.
func (s *Sequencer) refuseHeld() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuseQueued(ErrNoRoom, Orders, Patient)
}

// refuseQueued refuses the queued commands of lanes. The caller holds mu.
func (s *Sequencer) refuseQueued(why error, from ...Lane) {
	for _, at := range from {
		l := &s.lanes[at]
		for _, e := range l.entries {
			if e.ticket != nil {
				e.ticket.Result = Result{Err: why}
				e.ticket.resolve()
			}
		}
		s.outstanding.Add(-int64(len(l.entries)))
		clear(l.entries)
		l.buf, l.entries = l.buf[:0], l.entries[:0]
	}
}

// take moves as many of the lane's first entries as fit into a proposal, at most that
// many bytes.
func (l *lane) take(p *proposal, most int) {
	l.move(l.fit(min(most, journal.MaxFrame-len(p.bytes))), p)
}

// fit returns how many of the lane's first entries fit into room bytes, without a part of a
// batch.
func (l *lane) fit(room int) int {
	if len(l.buf) <= room {
		return len(l.entries)
	}
	n := 0
	for n < len(l.entries) && l.entries[n].end <= room {
		n++
	}
	for n > 0 && l.entries[n-1].joined {
		n--
	}
	return n
}

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
