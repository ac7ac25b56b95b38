package bitcoin

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Weights of a transaction's parts: a byte outside of the witnesses weighs 4, one in them 1.
const (
	// weightBase has version, counts and lock time, and the witness's marker and flag.
	weightBase = 4*(4+1+1+4) + 2
	// weightInput has a signature of 72 bytes, the longest.
	weightInput = 4*(36+1+4) + 1 + 1 + 72 + 1 + keySize
	// weightOutput has the longest script of an address, that of P2TR and P2WSH.
	weightOutput = 4 * (8 + 1 + 34)
	// weightChange has the script of P2WPKH.
	weightChange = 4 * (8 + 1 + 22)
	// perVirtual is the weight of a virtual byte, the unit of fee rates.
	perVirtual = 4
)

// dust is the least amount of a P2WPKH output that nodes relay, and of any other destination
// here the most that they ask for (P2PKH).
const (
	dust            = 294
	dustDestination = 546
)

// costOf returns the cost of a weight at a rate, in units per 1,000 virtual bytes.
func costOf(weight int, rate uint64) bourse.Amount {
	virtual := uint64(weight+perVirtual-1) / perVirtual
	return bourse.Units((virtual*rate + 999) / 1000)
}

// estimate is a node's answer about fee rates; without a rate it has too little data.
type estimate struct {
	Rate rpc.Number `json:"feerate"`
}

// pool is a node's answer about its waiting transactions; btcd's has no least rate.
type pool struct {
	Least rpc.Number `json:"mempoolminfee"`
}

// rate returns the fee rate for a payment, in units per 1,000 virtual bytes: the node's estimate, or the least rate
// that its pool of waiting transactions takes if that is more, within floor and cap. A full pool refuses payments below
// its least rate, and an estimate does not cover that: litecoind leaves it out, and a node that has just started has
// none.
func (c *Client) rate(ctx context.Context) (uint64, error) {
	var e estimate
	if err := c.askIfKnown(ctx, &e, "estimatesmartfee", c.options.Target); err != nil {
		return 0, err
	}
	var p pool
	if err := c.askIfKnown(ctx, &p, "getmempoolinfo"); err != nil {
		return 0, err
	}
	return min(max(units(e.Rate), units(p.Least), c.options.Floor), c.options.Cap), nil
}

// askIfKnown calls a method; a node without it leaves the result empty.
func (c *Client) askIfKnown(ctx context.Context, result any, method string, params ...any) error {
	err := c.ask(ctx, result, method, params...)
	if _, unknown := refused(err, codeMethod); unknown {
		return nil
	}
	return sure(err)
}

// units returns a rate in units; zero if it is absent, or -1 of older nodes.
func units(rate rpc.Number) uint64 {
	a, ok := rate.Units(decimals)
	if !ok || a.Hi > 0 {
		return 0
	}
	return a.Lo
}

// MaxCost returns the cost of the largest payment at the highest rate.
func (c *Client) MaxCost() bourse.Amount {
	outputs := bourse.MaxJoined*weightOutput + chain.MaxChange*weightChange
	cost := costOf(weightBase+chain.MaxInputs*weightInput+outputs, c.options.Cap)
	return cost.Plus(leastChange(c.options.Cap))
}

// Fees returns the current cost of payments. It includes change that is too small to make.
func (c *Client) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	if coin != c.params.Coin {
		return chain.Fees{}, bourse.Errorf(bourse.CodeInvalid, "coin is not known")
	}
	rate, err := c.rate(ctx)
	if err != nil {
		return chain.Fees{}, err
	}
	return feesAt(rate), nil
}

func feesAt(rate uint64) chain.Fees {
	cost := costOf(weightBase+weightInput+2*weightOutput, rate)
	return chain.Fees{
		Cost: cost.Plus(leastChange(rate)), PerInput: costOf(weightInput, rate), PerChange: costOf(weightChange, rate),
		PerPay: costOf(weightOutput, rate),
	}
}

// leastChange is the amount from which on change is worth an output: it can be relayed, and is
// worth more than spending it costs.
func leastChange(rate uint64) bourse.Amount {
	least := costOf(weightInput, rate)
	if least.Less(bourse.Units(dust)) {
		return bourse.Units(dust)
	}
	return least
}

var (
	errKind  = errors.New("a payment that this network does not have")
	errInput = errors.New("a payment with more inputs than a transaction takes")
)

// Prepare makes a payment that lacks only signatures.
func (c *Client) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	if p.Coin != c.params.Coin || !p.Kind.HasID() {
		return chain.Unsigned{}, errKind
	}
	if len(p.Inputs) > chain.MaxInputs {
		return chain.Unsigned{}, errInput
	}
	pays, err := c.paysOf(p)
	if err != nil {
		return chain.Unsigned{}, err
	}
	b, err := c.bid(ctx, p.Replaces)
	if err != nil {
		return chain.Unsigned{}, err
	}

	t, err := c.assemble(p, pays, &b)
	if err != nil {
		return chain.Unsigned{}, err
	}
	raw := c.params.seal(t)
	d, err := c.Decode(raw)
	if err != nil {
		return chain.Unsigned{}, err
	}
	if p.CostCap.Less(d.Cost) {
		return chain.Unsigned{}, chain.ErrCost
	}
	return chain.Unsigned{Raw: raw, Cost: d.Cost}, nil
}

// paysOf returns the outputs of a payment but for change.
func (c *Client) paysOf(p *chain.Payment) (list []*wire.TxOut, err error) {
	if len(p.With) >= bourse.MaxJoined {
		return nil, errKind
	}
	for _, pay := range append([]chain.Pay{{To: p.To, Coin: p.Coin, Amount: p.Amount}}, p.With...) {
		script, _, err := c.params.scriptOf(pay.To.Address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pay.To.Address, err)
		}
		if pay.Coin != p.Coin {
			return nil, errKind
		}
		if pay.Amount.Hi > 0 || pay.Amount.Lo > most {
			return nil, chain.ErrFunds
		}
		if pay.Amount.Less(bourse.Units(dustDestination)) {
			return nil, bourse.Errorf(bourse.CodeInvalid, "%s: the network does not carry less than %d units",
				pay.To.Address, dustDestination)
		}
		list = append(list, &wire.TxOut{Value: int64(pay.Amount.Lo), PkScript: script})
	}
	return list, nil
}

// assemble makes the transaction of a payment: its inputs in their order, the destinations, and
// change where it is worth an output. It fails with chain.ErrCost where a replacement is so small that it would have to
// pay a rate above the cap.
func (c *Client) assemble(p *chain.Payment, pays []*wire.TxOut, b *bid) (*payment, error) {
	t := &payment{tx: wire.NewMsgTx(txVersion), inputs: p.Inputs}
	var sum bourse.Amount
	for i := range p.Inputs {
		in := &p.Inputs[i]
		at := wire.OutPoint{Hash: chainhash.Hash(in.Tx), Index: in.Index}
		t.tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: txSequence})
		var fits bool
		if sum, fits = sum.Add(in.Amount); !fits || in.Amount.Hi > 0 || in.Amount.Lo > most {
			return nil, chain.ErrFunds
		}
	}

	weight := weightBase + len(p.Inputs)*weightInput
	for _, out := range pays {
		weight += 4 * (8 + 1 + len(out.PkScript))
	}
	rest, enough := sum.Sub(p.Total())
	if !enough || rest.Less(b.costOf(weight)) {
		return nil, chain.ErrFunds
	}

	t.tx.TxOut = pays
	cost := func(change int) bourse.Amount { return b.costOf(weight + change*weightChange) }
	for _, change := range p.SplitChange(rest, leastChange(b.rate), cost) {
		t.tx.AddTxOut(&wire.TxOut{Value: int64(change.Lo), PkScript: keyHashScript(c.keys.program(chain.IndexChange))})
	}
	if weight := t.weight(); costOf(weight, c.options.Cap).Less(b.least(weight)) {
		return nil, chain.ErrCost
	}
	return t, nil
}
