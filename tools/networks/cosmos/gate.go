package main

import (
	"sync"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// gate holds blocks back until a test wants them.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	// waits is the height of the block that is being made, and open the highest that may be.
	waits, open int64
}

func newGate() *gate {
	g := new(gate)
	g.changed = sync.NewCond(&g.mu)
	return g
}

// wrap has the maker of a block's contents wait at the gate.
func (g *gate) wrap(next sdk.PrepareProposalHandler) sdk.PrepareProposalHandler {
	return func(ctx sdk.Context, req *abci.RequestPrepareProposal) (*abci.ResponsePrepareProposal, error) {
		g.mu.Lock()
		g.waits = req.Height
		g.changed.Broadcast()
		for g.open < req.Height {
			g.changed.Wait()
		}
		g.mu.Unlock()
		return next(ctx, req)
	}
}

// wait returns when a block waits at the gate.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.waits <= g.open {
		g.changed.Wait()
	}
}

// mine opens the gate for some blocks, and returns when the chain has them.
func (g *gate) mine(blocks int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.waits <= g.open {
		g.changed.Wait()
	}
	last := g.waits + blocks - 1
	g.open = last
	g.changed.Broadcast()
	for g.waits <= last {
		g.changed.Wait()
	}
}

// tick mines by the clock.
func (g *gate) tick(every time.Duration) {
	for {
		g.mine(1)
		time.Sleep(every)
	}
}
