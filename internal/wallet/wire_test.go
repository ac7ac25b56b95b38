package wallet_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// wire lies between a worker and its node.
type wire struct {
	w *world
	n *network
}

// Call passes a request on.
func (c wire) Call(ctx context.Context, text []byte) ([]byte, error) {
	leaves := bytes.Contains(text, []byte(`"method":"`+devnet.MethodBroadcast+`"`))
	if leaves {
		c.checkJournaled(text)
		c.w.point("before a broadcast")
	}
	reply, err := c.n.faults.Call(ctx, text)
	if leaves {
		c.w.point("after a broadcast")
	}
	return reply, err
}

// checkJournaled wants the journal to have a transaction that leaves.
func (c wire) checkJournaled(request []byte) {
	for _, s := range append(c.w.board.Signed(c.n.id), c.w.board.GivenUpMoves(c.n.id)...) {
		if bytes.Contains(request, []byte(base64.StdEncoding.EncodeToString(s.Raw))) {
			return
		}
	}
	c.w.tb.Fatalf("%s leaves, and the journal does not have it", request)
}

// pen lies between a worker and the signer.
type pen struct{ w *world }

// errOlder is what becomes of a request that a signer of an older build cannot read.
var errOlder = errors.New("the signer does not answer")

// Sign passes a request on.
func (p pen) Sign(ctx context.Context, u chain.Unsigned, e signer.Expect) (signer.Signed, error) {
	p.w.asked++
	if p.w.older && len(e.With) > 0 {
		return signer.Signed{}, errOlder
	}
	p.w.point("before a signature")
	signed, err := p.w.keeper.Sign(ctx, u, e)
	p.w.point("after a signature")
	if p.w.spoil != nil {
		p.w.spoil(&signed)
	}
	return signed, err
}

// After passes a question on.
func (p pen) After(ctx context.Context, n bourse.NetworkID, record uint64) (chain.Hash, []signer.Recorded, error) {
	if p.w.apart != nil {
		return chain.Hash{}, nil, p.w.apart
	}
	chained, list, err := p.w.keeper.After(ctx, n, record)
	for i := range list {
		if p.w.spoil != nil {
			p.w.spoil(&list[i].Signed)
		}
	}
	return chained, list, err
}

// Void passes a request on.
func (p pen) Void(ctx context.Context, n bourse.NetworkID, id bourse.WalletID) error {
	p.w.point("before the signer ends a withdrawal")
	err := p.w.keeper.Void(ctx, n, id)
	p.w.point("after the signer ended a withdrawal")
	return err
}

// eye lies between a worker and its network.
type eye struct {
	chain.Network
	w *world
}

// Prepare passes a request on.
func (e eye) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	if e.w.unmade != nil {
		if err := e.w.unmade(p); err != nil {
			return chain.Unsigned{}, err
		}
	}
	return e.Network.Prepare(ctx, p)
}

// Block passes a request on. As networks of real nodes do, it leaves out what touches no address that
// is watched.
func (e eye) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	b, err := e.Network.Block(ctx, height)
	if err != nil {
		return nil, err
	}
	for i := range b.Txs {
		tx := &b.Txs[i]
		tx.Debits = slices.DeleteFunc(tx.Debits, func(d chain.Debit) bool { return !e.owns(d.Address, "") })
		tx.Credits = slices.DeleteFunc(tx.Credits, func(c chain.Credit) bool { return !e.owns(c.Address, c.Memo) })
	}
	if e.w.logs != nil {
		e.w.logs(b)
	}
	return b, nil
}

// Health passes a question on.
func (e eye) Health(ctx context.Context) (chain.Health, error) {
	if e.w.healths != nil {
		if err := e.w.healths(); err != nil {
			return chain.Health{}, err
		}
	}
	return e.Network.Health(ctx)
}

// Nonce passes a question on.
func (e eye) Nonce(ctx context.Context, index uint32) (uint64, error) {
	if e.w.nonces != nil {
		e.w.nonces()
	}
	return e.Network.Nonce(ctx, index)
}

func (e eye) owns(address, memo string) bool {
	_, ours := e.Owner(address, memo)
	return ours
}
