package bitcoin

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// relayRate is the rate by which a payment must outbid what it replaces (BIP 125, rule 4), in units per
// 1,000 virtual bytes: the default of every node of the family.
const relayRate = 1_000

// bid is the least offer that nodes take in the place of waiting payments.
type bid struct {
	// rate is in units per 1,000 virtual bytes.
	rate uint64
	// paid is the most that replaced payments and their descendants pay together at one node; zero if nothing
	// is replaced.
	paid bourse.Amount
}

// least returns the least cost of a replacement of a weight.
func (b *bid) least(weight int) bourse.Amount {
	if b.paid.IsZero() {
		return bourse.Amount{}
	}
	return b.paid.Plus(costOf(weight, relayRate))
}

// costOf returns the cost of a payment of a weight.
func (b *bid) costOf(weight int) bourse.Amount {
	cost, least := costOf(weight, b.rate), b.least(weight)
	if cost.Less(least) {
		return least
	}
	return cost
}

// fees returns the cost of payments. It includes change that is too small to make.
func (b *bid) fees() chain.Fees {
	fees := feesAt(b.rate)
	if !b.paid.IsZero() {
		fees.Least = b.least(weightBase + weightInput + 2*weightOutput).Plus(leastChange(b.rate))
		fees.LeastPerInput, fees.LeastPerChange = costOf(weightInput, relayRate), costOf(weightChange, relayRate)
		fees.LeastPerPay = costOf(weightOutput, relayRate)
	}
	return fees
}

// weight returns the most that the payment weighs once it is signed.
func (t *payment) weight() int {
	if t.cold { // signed by people already
		return (perVirtual-1)*t.tx.SerializeSizeStripped() + t.tx.SerializeSize()
	}
	weight := weightBase + len(t.inputs)*weightInput
	for _, out := range t.tx.TxOut {
		weight += 4 * (8 + 1 + len(out.PkScript))
	}
	return weight
}

// rateFor returns the rate at which a weight costs at least cost.
func rateFor(weight int, cost bourse.Amount) uint64 {
	virtual := uint64(weight / perVirtual)
	return (cost.Lo*1000 + virtual - 1) / virtual
}

// bid returns the current offer of payments, above the payments that they replace. It fails with chain.ErrCost above
// the cap.
func (c *Client) bid(ctx context.Context, replaces [][]byte) (bid, error) {
	rate, err := c.rate(ctx)
	if err != nil {
		return bid{}, err
	}
	b := bid{rate: rate}
	var list []chain.Replaced
	for _, raw := range replaces {
		t, err := c.params.open(raw)
		if err != nil {
			return bid{}, err
		}
		paid, err := c.paid(ctx, t)
		if err != nil {
			return bid{}, err
		}
		if bourse.Units(most).Less(paid) {
			return bid{}, chain.ErrCost
		}
		list = append(list, chain.Replaced{Inputs: t.inputs, Cost: paid})
		b.rate = max(b.rate, rateFor(t.weight(), paid)+relayRate)
	}
	b.paid = chain.Displaced(list)
	if b.rate > c.options.Cap || bourse.Units(most).Less(b.paid) {
		return bid{}, chain.ErrCost
	}
	return b, nil
}

// entry is a node's answer about a waiting transaction.
type entry struct {
	Fees struct {
		Descendant rpc.Number `json:"descendant"`
	} `json:"fees"`
}

// paid returns the fee of a payment of ours, and of those that spend its outputs while it waits: a
// replacement throws them out, and has to pay for all of them (BIP 125, rule 3).
func (c *Client) paid(ctx context.Context, t *payment) (bourse.Amount, error) {
	cost, err := t.cost()
	if err != nil {
		return bourse.Amount{}, err
	}

	var e entry
	err = c.ask(ctx, &e, "getmempoolentry", formatHash(t.hash()))
	if _, none := refused(err, codeMissing, codeMethod, codeMisc); none {
		return cost, nil // it does not wait, or the node tells nothing
	}
	if err != nil {
		return bourse.Amount{}, sure(err)
	}
	all, ok := e.Fees.Descendant.Units(decimals)
	if !ok || all.Less(cost) || all.Hi > 0 || all.Lo > most {
		return bourse.Amount{}, odd("a waiting payment whose fees are %q", e.Fees.Descendant)
	}
	return all, nil
}

// Outbid returns the cost of payments that replace signed ones and spend their inputs.
func (c *Client) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	if coin != c.params.Coin {
		return chain.Fees{}, bourse.Errorf(bourse.CodeInvalid, "coin is not known")
	}
	b, err := c.bid(ctx, replaces)
	if err != nil {
		return chain.Fees{}, err
	}
	return b.fees(), nil
}
