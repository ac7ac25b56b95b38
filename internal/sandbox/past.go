package sandbox

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// The past begins pastFor ago and is made in pastSteps steps: with five markets to a step
// and five commands to a market, fewer than 100,000 commands.
const (
	pastFor   = 3 * bourse.Day
	pastSteps = 2_400
)

// PastLength returns the length of a new exchange's made past.
func (w *World) PastLength() bourse.Time {
	if !w.Bots {
		return 0
	}
	return pastFor
}

// MakePast has the traders trade for PastLength from a time on, on a clock that is run
// forward. The caller's goroutine is the line: no other goroutine may use the sequencer
// yet.
func (w *World) MakePast(ctx context.Context, from bourse.Time) error {
	if !w.Bots {
		return nil
	}
	bots, err := w.findTraders(ctx)
	if err != nil {
		return err
	}

	progress := w.exchange.Progress("making the sandbox's past")
	tickets := make([]*sequencer.Ticket, botMarkets*PerMarket)
	for i := range tickets {
		tickets[i] = sequencer.NewTicket()
	}
	for step := range bourse.Time(pastSteps) {
		if err := w.makeStep(bots, tickets, from+step*(pastFor/pastSteps)); err != nil {
			return err
		}
		progress(int64(step), pastSteps)
	}
	return nil
}

// makeStep carries out a plan of the traders at the time now.
func (w *World) makeStep(bots *Bots, tickets []*sequencer.Ticket, now bourse.Time) error {
	plan := bots.Plan(botMarkets, Past)
	for i := range plan {
		if err := w.exchange.Sequencer.Submit(&plan[i], tickets[i]); err != nil {
			return err
		}
	}
	if err := w.exchange.Sequencer.Drain(now); err != nil {
		return err
	}

	outcomes := make([]bourse.Outcome, len(plan))
	for i := range plan {
		<-tickets[i].Done()
		outcomes[i] = tickets[i].Outcome
	}
	bots.Learn(outcomes)
	return nil
}
