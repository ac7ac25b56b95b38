package sim

import (
	"bytes"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// clients send requests, one at a time or many at once.
type clients struct {
	world *world
	work  *enginetest.Workload
	// asked counts the commands drawn.
	asked int
	// founded is true once the opening is over. During it, each command waits for the one
	// before.
	founded bool
	// leaving is true once clients send no new requests.
	leaving bool
	// held is a drawn command that was not sent yet.
	held *bourse.Command
	// pending are requests without an answer. doubtful are requests of unknown outcome,
	// which their clients will repeat.
	pending, doubtful []*request
	// answered are requests with client IDs and their answers.
	answered []answer
}

// request is a sent command.
type request struct {
	cmd    bourse.Command
	ticket *sequencer.Ticket
	// opening is true for commands of the opening: they are repeated until answered.
	opening bool
	// earlier is the first answer to the same request, or nil.
	earlier *answer
	// batch is the batch that it was sent in first, or nil, and at its place there.
	batch *batch
	at    int
}

// batch is several requests of an account that were sent together.
type batch struct {
	// first is the command of the first one, once one of them was answered, and time its time.
	first bourse.Seq
	time  bourse.Time
}

// answer is an answer that a client received.
type answer struct {
	cmd    bourse.Command
	result sequencer.Result
	// since is the time of the command's decision, which may precede this answer.
	since bourse.Time
	// life is the number of the process that gave it.
	life int
}

// mostAnswered bounds the remembered answers.
const mostAnswered = 64

// act sends a few requests.
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
		case c.founded && c.held == nil && w.chance.oneIn(20):
			c.askTogether()
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

// askTogether sends new requests of one account as a batch.
func (c *clients) askTogether() {
	w := c.world
	var batched []bourse.Command
	for n := w.chance.between(2, 6); n > 0 && c.held == nil; n-- {
		cmd := c.work.Next()
		cmd.Seq, cmd.Time = 0, 0
		c.asked++
		if places := len(placed(&cmd)) > 0 && cmd.Kind != bourse.CommandReplace; places && len(batched) > 0 {
			cmd.Account = batched[0].Account
		}
		if batches(cmd.Kind) && (len(batched) == 0 || cmd.Account == batched[0].Account) {
			batched = append(batched, cmd)
		} else {
			c.held = &cmd
		}
	}
	if len(batched) > 0 {
		c.sendTogether(batched)
	}
}

// batches reports whether commands of a kind are sent in batches.
func batches(kind bourse.CommandKind) bool {
	switch kind {
	case bourse.CommandPlace, bourse.CommandCancel, bourse.CommandAmend, bourse.CommandReplace,
		bourse.CommandPlaceList, bourse.CommandCancelList:
		return true
	default:
		return false
	}
}

// sendTogether submits a batch to the exchange.
func (c *clients) sendTogether(commands []bourse.Command) {
	b := new(batch)
	requests := make([]*request, len(commands))
	tickets := make([]*sequencer.Ticket, len(commands))
	for i := range commands {
		tickets[i] = sequencer.NewTicket()
		requests[i] = &request{cmd: commands[i], ticket: tickets[i], batch: b, at: i}
	}

	err := c.world.process.sequencer.SubmitTogether(commands, tickets)
	if err != nil && !errors.Is(err, bourse.ErrBusy) {
		fail("a batch that begins with %+v was refused: %w", commands[0], err)
	}
	for _, r := range requests {
		if err != nil {
			c.doubt(r)
		} else {
			c.pending = append(c.pending, r)
		}
	}
}

// checkBatch checks that the commands of a batch follow each other, all at one time.
func (c *clients) checkBatch(r *request, result *sequencer.Result) {
	b := r.batch
	if b.first == 0 {
		b.first, b.time = result.Seq-bourse.Seq(r.at), result.Time
	}
	if result.Seq != b.first+bourse.Seq(r.at) || result.Time != b.time {
		fail("request %d of a batch is command %d at %d, the batch begins with command %d at %d",
			r.at, result.Seq, result.Time, b.first, b.time)
	}
	c.world.count(AnsweredTogether)
}

// opens reports whether a kind of command belongs to the opening.
func opens(kind bourse.CommandKind) bool {
	switch kind {
	case bourse.CommandGenesis, bourse.CommandDefineAsset, bourse.CommandDefineMarket,
		bourse.CommandDefineFees, bourse.CommandCreateAccount, bourse.CommandSetAccountFees, bourse.CommandCredit:
		return true
	default:
		return false
	}
}

// send submits a request to the exchange.
func (c *clients) send(r *request) {
	r.ticket = sequencer.NewTicket()
	cmd := r.cmd
	if err := c.world.process.sequencer.Submit(&cmd, r.ticket); err != nil {
		if !errors.Is(err, bourse.ErrBusy) {
			fail("%+v was refused: %w", r.cmd, err)
		}
		c.doubt(r)
		return
	}
	c.pending = append(c.pending, r)
}

// collect receives the answers to pending requests.
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

// receive receives an answer, or loses it.
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
	if r.batch != nil {
		c.checkBatch(r, &result)
	}
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

	ids := clientIDs(&r.cmd)
	if len(ids) == 0 || r.earlier != nil {
		return
	}
	var since bourse.Time
	for _, id := range ids {
		since = max(since, w.truth.named[name{r.cmd.Account, id}])
	}
	// A late answer may be about an earlier use of the ID, before it was free again.
	if since <= result.Time {
		c.remember(answer{r.cmd, result, since, w.lives})
	}
}

// checkAnswer compares an answer with the journal.
func (c *clients) checkAnswer(r *request, result *sequencer.Result) {
	h := c.world.truth.at(result.Seq)
	switch {
	case !bytes.Equal(h.command, record.Append(nil, &r.cmd)):
		fail("the answer to %+v names command %d, which is another one", r.cmd, result.Seq)
	case h.time != result.Time || h.events.Outcome != result.Outcome:
		fail("command %d was answered %+v at %d, and had the outcome %+v at %d",
			result.Seq, result.Outcome, result.Time, h.events.Outcome, h.time)
	}
}

// checkEarlier compares the answer to a repeated request with the first one, while its
// client ID is certainly remembered.
func (c *clients) checkEarlier(r *request, result *sequencer.Result) {
	if r.earlier == nil || result.Time > r.earlier.since+bourse.Day {
		return
	}

	first, now := r.earlier.result.Outcome, result.Outcome
	switch first.Reason {
	case bourse.DuplicateClientID:
		return // the ID was another request's, and may be free now
	case bourse.UnknownAccount, bourse.UnknownMarket:
		return // without an account or market, nothing is remembered
	default:
	}
	if first.Reason != 0 && first.Reason == first.Cancel {
		return // of a replacement of which no part took effect, nothing is remembered
	}

	first.Repeated = true
	if first != now && first.Reason != 0 {
		return // a hundred later rejections of the account evict one, and it is decided anew
	}
	if first != now {
		fail("a client id that was answered %+v by command %d is answered %+v by command %d",
			first, r.earlier.result.Seq, now, result.Seq)
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

// hangUp disconnects all clients: the outcomes of their requests are unknown to them.
func (c *clients) hangUp() {
	for _, r := range c.pending {
		c.doubt(r)
	}
	c.pending = nil
}

// doubt repeats a request of unknown outcome if that is safe.
func (c *clients) doubt(r *request) {
	var safe bool
	switch r.cmd.Kind {
	case bourse.CommandPlace, bourse.CommandReplace, bourse.CommandPlaceList:
		safe = len(clientIDs(&r.cmd)) > 0
	case bourse.CommandWithdraw, bourse.CommandTransfer:
		asked := r.cmd.Wallet.Withdraw
		safe = !asked.ClientID.IsZero() || !asked.Once.IsZero()
	default:
		safe = true
	}
	if r.opening || safe {
		r.batch = nil // it is sent again alone
		c.doubtful = append(c.doubtful, r)
	}
}
