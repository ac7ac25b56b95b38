package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
)

// liar is a client that passes lies on, as if it did not check its node.
type liar struct {
	quorum.Client
	block func(*chain.Block)
	fees  uint64
	nonce uint64
	// err is what Prepare and Outbid refuse for.
	err error
}

func (l *liar) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	b, err := l.Client.Block(ctx, height)
	if err == nil && l.block != nil {
		l.block(b)
	}
	return b, err
}

func (l *liar) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	f, err := l.Client.Fees(ctx, coin)
	if err == nil && l.fees > 0 {
		f.Cost, f.PerInput = bourse.Units(l.fees), bourse.Units(100-l.fees)
	}
	return f, err
}

func (l *liar) Nonce(ctx context.Context, index uint32) (uint64, error) {
	n, err := l.Client.Nonce(ctx, index)
	return n + l.nonce, err
}

func (l *liar) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	if l.err != nil {
		return chain.Unsigned{}, l.err
	}
	return l.Client.Prepare(ctx, p)
}

func (l *liar) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	if l.err != nil {
		return chain.Fees{}, l.err
	}
	return l.Client.Outbid(ctx, coin, replaces)
}

// lie makes a node's client pass lies on.
func (h *hub) lie(node int, l liar) {
	l.Client = h.clients[node-1]
	h.clients[node-1] = &l
}

// deposit is a payment to account 1.
func (h *hub) deposit(units uint64) chain.Pay {
	to := devnet.NewCodec(h.params, devnet.NewKeys(h.params, seed).Public()).Destination(1)
	return chain.Pay{To: to, Coin: h.params.Shape.Coins[0].ID, Amount: bourse.Units(units)}
}

// mine sends payments on a chain, and adds blocks to it.
func (h *hub) mine(n interface {
	Send(pays ...chain.Pay) (chain.Hash, error)
	Mine(count int) (chain.BlockRef, error)
}, blocks int, pays ...chain.Pay) chain.BlockRef {
	h.Helper()
	for _, pay := range pays {
		_, err := n.Send(pay)
		h.must(err)
	}
	head, err := n.Mine(blocks)
	h.must(err)
	return head
}

// is checks the health of a network.
func (h *hub) is(q *quorum.Network, operating bool, head chain.BlockRef, words ...string) {
	h.Helper()
	got, err := q.Health(h.Context())
	if got.Operating != operating || got.Head != head || operating != (got.Reason == "") || err != nil && operating {
		h.Errorf("health is %+v, %v; want %t at %d", got, err, operating, head.Height)
	}
	for _, word := range words {
		if !strings.Contains(got.Reason, word) {
			h.Errorf("the reason has no %q: %s", word, got.Reason)
		}
	}
}

// TestMinorityLies reads a block of which one of three nodes tells something else. The block is the one of the others.
func TestMinorityLies(t *testing.T) {
	const sent, invented = 1e8, 5e8
	for name, lie := range map[string]func(h *hub){
		"another block":             func(h *hub) { h.mine(h.fork(), 1) },
		"an invented deposit":       func(h *hub) { h.mine(h.fork(), 1, h.deposit(sent), h.deposit(invented)) },
		"a hidden transaction":      func(h *hub) { h.mine(h.fork(), 2) },
		"a block that is not there": func(h *hub) { h.mine(h.fork(), 1, h.deposit(sent)); h.nodes[2].Inject(devnet.Failing, "", 0) },
		"transfers that no hash binds": func(h *hub) {
			h.add(h.main)
			h.lie(3, liar{block: func(b *chain.Block) {
				for i := range b.Txs {
					b.Txs[i].Credits = append(b.Txs[i].Credits, chain.Credit{Index: 9, Address: h.deposit(1).To.Address,
						Coin: h.deposit(1).Coin, Amount: bourse.Units(invented)})
				}
			}})
		},
		"no transfers": func(h *hub) {
			h.add(h.main)
			h.lie(3, liar{block: func(b *chain.Block) { b.Txs = nil }})
		},
		"another name": func(h *hub) {
			h.add(h.main)
			h.lie(3, liar{block: func(b *chain.Block) { b.Hash[0]++ }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, devnet.Lookup("BTC"), 2)
			lie(h)
			// The liar is asked first, too.
			for range h.clients {
				h.clients = append(h.clients[1:], h.clients[0])
				q := h.network(deep)
				q.Watch(1)
				head := h.main.Head()
				if head.Height == 1 {
					head = h.mine(h.main, 1, h.deposit(sent))
				}
				h.is(q, true, head)
				b, err := q.Block(t.Context(), head.Height)
				h.must(err)
				if sums := credited(q, b); b.BlockRef != head || !slices.Equal(sums, []bourse.Amount{bourse.Units(sent)}) {
					t.Errorf("block %d credits %v", b.Height, sums)
				}
			}
		})
	}
}

// credited returns what a block pays to accounts.
func credited(q *quorum.Network, b *chain.Block) (sums []bourse.Amount) {
	for _, tx := range b.Txs {
		for _, c := range tx.Credits {
			if owner, ours := q.Owner(c.Address, c.Memo); ours && owner.Kind == chain.OwnerCustomer {
				sums = append(sums, c.Amount)
			}
		}
	}
	return sums
}

// TestTwoDisagree has no majority: nothing is read.
func TestTwoDisagree(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 2)
	h.lie(2, liar{block: func(b *chain.Block) { b.Txs = nil }})
	h.mine(h.main, 1, h.deposit(1e8))
	_, err := h.network(deep).Block(t.Context(), 2)
	if !errors.Is(err, chain.ErrOdd) || !strings.Contains(err.Error(), "node 1") || !strings.Contains(err.Error(), "node 2") {
		t.Errorf("got %v", err)
	}
}

// TestUncalled has one of two nodes trace a block, and the other one not in time. The transfers that both tell count,
// and nothing is said to be left out.
func TestUncalled(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 2)
	h.lie(2, liar{block: func(b *chain.Block) { b.Uncalled = true }})
	h.mine(h.main, 1, h.deposit(1e8))
	q := h.network(deep)
	q.Watch(1)
	if b, err := q.Block(t.Context(), 2); err != nil || b.Uncalled || len(credited(q, b)) != 1 {
		t.Errorf("got %+v, %v", b, err)
	}
}

// TestCallsOfSome has one node not trace a block in which, according to the others, a call paid an account. A majority
// with the call counts; else the block counts without it, and never without what a block shows.
func TestCallsOfSome(t *testing.T) {
	call := func(amount uint64) func(*chain.Block) {
		return func(b *chain.Block) {
			tx := &b.Txs[len(b.Txs)-1]
			last := tx.Credits[len(tx.Credits)-1]
			last.Index, last.Amount = 1<<24, bourse.Units(amount)
			tx.Credits = append(slices.Clip(tx.Credits), last)
		}
	}
	late := func(b *chain.Block) { b.Uncalled = true }
	hiding := func(b *chain.Block) {
		b.Uncalled = true
		tx := &b.Txs[len(b.Txs)-1]
		tx.Credits = tx.Credits[1:]
	}
	shown := func(b *chain.Block) { b.Uncalled = false }

	for name, c := range map[string]struct {
		nodes []func(*chain.Block)
		// credits are those of the transaction, 0 if the nodes do not agree.
		credits  int
		uncalled bool
	}{
		"a late one and the others":  {[]func(*chain.Block){late, call(5), call(5)}, 2, false},
		"two late ones":              {[]func(*chain.Block){late, call(5), late}, 1, true},
		"one of two":                 {[]func(*chain.Block){call(5), late}, 1, true},
		"the others contradict":      {[]func(*chain.Block){call(5), late, call(6)}, 1, true},
		"nobody is late":             {[]func(*chain.Block){call(5), shown}, 0, false},
		"one hides what blocks show": {[]func(*chain.Block){call(5), hiding}, 0, false},
	} {
		h := open(t, devnet.Lookup("BTC"), len(c.nodes))
		for i, lie := range c.nodes {
			h.lie(i+1, liar{block: lie})
		}
		h.mine(h.main, 1, h.deposit(1e8))
		plain, err := h.clients[0].(*liar).Client.Block(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		q := h.network(deep)
		q.Watch(1)
		b, err := q.Block(t.Context(), 2)
		if c.credits == 0 {
			if !errors.Is(err, chain.ErrOdd) {
				t.Errorf("%s: got %+v, %v", name, b, err)
			}
			continue
		}
		last, want := len(plain.Txs)-1, len(plain.Txs[len(plain.Txs)-1].Credits)+c.credits-1
		if err != nil || b.Uncalled != c.uncalled || len(b.Txs[last].Credits) != want {
			t.Errorf("%s: got %+v, %v", name, b, err)
		}
	}
}

// TestHead checks which block counts as the head.
func TestHead(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 1)
	behind := h.fork()
	two := h.network(deep)
	ahead := h.mine(h.main, 3)
	h.is(two, true, behind.Head()) // both have it

	h.add(h.main)
	three := h.network(deep)
	h.is(three, true, ahead) // the one behind does not hold up the others

	h.nodes[2].Stop()
	h.is(three, true, behind.Head())
	h.nodes[0].Stop()
	h.is(three, false, chain.BlockRef{}, "node 1: ", "node 3: ", "2 of 3 nodes must agree")
	h.nodes[0].Start()
	h.is(three, true, behind.Head())
}

// braggart is a client of a node that claims a chain far above the others.
type braggart struct {
	quorum.Client
	ref func(height uint64) (chain.BlockRef, error)
}

func (b *braggart) Health(ctx context.Context) (chain.Health, error) {
	h, err := b.Client.Health(ctx)
	h.Head = chain.BlockRef{Height: 1e9, Hash: chain.Hash{1}}
	return h, err
}

func (b *braggart) Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error) {
	if height < 2 {
		return b.Client.Ref(ctx, height)
	}
	ref, err := b.ref(height)
	return ref, 0, err
}

// TestBraggart has a node that claims to be ahead, while one of the two others is behind. What these share counts.
func TestBraggart(t *testing.T) {
	for name, ref := range map[string]func(height uint64) (chain.BlockRef, error){
		"silent":       func(uint64) (chain.BlockRef, error) { return chain.BlockRef{}, chain.ErrSilent },
		"lacks blocks": func(uint64) (chain.BlockRef, error) { return chain.BlockRef{}, chain.ErrNoBlock },
		"invents blocks": func(height uint64) (chain.BlockRef, error) {
			return chain.BlockRef{Height: height, Hash: chain.Hash{byte(height)}}, nil
		},
	} {
		for _, depth := range []uint64{1, 3, deep} {
			t.Run(fmt.Sprint(name, depth), func(t *testing.T) {
				h := open(t, devnet.Lookup("BTC"), 1)
				behind := h.fork()
				h.mine(h.main, 5)
				h.add(h.main)
				h.clients[2] = &braggart{h.clients[2], ref}
				q := h.network(depth)
				for range 2 {
					h.is(q, true, behind.Head())
				}
			})
		}
	}
}

// TestFork parts the chains of two nodes, and of one of three.
func TestFork(t *testing.T) {
	const depth = 3
	h := open(t, devnet.Lookup("BTC"), 1)
	common := h.mine(h.main, 4)
	fork := h.fork()
	h.mine(h.main, 2)
	h.mine(fork, 2, h.deposit(1e8))
	two := h.network(depth)
	h.is(two, true, common)

	h.add(h.main)
	three := h.network(depth)
	h.is(three, true, h.main.Head())
	h.mine(fork, 2)
	h.is(three, true, h.main.Head()) // longer, and still one node's

	h.mine(h.main, 1)
	h.is(two, false, chain.BlockRef{}, "node 1: ", "node 2: ")
	h.is(three, false, chain.BlockRef{}, "node 2 has another chain")
	if _, err := three.Health(t.Context()); !errors.Is(err, chain.ErrOdd) {
		t.Errorf("got %v", err)
	}
}

// TestOtherChain has a node whose chain begins with another block.
func TestOtherChain(t *testing.T) {
	h := open(t, devnet.Lookup("ETH"), 2)
	other := open(t, devnet.Lookup("ETH"), 0, func(o *devnet.Options) { o.Seed = [32]byte{7} })
	h.add(other.main)
	q := h.network(deep)
	h.is(q, false, chain.BlockRef{}, "node 3", chain.ErrOtherChain.Error())
	if _, err := q.Health(t.Context()); !errors.Is(err, chain.ErrOtherChain) {
		t.Errorf("got %v", err)
	}
}
