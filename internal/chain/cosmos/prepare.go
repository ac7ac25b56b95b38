package cosmos

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var errKind = errors.New("a payment that this network does not have")

// costOf returns the cost of the gas of a payment, at a price for a million units of it below [PriceEnd].
func costOf(price uint64) bourse.Amount {
	const million = 1_000_000
	cost := bourse.Units(gasLimit * price) // 2^58 at most
	return bourse.Units((cost.Lo + million - 1) / million)
}

// Fees returns the current cost of payments of a coin. All coins cost the same.
func (c *Client) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	if _, ok := c.denom(coin); !ok {
		return chain.Fees{}, errUnknown
	}
	price, err := c.minPrice(ctx)
	if err != nil {
		return chain.Fees{}, err
	}
	return chain.Fees{Cost: costOf(min(max(price, c.options.Floor), c.options.Cap))}, nil
}

// Outbid returns the current cost of payments of a coin: nodes take none in the place of a waiting one.
func (c *Client) Outbid(ctx context.Context, coin chain.CoinID, _ [][]byte) (chain.Fees, error) {
	return c.Fees(ctx, coin)
}

// MaxCost returns the highest cost of a payment.
func (c *Client) MaxCost() bourse.Amount { return costOf(c.options.Cap) }

// Prepare makes a payment that lacks only a signature.
func (c *Client) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	t, err := c.assemble(p)
	if err != nil {
		return chain.Unsigned{}, err
	}
	fees, err := c.Fees(ctx, p.Coin)
	if err != nil {
		return chain.Unsigned{}, err
	}
	t.fee = fees.Cost

	height, err := c.height(ctx)
	if err != nil {
		return chain.Unsigned{}, err
	}
	a, err := c.ownAccount(ctx, height)
	if err != nil {
		return chain.Unsigned{}, err
	}
	if a == nil {
		return chain.Unsigned{}, chain.ErrFunds
	}
	t.account = a.number
	if err := c.afford(ctx, t, height); err != nil {
		return chain.Unsigned{}, err
	}
	if p.CostCap.Less(t.fee) {
		return chain.Unsigned{}, chain.ErrCost
	}

	raw := t.seal(c.Codec)
	if _, err := c.Decode(raw); err != nil {
		return chain.Unsigned{}, err
	}
	return chain.Unsigned{Raw: raw, Cost: t.fee}, nil
}

// assemble makes the transaction of a payment, without account and fee.
func (c *Client) assemble(p *chain.Payment) (*payment, error) {
	denom, ok := c.denom(p.Coin)
	if !ok || p.Amount.IsZero() || p.From != chain.IndexHot || p.Kind != bourse.SignedWithdrawal {
		return nil, errKind
	}
	to, err := c.params.parseAddress(p.To.Address)
	if err != nil {
		return nil, err
	}
	memo, err := chain.ParseMemo(p.To.Memo)
	if err != nil {
		return nil, err
	}
	return &payment{sequence: p.Nonce, gas: gasLimit, to: to, memo: memo, denom: denom, amount: p.Amount}, nil
}

// afford checks that the hot wallet has the amount and the fee. A payment that it cannot make would be mined without
// effect.
func (c *Client) afford(ctx context.Context, t *payment, height number) error {
	native := c.params.Denom
	has, err := c.balance(ctx, c.hot, native, height)
	if err != nil {
		return err
	}
	left, ok := has.Sub(t.fee)
	if ok && t.denom != native {
		left, err = c.balance(ctx, c.hot, t.denom, height)
	}
	switch {
	case err != nil:
		return err
	case !ok || left.Less(t.amount):
		return chain.ErrFunds
	}
	return nil
}
