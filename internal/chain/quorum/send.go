package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// errDivided says that too few nodes make a payment, and too few refuse it for the same reason. It is no trouble of the
// network, and the payment alone waits: a contract can answer each node in another way, and what a replacement throws
// out differs from node to node.
var errDivided = errors.New("the nodes do not agree on whether the payment can be made")

// Prepare makes a payment that lacks only a signature. Enough nodes must be able to make it, or refuse its cost alone;
// it takes the one with the median cost. The signer compares it with the journal.
func (q *Network) Prepare(ctx context.Context, p *chain.Payment) (chain.Unsigned, error) {
	kept := *p // a node that is late still reads it when the caller has p back
	kept.Inputs, kept.With, kept.Replaces = slices.Clone(p.Inputs), slices.Clone(p.With), slices.Clone(p.Replaces)
	ask := func(ctx context.Context, n *node) (chain.Unsigned, error) { return n.Prepare(ctx, &kept) }
	list := everyone(ctx, q.nodes, ask, enough[chain.Unsigned](q))
	return median(q, "payment", list, func(u chain.Unsigned) bourse.Amount { return u.Cost },
		func(chain.Unsigned) string { return "can be made" })
}

// Draft returns a transaction for people to sign, with the median cost of those that enough nodes make.
func (q *Network) Draft(ctx context.Context, p *chain.Payment) (chain.Draft, error) {
	if _, has := q.Codec.(chain.ColdStorage); !has {
		return chain.Draft{}, errNoCold
	}
	kept := *p
	kept.Inputs, kept.Replaces = slices.Clone(p.Inputs), slices.Clone(p.Replaces)
	ask := func(ctx context.Context, n *node) (chain.Draft, error) {
		return n.Client.(chain.ColdStorage).Draft(ctx, &kept)
	}
	list := everyone(ctx, q.nodes, ask, enough[chain.Draft](q))
	return median(q, "draft", list, func(d chain.Draft) bourse.Amount { return d.Cost },
		func(chain.Draft) string { return "can be made" })
}

// FromCold reads what people signed.
func (q *Network) FromCold(signed []byte, spends func(chain.Outpoint) (chain.Input, bool)) ([]byte, error) {
	c, has := q.Codec.(chain.ColdStorage)
	if !has {
		return nil, errNoCold
	}
	return c.FromCold(signed, spends)
}

var errNoCold = errors.New("the network has no cold storage")

// refusal returns the error of a question that too few nodes answered with a value: what enough of them refuse it for,
// errDivided if enough of them answered, or an [Error].
func refusal[T any](q *Network, what string, list []answer[T], show func(T) string) error {
	if group := agreed(q, list, func(T, T) bool { return true }); group != nil {
		return group[0].err
	}
	err := disagree(q, what, list, show)
	if len(counting(list)) >= q.agree {
		return fmt.Errorf("%w: %s", errDivided, err.Error()) // without its kinds, which are trouble of the network
	}
	return err
}

// Broadcast offers a signed transaction to every node. It is accepted if one accepts or knows it, and rejected if
// enough nodes reject it.
func (q *Network) Broadcast(ctx context.Context, raw []byte) (chain.Verdict, error) {
	ask := func(ctx context.Context, n *node) (chain.Verdict, error) { return n.Broadcast(ctx, raw) }
	list := everyone(ctx, q.nodes, ask, func(list []answer[chain.Verdict]) bool {
		return len(withVerdict(list, chain.Accepted)) > 0 || len(withVerdict(list, chain.Known)) > 0 ||
			len(withVerdict(list, chain.Rejected)) >= q.agree
	})

	for _, kind := range []chain.VerdictKind{chain.Accepted, chain.Known} {
		if len(withVerdict(list, kind)) > 0 {
			return chain.Verdict{Kind: kind}, nil
		}
	}
	if rejected := withVerdict(list, chain.Rejected); len(rejected) >= q.agree {
		return chain.Verdict{Kind: chain.Rejected, Reason: reasons(rejected)}, nil
	}
	unknown := chain.Verdict{Kind: chain.Unknown}
	if good := succeeded(list); len(good) >= q.agree {
		unknown.Reason = reasons(good)
		return unknown, nil
	}
	return unknown, refusal(q, "broadcast", list, func(v chain.Verdict) string { return v.Reason })
}

// withVerdict returns the answers with a verdict of a kind.
func withVerdict(list []answer[chain.Verdict], kind chain.VerdictKind) (some []answer[chain.Verdict]) {
	for _, a := range succeeded(list) {
		if a.value.Kind == kind {
			some = append(some, a)
		}
	}
	return some
}

// reasons joins the reasons of verdicts.
func reasons(list []answer[chain.Verdict]) string {
	var said []string
	for i := range list {
		if list[i].value.Reason != "" {
			said = append(said, fmt.Sprintf("%s: %s", list[i].node, list[i].value.Reason))
		}
	}
	return strings.Join(said, "; ")
}
