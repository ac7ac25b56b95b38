package node

import (
	"context"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// found opens the exchange if it is new: genesis, and a sandbox's catalogue,
// traders and past. It runs before the line's goroutines do.
func (n *Node) found(ctx context.Context) error {
	now := max(bourse.TimeOf(time.Now()), n.engine.Now())
	isNew := n.view.Catalogue().Genesis == nil
	begin := now
	if isNew && n.Bots {
		begin = now - pastFor
	}
	err := n.alongside(begin, func() error { return n.open(ctx) })
	if err == nil && isNew && n.Bots {
		err = n.makePast(ctx, begin)
	}
	return err
}

// open journals what an exchange begins with, as far as it is not there.
func (n *Node) open(ctx context.Context) error {
	if n.view.Catalogue().Genesis == nil {
		genesis := bourse.Genesis{Exchange: n.identity.Exchange, Sandbox: n.identity.Sandbox, Rules: bourse.CurrentRules}
		if err := n.carry(ctx, bourse.Command{Kind: bourse.CommandGenesis, Genesis: &genesis}); err != nil {
			return fmt.Errorf("genesis: %w", err)
		}
	}
	if n.Sandbox {
		if err := n.list(ctx); err != nil {
			return fmt.Errorf("catalogue of the sandbox: %w", err)
		}
	}
	if n.Bots {
		if err := n.hire(ctx); err != nil {
			return fmt.Errorf("accounts of the simulated traders: %w", err)
		}
	}
	return n.noteAccepted(ctx)
}

// alongside steps the line, at one time, while some work waits for its commands.
func (n *Node) alongside(now bourse.Time, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	for {
		select {
		case err := <-done:
			return err
		case <-n.sequencer.Wake():
			if err := n.stepLine(now); err != nil {
				return err
			}
		}
	}
}

// together takes commands through the line, in their order and mostly in one frame, and
// returns what became of each.
func (n *Node) together(ctx context.Context, commands []bourse.Command) []sequencer.Result {
	results := make([]sequencer.Result, len(commands))
	tickets := make([]*sequencer.Ticket, len(commands))
	for i := range commands {
		tickets[i] = sequencer.NewTicket()
		results[i].Err = n.sequencer.Submit(&commands[i], tickets[i])
	}
	for i, t := range tickets {
		if results[i].Err != nil {
			continue
		}
		select {
		case <-t.Done():
			results[i] = t.Result
		case <-ctx.Done():
			results[i].Err = ctx.Err()
		}
	}
	return results
}

// carryAll takes commands through the line together; the first refusal is the error.
func (n *Node) carryAll(ctx context.Context, commands []bourse.Command) error {
	for _, r := range n.together(ctx, commands) {
		if err := refusal(r); err != nil {
			return err
		}
	}
	return nil
}

// refusal returns the error of a command that was refused.
func refusal(r sequencer.Result) error {
	if r.Err == nil && r.Outcome.Reason != 0 {
		return fmt.Errorf("refused: %s", r.Outcome.Reason)
	}
	return r.Err
}

// carry takes a command through the line; a refusal is an error.
func (n *Node) carry(ctx context.Context, cmd bourse.Command) error {
	r, err := n.sequencer.Do(ctx, &cmd)
	if err != nil {
		return err
	}
	return refusal(r)
}
