package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

const (
	// pastFor is how far back a sandbox's past begins, and pastSteps in how many
	// steps it is made: with five markets to a step and five commands to a
	// market, fewer than 100,000 commands.
	pastFor   = 3 * bourse.Day
	pastSteps = 2_400
	// botsEvery is how often the traders do something in each market: they replace two
	// orders, which are four changes of the book, so 27 a second; and less than one
	// frame of the journal for each.
	botsEvery = 150 * time.Millisecond
	// botMarkets is how many markets they trade in: the first ones listed.
	botMarkets = 5
	// botSeed makes every sandbox's past the same but for the time.
	botSeed = 2026
)

// The traders' names.
const (
	botMaker = "maker@bots.example"
	botTaker = "taker@bots.example"
)

// list puts the sandbox's catalogue on the list, if it is not there in full.
func (n *Node) list(ctx context.Context) error {
	commands := sandbox.Catalogue(n.Wide)
	markets := 0
	for i := range commands {
		if commands[i].Kind == bourse.CommandDefineMarket {
			markets++
		}
	}
	if len(n.view.Catalogue().Markets)-1 >= markets {
		return nil
	}
	return n.carryAll(ctx, commands)
}

// hire opens and funds the traders' accounts, if there are none.
func (n *Node) hire(ctx context.Context) error {
	for _, email := range [...]string{botMaker, botTaker} {
		_, found, err := n.accounts.ByEmail(ctx, email)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		id, err := n.accounts.Create(ctx, email)
		if err != nil {
			return err
		}
		if err := n.carryAll(ctx, sandbox.Funds(id, n.view.Catalogue().Assets[1:])); err != nil {
			return err
		}
	}
	return nil
}

// traders returns the simulated traders, with the orders that they have open.
func (n *Node) traders(ctx context.Context) (*sandbox.Bots, error) {
	maker, _, err := n.accounts.ByEmail(ctx, botMaker)
	if err != nil {
		return nil, err
	}
	taker, _, err := n.accounts.ByEmail(ctx, botTaker)
	if err != nil {
		return nil, err
	}
	open := n.view.OpenOrders(maker.ID, 0, 0, 0, 1<<20)
	return sandbox.NewBots(botSeed, maker.ID, taker.ID, n.view.Catalogue().Markets[1:1+botMarkets], open), nil
}

// makePast has the traders trade from some time on until now, on a clock that is
// run forward. Nobody else is there yet: this goroutine is the whole line.
func (n *Node) makePast(ctx context.Context, from bourse.Time) error {
	bots, err := n.traders(ctx)
	if err != nil {
		return err
	}
	progress := n.progress("making the sandbox's past")
	tickets := make([]*sequencer.Ticket, botMarkets*sandbox.PerMarket)
	for i := range tickets {
		tickets[i] = sequencer.NewTicket()
	}
	for step := range bourse.Time(pastSteps) {
		plan := bots.Plan(botMarkets, sandbox.Past)
		for i := range plan {
			if err := n.sequencer.Submit(&plan[i], tickets[i]); err != nil {
				return err
			}
		}
		if err := n.stepLine(from + step*(pastFor/pastSteps)); err != nil {
			return err
		}
		outcomes := make([]bourse.Outcome, len(plan))
		for i := range plan {
			<-tickets[i].Done()
			outcomes[i] = tickets[i].Outcome
		}
		bots.Learn(outcomes)
		progress(int64(step), pastSteps)
	}
	return nil
}

// stepLine takes what was submitted through the line, at some time.
func (n *Node) stepLine(now bourse.Time) error {
	for !n.sequencer.Idle() {
		if _, err := n.sequencer.Write(now); err != nil {
			return err
		}
		for more := true; more; {
			var err error
			if more, err = n.sequencer.Apply(); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepareBots finds the traders. start lets them trade, and returns what ends it.
func (n *Node) prepareBots(ctx context.Context) (start func() (stop func()), err error) {
	if !n.Bots {
		return func() func() { return func() {} }, nil
	}
	bots, err := n.traders(ctx)
	if err != nil {
		return nil, err
	}

	return func() func() {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.trade(ctx, bots)
		}()
		return func() { cancel(); <-done }
	}, nil
}

// trade runs the traders until ctx ends.
func (n *Node) trade(ctx context.Context, bots *sandbox.Bots) {
	tick := time.NewTicker(botsEvery)
	defer tick.Stop()
	for turn := 1; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if turn%travelEvery == 0 {
			if err := n.travel(ctx, bots.Taker(), turn/travelEvery); err != nil {
				n.Log.Debug("a simulated trader's money stays where it is", slog.Any("error", err))
			}
		}
		plan := bots.Plan(botMarkets, sandbox.Live)
		outcomes := make([]bourse.Outcome, len(plan))
		for i, r := range n.together(ctx, plan) {
			if r.Err != nil {
				n.Log.Debug("a simulated trader was refused", slog.Any("error", r.Err))
				r.Outcome.Reason = bourse.Voided
			}
			outcomes[i] = r.Outcome
		}
		bots.Learn(outcomes)
	}
}
