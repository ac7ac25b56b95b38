package sim

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// rememberedBlocks is the number of blocks of a network that the exchange remembers.
const rememberedBlocks = 1000

// rewriting replaces more blocks of a network than the exchange remembers, once a simulation is calm: the chain grows by
// as many, they are replaced with some of those below, and operators have the exchange follow the new chain.
type rewriting struct {
	phase rewritingPhase
	// fork is the last block that both chains have.
	fork chain.BlockRef
}

type rewritingPhase uint8

const (
	neverRewritten rewritingPhase = iota
	toGrow
	grows
	rewritten
)

// rewrite makes a step of the rewriting, and reports whether the network has one under way.
func (x *wallets) rewrite(n *network) bool {
	r, state := &n.rewriting, x.world.process.board.State(n.id)
	atHead := state.Part == 0 && state.Tip == n.node.Head()
	switch r.phase {
	case toGrow:
		if atHead {
			r.fork, r.phase = state.Tip, grows
		}
	case grows:
		if grown := n.node.Head().Height - r.fork.Height; grown <= rememberedBlocks {
			n.mine(int(min(100, rememberedBlocks+1-grown)))
			if len(n.listed) > 0 {
				x.deposit(n, &n.listed[0])
			}
		} else if atHead {
			_, err := n.node.Reorg(int(grown), x.chance.oneIn(2))
			want(err, "rewriting a chain")
			r.phase, n.rough = rewritten, true
			n.note("more blocks are replaced than are remembered")
		}
	case rewritten:
		if strings.Contains(x.world.process.worker(n).Health().Reason, "network follow") {
			x.ask(&bourse.Command{Kind: bourse.CommandFollowChain, Wallet: &bourse.WalletCommand{
				Network: n.id, Height: r.fork.Height, Tx: r.fork.Hash,
			}}, false)
		}
		if state.Recount == r.fork && atHead {
			x.world.count(ChainFollowed)
			r.phase = neverRewritten
		}
	case neverRewritten:
		return false
	}

	for range 50 { // thousands of blocks are to be read, taken back and read again
		if x.world.process == nil {
			break
		}
		x.step(n)
	}
	return true
}
