package node

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// begin journals genesis if the exchange is new, and a sandbox's first commands. It runs
// before the line's goroutines: a cluster's log then waits for the other nodes in Step, because Drain
// would take the wait for sleep and run the exchange's time ahead.
func (n *Node) begin(ctx context.Context) error {
	if n.Member != nil {
		n.Member.Log.Wait(true)
		defer n.Member.Log.Wait(false)
	}

	now := max(bourse.TimeOf(time.Now()), n.engine.Now())
	isNew := n.view.Catalogue().Genesis == nil
	if n.Sandbox == nil {
		return n.alongside(now, func() error { return n.journalGenesis(ctx) })
	}

	n.Sandbox.Join(sandbox.Exchange{
		Data: n.Data, View: n.view, Sequencer: n.sequencer, Accounts: n.accounts, Board: n.board,
		Signer: n.signerAccounts(),
		Now:    n.now, Progress: n.progress, Log: n.Log,
	})
	if isNew {
		now -= n.Sandbox.PastLength()
	}
	err := n.alongside(now, func() error { return n.journalGenesis(ctx) })
	if err == nil && isNew {
		err = n.Sandbox.MakePast(ctx, now)
	}
	return err
}

// journalGenesis journals the first commands that are missing, and the note of an
// accepted journal.
func (n *Node) journalGenesis(ctx context.Context) error {
	if n.view.Catalogue().Genesis == nil {
		genesis := bourse.Genesis{Exchange: n.identity.Exchange, Sandbox: n.identity.Sandbox,
			Rules: n.newestRules()}
		if err := n.carry(ctx, bourse.Command{Kind: bourse.CommandGenesis, Genesis: &genesis}); err != nil {
			return fmt.Errorf("genesis: %w", err)
		}
	}
	if n.role.Raise > n.view.Catalogue().Incarnation {
		raise := bourse.Command{Kind: bourse.CommandRaise, Operator: uint32(os.Getuid()), Text: n.role.Why}
		if err := n.carry(ctx, raise); err != nil {
			return fmt.Errorf("raising the incarnation: %w", err)
		}
	}
	if n.Sandbox != nil {
		if err := n.Sandbox.List(ctx); err != nil {
			return err
		}
	}
	return n.noteAccepted(ctx)
}

// newestRules returns the version of the rules with which a new exchange begins.
func (n *Node) newestRules() uint32 {
	if n.Member == nil {
		return bourse.CurrentRules
	}
	return min(bourse.CurrentRules, n.Member.Config().Allowed().Rules) // nodes of an older program may have made the cluster
}

// alongside runs work and drains the sequencer at the time now for its commands: the
// line's goroutines do not run yet.
func (n *Node) alongside(now bourse.Time, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	for {
		select {
		case err := <-done:
			return err
		case <-n.sequencer.Wake():
			if err := n.sequencer.Drain(now); err != nil {
				return err
			}
		}
	}
}

// carry takes a command through the line; a refusal is an error.
func (n *Node) carry(ctx context.Context, cmd bourse.Command) error {
	r, err := n.sequencer.Do(ctx, &cmd)
	if err != nil {
		return err
	}
	return r.Refusal()
}
