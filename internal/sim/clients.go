package sim

import (
	"bytes"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// clients ask for commands, one request after the other or many at once.
type clients struct {
	world *world
	work  *enginetest.Workload
	// asked counts the commands drawn.
	asked int
	// founded is true once the opening is over, during which each command waits
	// for the one before it.
	founded bool
	// leaving is true once clients ask for nothing new.
	leaving bool
	// held is a command that was drawn and not sent.
	held *bourse.Command
	// pending wait for an answer, doubtful are those whose fate their clients do
	// not know and who will ask again.
	pending, doubtful []*request
	// answered are requests with client ids and the answers they got.
	answered []answer
}

// request is a command that was sent.
type request struct {
	cmd    bourse.Command
	ticket *sequencer.Ticket
	// opening is true for what the exchange is founded with: it is sent until it
	// is answered.
	opening bool
	// earlier is the answer that the same request got before, or nil.
	earlier *answer
}

// answer is what a client was told.
type answer struct {
	cmd    bourse.Command
	result sequencer.Result
	// since is when the command was decided on, which may be before this answer.
	since bourse.Time
	// life is the process that gave it.
	life int
}

// mostAnswered bounds the answers that are remembered.
const mostAnswered = 64

// act lets clients send a few requests.
func (c *clients) act() {
	w := c.world
	for n := w.chance.between(1, w.shape.burst); n > 0 && uint64(len(c.pending)) < w.shape.pending; n-- {
		switch {
		case len(c.doubtful) > 0 && (!c.founded || c.leaving || w.chance.percent(60)):
			r := c.doubtful[0]
			c.doubtful = c.doubtful[1:]
			w.count(AskedAgain)
			c.send(r)
		case c.leaving || !c.founded && len(c.pending) > 0:
			return
		case len(c.answered) > 0 && w.chance.percent(w.shape.again):
			a := c.answered[w.chance.Below(uint64(len(c.answered)))]
			c.send(&request{cmd: a.cmd, earlier: &a})
		default:
			c.ask()
		}
	}
}

// ask sends a new request.
func (c *clients) ask() {
	if c.held == nil {
		cmd := c.work.Next()
		cmd.Seq, cmd.Time = 0, 0
		c.held = &cmd
		c.asked++
	}
	if !c.founded && !opens(c.held.Kind) {
		c.founded = true
	}
	r := &request{cmd: *c.held, opening: !c.founded}
	c.held = nil
	c.send(r)
}

// opens reports whether an exchange is founded with commands of a kind.
func opens(kind bourse.CommandKind) bool {
	switch kind {
	case bourse.CommandGenesis, bourse.CommandDefineAsset, bourse.CommandDefineMarket,
		bourse.CommandCreateAccount, bourse.CommandSetAccountFees, bourse.CommandCredit:
		return true
	default:
		return false
	}
}

// send hands a request to the exchange.
func (c *clients) send(r *request) {
	r.ticket = sequencer.NewTicket()
	cmd := r.cmd
	if err := c.world.process.sequencer.Submit(&cmd, r.ticket); err != nil {
		if !errors.Is(err, sequencer.ErrFull) {
			fail("%+v was refused: %w", r.cmd, err)
		}
		c.doubt(r)
		return
	}
	c.pending = append(c.pending, r)
}

// collect takes the answers that are there.
func (c *clients) collect() {
	waiting := c.pending[:0]
	var done []*request
	for _, r := range c.pending {
		select {
		case <-r.ticket.Done():
			done = append(done, r)
		default:
			waiting = append(waiting, r)
		}
	}
	clear(c.pending[len(waiting):])
	c.pending = waiting
	for _, r := range done {
		c.receive(r)
	}
}

// receive takes an answer, or loses it.
func (c *clients) receive(r *request) {
	w, result := c.world, r.ticket.Result
	if w.withoutRoom(result.Err) {
		c.doubt(r)
		return
	}
	if result.Err != nil {
		fail("a command was taken and has no outcome: %w", result.Err)
	}
	c.checkAnswer(r, &result)
	w.trail.mark(uint64(result.Seq), uint64(w.lives))
	if w.chance.percent(w.shape.lost) {
		w.count(AnswerLost)
		c.doubt(r)
		return
	}
	c.checkEarlier(r, &result)
	if w.chance.oneIn(4) {
		w.checkFound(r, &result)
	}
	if r.cmd.Kind != bourse.CommandPlace || !r.cmd.Place.ClientID.Given() || r.earlier != nil {
		return
	}
	// An answer that comes late may be about a use of the id that is over.
	if since := w.truth.named[name{r.cmd.Account, r.cmd.Place.ClientID}]; since <= result.Time {
		c.remember(answer{r.cmd, result, since, w.lives})
	}
}

// checkAnswer holds an answer against the journal.
func (c *clients) checkAnswer(r *request, result *sequencer.Result) {
	h := c.world.truth.at(result.Seq)
	switch {
	case !bytes.Equal(h.command, record.Append(nil, &r.cmd)):
		fail("the answer to %+v names command %d, which is another one", r.cmd, result.Seq)
	case h.time != result.Time || h.events.Outcome != result.Outcome:
		fail("command %d was answered %+v at %d, and had the outcome %+v at %d", result.Seq, result.Outcome, result.Time, h.events.Outcome, h.time)
	}
}

// checkEarlier holds the answer to a request that came again against the first
// one, if its client id is still taken for sure.
func (c *clients) checkEarlier(r *request, result *sequencer.Result) {
	if r.earlier == nil || result.Time > r.earlier.since+bourse.Day {
		return
	}
	first, now := r.earlier.result.Outcome, result.Outcome
	switch first.Reason {
	case bourse.DuplicateClientID:
		return // the id was another request's, and may be free now
	case bourse.UnknownAccount, bourse.UnknownMarket:
		return // there is nobody to remember it for
	default:
	}
	first.Repeated = true
	if first != now && first.Reason != 0 {
		return // a hundred later rejections of the account push one out, and it is decided anew
	}
	if first != now {
		fail("a client id that was answered %+v by command %d is answered %+v by command %d", first, r.earlier.result.Seq, now, result.Seq)
	}
	c.world.count(AnsweredAgain)
	if r.earlier.life != c.world.lives {
		c.world.count(AnsweredAfterCrash)
	}
}

func (c *clients) remember(a answer) {
	if len(c.answered) < mostAnswered {
		c.answered = append(c.answered, a)
	} else {
		c.answered[c.world.chance.Below(mostAnswered)] = a
	}
}

// hangUp is what clients see when the exchange goes away.
func (c *clients) hangUp() {
	for _, r := range c.pending {
		c.doubt(r)
	}
	c.pending = nil
}

// doubt decides whether a client that does not know what became of its request
// asks again: it does if that is safe.
func (c *clients) doubt(r *request) {
	var safe bool
	switch r.cmd.Kind {
	case bourse.CommandPlace:
		safe = r.cmd.Place.ClientID.Given()
	case bourse.CommandWithdraw, bourse.CommandTransfer:
		asked := r.cmd.Wallet.Withdraw
		safe = asked.ClientID.Given() || asked.Once.Given()
	default:
		safe = true
	}
	if r.opening || safe {
		c.doubtful = append(c.doubtful, r)
	}
}
