package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

const (
	// gasNative is above the gas of a payment of the native coin to most wallets that are contracts.
	gasNative = 60_000
	// gasToken is above the gas of most tokens' transfers.
	gasToken = 100_000
)

var (
	errKind    = errors.New("a payment that this network does not have")
	errRefused = errors.New("the receiver's contract refuses the payment")
	errUnknown = bourse.Errorf(bourse.CodeInvalid, "coin is not known")
)

// prices are the highest prices of a unit of gas: in all, and above what the network burns.
type prices struct {
	most, tip uint64
	// gas is the most of payments that are replaced. Nodes estimate on a state in which those are done, and
	// another payment to the same receiver takes less.
	gas uint64
}

// highest returns the highest price of gas of a payment that replaces others. First payments keep to the cap.
func (o *Options) highest() uint64 { return o.Cap + min((chain.OverCap-1)*o.Cap, priceEnd-o.Cap) }

// prices asks for the current prices, within floor and cap. The network may burn twice as much as now
// before a payment of these prices waits.
func (c *Client) prices(ctx context.Context) (p prices, err error) {
	h, err := c.head(ctx, Latest)
	if err != nil {
		return p, err
	}
	if p.tip, err = c.askUint(ctx, "eth_maxPriorityFeePerGas"); err != nil {
		return p, err
	}
	o := &c.options
	p.tip = min(max(p.tip, o.Floor), o.Cap)
	base := min(h.baseFee(), o.Cap)
	p.most = min(2*min(base, o.Cap/2)+p.tip, o.Cap)
	return p, nil
}

// Fees returns the current cost of payments of a coin.
func (c *Client) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	return c.Outbid(ctx, coin, nil)
}

// higher returns the least price that nodes take in the place of a waiting payment's. They want a tenth more of
// both prices; geth, and some gateways, want an eighth of the lesser one.
func higher(price uint64) uint64 { return price + price/8 + 1 }

// outbid asks for the current prices, above those of payments with the same nonce. It fails with
// chain.ErrCost above the highest price.
func (c *Client) outbid(ctx context.Context, replaces [][]byte) (prices, error) {
	p, err := c.prices(ctx)
	if err != nil {
		return p, err
	}
	for _, raw := range replaces {
		old, err := c.open(raw)
		if err != nil {
			return p, err
		}
		if old.price > c.options.highest() {
			return p, chain.ErrCost
		}
		p.tip, p.most = max(p.tip, higher(old.tip)), max(p.most, higher(old.price))
		p.gas = max(p.gas, old.gas)
	}
	if p.most > c.options.highest() {
		return p, chain.ErrCost
	}
	return p, nil
}

// Outbid returns the cost of payments of a coin that replace signed ones with the same nonce.
func (c *Client) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	if _, ok := c.shape.Coin(coin); !ok {
		return chain.Fees{}, errUnknown
	}
	p, err := c.outbid(ctx, replaces)
	if err != nil {
		return chain.Fees{}, err
	}
	return chain.Fees{Cost: costMost(max(c.usual(coin), p.gas), p.most), Over: p.most > c.options.Cap}, nil
}

// MaxCost returns the highest cost of a payment.
func (c *Client) MaxCost() bourse.Amount { return costMost(maxGas, c.options.highest()) }

// usual returns the gas that a payment of a coin usually has at most.
func (c *Client) usual(coin chain.CoinID) uint64 {
	if coin == c.params.Coin {
		return gasNative
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(gasToken, c.gas[coin])
}

// learn remembers the gas of a token whose transfers are dear.
func (c *Client) learn(coin chain.CoinID, gas uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gas[coin] = max(c.gas[coin], gas)
}

// Prepare makes a payment that lacks only a signature.
func (c *Client) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	t, err := c.assemble(p)
	if err != nil {
		return chain.Unsigned{}, err
	}
	prices, err := c.outbid(ctx, p.Replaces)
	if err != nil {
		return chain.Unsigned{}, err
	}
	t.price, t.tip = prices.most, prices.tip

	has, err := c.Balance(ctx, c.address(p.From).String(), p.Coin)
	if err != nil {
		return chain.Unsigned{}, err
	}
	if has.Less(p.Amount) {
		return chain.Unsigned{}, chain.ErrFunds
	}
	if t.gas, err = c.estimate(ctx, t, p); err != nil {
		return chain.Unsigned{}, err
	}
	t.gas = max(t.gas, prices.gas)
	return c.finish(ctx, t, p, has)
}

// assemble makes the transaction of a payment, without gas and prices.
func (c *Client) assemble(p *chain.Payment) (*payment, error) {
	coin, ok := c.shape.Coin(p.Coin)
	if !ok || p.Amount.IsZero() {
		return nil, errKind
	}
	to, err := c.destination(p.To.Address)
	if err != nil {
		return nil, err
	}
	t := &payment{chain: c.params.Chain, owner: p.From, nonce: p.Nonce, to: to, value: ofAmount(p.Amount)}
	if coin.ID == c.params.Coin {
		return t, nil
	}

	if t.to, err = parseAddress(string(coin.ID)); err != nil {
		return nil, err
	}
	t.input = appendWord(appendWord(append([]byte(nil), selectTransfer...), to[:]), t.value)
	t.value = nil
	return t, nil
}

// Codes and words of nodes about a call that its contract reverted.
const (
	codeReverted = 3
	codeServer   = -32000
)

// estimate asks for a payment's gas, because contracts differ. All but the plain payment get a third
// more: a contract's gas may change before the payment is mined, and too little makes it fail there.
func (c *Client) estimate(ctx context.Context, t *payment, p *chain.Payment) (uint64, error) {
	from := c.address(p.From)
	params := callParams{From: from[:], To: t.to[:], Input: t.input}
	if len(t.value) > 0 {
		params.Value = t.value.String()
	}
	var q quantity
	err := c.options.Node.Call(ctx, &q, "eth_estimateGas", params)
	if node := new(rpc.Error); errors.As(err, &node) {
		if node.Code == codeReverted || node.Code == codeServer {
			return 0, fmt.Errorf("%w: %w", errRefused, err)
		}
		return 0, fmt.Errorf("%w: %w", chain.ErrOdd, err)
	}
	if err != nil {
		return 0, err
	}

	gas, fits := q.uint64()
	if fits && gas != gasPlain {
		gas += gas / 3
	}
	switch {
	case !fits || gas < gasPlain:
		return 0, odd("an estimate of %d", gas)
	case gas > maxGas:
		return 0, fmt.Errorf("%w: it takes %d gas", errRefused, gas)
	}
	if p.Coin != c.params.Coin {
		c.learn(p.Coin, gas)
	}
	return gas, nil
}

// finish checks a payment's cost against its cap and the sender's balance. has is the sender's balance
// of the payment's coin.
func (c *Client) finish(
	ctx context.Context, t *payment, p *chain.Payment, has bourse.Amount,
) (chain.Unsigned, error) {
	cost, need := t.cost(), t.cost()
	if p.Coin == c.params.Coin {
		var fits bool
		if need, fits = p.Amount.Add(cost); !fits {
			return chain.Unsigned{}, chain.ErrFunds
		}
	} else {
		var err error
		if has, err = c.Balance(ctx, c.address(p.From).String(), c.params.Coin); err != nil {
			return chain.Unsigned{}, err
		}
	}
	switch {
	case has.Less(need):
		return chain.Unsigned{}, chain.ErrFunds
	case p.CostCap.Less(cost):
		return chain.Unsigned{}, chain.ErrCost
	}

	raw := t.seal()
	if _, err := c.Decode(raw); err != nil {
		return chain.Unsigned{}, err
	}
	return chain.Unsigned{Raw: raw, Cost: cost}, nil
}
