package devnet

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// maxRate bounds the price of a unit, in multiples of the usual one; a higher price is
// taken for a lie.
const maxRate = 1000

// rate queries the price of a unit of size or gas.
func (c *Client) rate(ctx context.Context) (uint64, error) {
	var r rateResult
	if err := c.ask(ctx, MethodRate, none{}, &r); err != nil {
		return 0, err
	}
	if r.Rate > c.params.rate*maxRate || (r.Rate == 0) != (c.params.rate == 0) {
		return 0, odd("a rate of %d", r.Rate)
	}
	return r.Rate, nil
}

// bid is the least offer that nodes take in the place of waiting payments.
type bid struct {
	// rate is the price of a unit of size or gas.
	rate uint64
	// paid is the most that replaced payments cost at one node, on networks of outputs; zero if nothing is replaced.
	paid bourse.Amount
	// relay is the price of a unit beyond paid.
	relay uint64
}

// costOf returns the cost of a payment of a size.
func (b *bid) costOf(size uint64) bourse.Amount {
	cost, least := costOf(size, b.rate), b.paid.Plus(costOf(size, b.relay))
	if cost.Less(least) {
		return least
	}
	return cost
}

// outbid queries the price of a unit, and returns an offer above those of replaced payments. It
// fails with chain.ErrCost above the highest price.
func (c *Client) outbid(ctx context.Context, replaces [][]byte) (b bid, err error) {
	if b.rate, err = c.rate(ctx); err != nil || !c.params.Shape.Replaces {
		return b, err
	}
	var list []chain.Replaced
	for _, raw := range replaces {
		t, err := c.params.parseTx(raw)
		if err != nil {
			return b, err
		}
		if c.params.Shape.Outputs {
			d, err := c.Decode(raw)
			if err != nil {
				return b, err
			}
			list, b.relay = append(list, chain.Replaced{Inputs: d.Inputs, Cost: d.Cost}), c.params.relay()
		}
		least, ok := c.params.higher(t)
		if !ok || least > c.params.highest() {
			return b, chain.ErrCost
		}
		b.rate = max(b.rate, least)
	}
	b.paid = chain.Displaced(list)
	return b, nil
}

// Fees returns the current cost of payments of a coin.
func (c *Client) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	return c.Outbid(ctx, coin, nil)
}

// Outbid returns the cost of payments of a coin that replace signed ones.
func (c *Client) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	if _, ok := c.params.Shape.Coin(coin); !ok {
		return chain.Fees{}, bourse.Errorf(bourse.CodeInvalid, "coin is not known")
	}
	b, err := c.outbid(ctx, replaces)
	if err != nil {
		return chain.Fees{}, err
	}
	if c.params.Shape.Outputs {
		input, change := size(1, 0)-size(0, 0), size(0, 1)-size(0, 0)
		return chain.Fees{
			Cost: costOf(size(1, 2), b.rate), PerInput: costOf(input, b.rate), PerChange: costOf(change, b.rate),
			Least:         b.paid.Plus(costOf(size(1, 2), b.relay)),
			LeastPerInput: costOf(input, b.relay), LeastPerChange: costOf(change, b.relay),
			PerPay: costOf(change, b.rate), LeastPerPay: costOf(change, b.relay),
		}, nil
	}
	return chain.Fees{Cost: costOf(c.mostGas(coin), b.rate), Over: b.rate > c.params.rate*maxRate}, nil
}

// mostGas returns the maximum gas of a payment, with headroom.
func (c *Client) mostGas(coin chain.CoinID) uint64 {
	p := c.params
	if coin == p.Shape.Native {
		return p.gasBase + p.gasCoin
	}
	return headroom(p.gasBase + p.gasToken + p.gasToken/2)
}

// headroom adds a fifth, because a token's gas may change before the payment is mined.
func headroom(gas uint64) uint64 { return gas + gas/5 }

var errKind = errors.New("a payment that this network does not have")

// Prepare makes a payment that lacks only a signature.
func (c *Client) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	coin, ok := c.params.Shape.Coin(p.Coin)
	if !ok || !p.Kind.HasID() && !c.params.Shape.Sweeps {
		return chain.Unsigned{}, errKind
	}
	b, err := c.outbid(ctx, p.Replaces)
	if err != nil {
		return chain.Unsigned{}, err
	}
	t := &transaction{Network: c.params.Symbol, Memo: p.To.Memo}
	t.Outputs = []output{{p.To.Address, coin.ID, units(p.Amount)}}
	for _, pay := range p.With {
		if t.Outputs = append(t.Outputs, output{pay.To.Address, pay.Coin, units(pay.Amount)}); pay.Coin != p.Coin || !c.params.Shape.Outputs {
			return chain.Unsigned{}, errKind
		}
	}
	if c.params.Shape.Outputs {
		err = c.prepareOutputs(t, p, &b)
	} else {
		err = c.prepareAccount(ctx, t, p, b.rate)
	}
	if err != nil {
		return chain.Unsigned{}, err
	}
	return c.finish(t, p.CostCap)
}

// finish encodes a transaction, decodes it as the signer will, and checks its cost.
func (c *Client) finish(t *transaction, most bourse.Amount) (chain.Unsigned, error) {
	raw := t.encode()
	d, err := c.Decode(raw)
	if err != nil {
		return chain.Unsigned{}, err
	}
	if most.Less(d.Cost) {
		return chain.Unsigned{}, chain.ErrCost
	}
	return chain.Unsigned{Raw: raw, Cost: d.Cost}, nil
}

func (c *Client) prepareOutputs(t *transaction, p *chain.Payment, b *bid) error {
	c.params.spend(t, p.Inputs, func(index uint32) string { return c.params.address(c.key, index) })
	in, _, ok := t.sums(p.Coin)
	cost := func(change int) bourse.Amount {
		if p.Coin != c.params.Shape.Native {
			return bourse.Amount{}
		}
		return b.costOf(size(len(p.Inputs), 1+len(p.With)+change))
	}
	total := p.Total()
	need, ok := add(total, cost(1), ok)
	rest, enough := in.Sub(need)
	if !ok || !enough {
		return chain.ErrFunds
	}

	// Change below the cost of spending it goes to the network, if the cost cap allows
	// it.
	worth := costOf(size(1, 0)-size(0, 0), b.rate)
	change := p.SplitChange(in.Minus(total), worth, cost)
	if len(change) == 0 && !rest.IsZero() && p.CostCap.Less(cost(1).PlusOrMax(rest)) {
		change = []bourse.Amount{rest}
	}
	for _, amount := range change {
		t.Outputs = append(t.Outputs, output{c.Destination(chain.IndexChange).Address, p.Coin, units(amount)})
	}
	return nil
}

func add(a, b bourse.Amount, ok bool) (bourse.Amount, bool) {
	sum, fits := a.Add(b)
	return sum, ok && fits
}

func (c *Client) prepareAccount(ctx context.Context, t *transaction, p *chain.Payment, rate uint64) error {
	t.From, t.Nonce, t.Price = c.params.address(c.key, p.From), p.Nonce, rate
	t.Witness = []witness{{Index: p.From}}
	native := c.params.Shape.Native
	if err := c.estimate(ctx, t, p.Coin); err != nil {
		return err
	}

	has, err := c.Balance(ctx, t.From, native)
	if err != nil {
		return err
	}

	left, ok := has.Sub(costOf(t.Gas, t.Price))
	switch {
	case !ok:
		return chain.ErrFunds
	case p.Coin != native:
		if left, err = c.Balance(ctx, t.From, p.Coin); err != nil {
			return err
		}
	}

	if left.Less(p.Amount) {
		return chain.ErrFunds
	}
	return nil
}

// estimate queries the payment's gas, because tokens differ between nodes.
func (c *Client) estimate(ctx context.Context, t *transaction, coin chain.CoinID) error {
	if _, err := c.params.parseTx(t.encode()); err != nil {
		return err
	}
	var r gasResult
	if err := c.ask(ctx, MethodEstimate, rawParams{t.encode()}, &r); err != nil {
		return err
	}
	if r.Gas == 0 || r.Gas > 10*c.mostGas(coin) {
		return odd("an estimate of %d", r.Gas)
	}
	t.Gas = r.Gas
	if coin != c.params.Shape.Native {
		t.Gas = headroom(r.Gas)
	}
	// Gas is a limit and not a price. Too low an estimate would make the payment fail in
	// its block.
	t.Gas = max(t.Gas, c.mostGas(coin))
	return nil
}
