package quorum

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// reading is a question to which enough nodes must give the same answer.
type reading[T any] struct {
	what  string
	ask   question[T]
	equal func(a, b T) bool
	show  func(T) string
	// within, if not nil, reports whether an answer says what another one says and no more.
	within func(less, more T) bool
}

// read asks all nodes, and returns the answer of those that agree. If too few answers are equal, one that enough others
// include counts.
func read[T any](ctx context.Context, q *Network, r *reading[T]) (value T, err error) {
	list := race(ctx, q.nodes, r.ask, func(list []answer[T]) bool { return agreed(q, list, r.equal) != nil })
	if group := agreed(q, list, r.equal); group != nil {
		return group[0].value, group[0].err
	}
	for i := range list {
		if less := &list[i]; r.within != nil && less.err == nil && including(list, less.value, r.within) >= q.agree {
			return less.value, nil
		}
	}
	return value, disagree(q, r.what, list, r.show)
}

// including counts the answers that include one.
func including[T any](list []answer[T], less T, within func(less, more T) bool) (count int) {
	for i := range list {
		if list[i].err == nil && within(less, list[i].value) {
			count++
		}
	}
	return count
}

// Block returns the block at a height of the chain that the nodes share: the same name, and the same transfers
// according to each client.
// A node that could not trace the block agrees with one that found no calls in it. If nodes do not agree otherwise, it
// also agrees with those that found some, and the calls are left out: a stranger chooses how long a trace takes.
func (q *Network) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	return read(ctx, q, &reading[*chain.Block]{
		what: fmt.Sprintf("block %d", height),
		ask:  func(ctx context.Context, n *node) (*chain.Block, error) { return n.Block(ctx, height) },
		equal: func(a, b *chain.Block) bool {
			traced := *b
			traced.Uncalled = a.Uncalled
			return a.BlockRef == b.BlockRef && reflect.DeepEqual(a, &traced)
		},
		show:   func(b *chain.Block) string { return q.FormatHash(b.Hash) },
		within: withoutCalls,
	})
}

// withoutCalls reports whether a block that could not be traced is another one but for what calls paid, which are the
// last credits of a transaction.
func withoutCalls(untraced, other *chain.Block) bool {
	if !untraced.Uncalled || len(untraced.Txs) != len(other.Txs) {
		return false
	}
	b := *other
	b.Uncalled, b.Txs = true, slices.Clone(other.Txs)
	for i := range b.Txs {
		credits := untraced.Txs[i].Credits
		if n := len(credits); n <= len(b.Txs[i].Credits) && slices.Equal(credits, b.Txs[i].Credits[:n]) {
			b.Txs[i].Credits = credits
		}
	}
	return reflect.DeepEqual(untraced, &b)
}

// Balance returns an address's balance.
func (q *Network) Balance(ctx context.Context, address string, coin chain.CoinID) (bourse.Amount, error) {
	return read(ctx, q, &reading[bourse.Amount]{
		what: "balance",
		ask: func(ctx context.Context, n *node) (bourse.Amount, error) {
			return n.Balance(ctx, address, coin)
		},
		equal: func(a, b bourse.Amount) bool { return a == b },
		show:  func(a bourse.Amount) string { return a.Format(0) + " units" },
	})
}

// State returns the state of a signed transaction. That it is mined, that another one was, and that no node has it
// takes enough nodes that say so. Otherwise it waits, if one of enough nodes has it.
func (q *Network) State(ctx context.Context, raw []byte) (chain.TxState, error) {
	equal := func(a, b chain.TxState) bool {
		return a.Status == b.Status && a.Block == b.Block && a.Failed == b.Failed
	}
	ask := func(ctx context.Context, n *node) (chain.TxState, error) { return n.State(ctx, raw) }
	list := race(ctx, q.nodes, ask, func(list []answer[chain.TxState]) bool { return agreed(q, list, equal) != nil })

	group := agreed(q, list, equal)
	usable := counting(list)
	has := func(a answer[chain.TxState]) bool {
		return a.value.Status == chain.TxWaiting || a.value.Status == chain.TxMined
	}
	switch {
	case group != nil:
		state := group[0].value
		state.Confirms = atLeast(group, q.agree, func(s chain.TxState) uint64 { return s.Confirms })
		return state, group[0].err
	case len(usable) >= q.agree && slices.ContainsFunc(usable, has):
		return chain.TxState{Status: chain.TxWaiting}, nil
	}
	return chain.TxState{}, disagree(q, "transaction", list, func(s chain.TxState) string {
		return [...]string{"?", "absent", "waits", "mined", "replaced"}[s.Status]
	})
}

// atLeast returns the highest number that so many answers reach.
func atLeast[T any](list []answer[T], agree int, number func(T) uint64) uint64 {
	var numbers []uint64
	for i := range list {
		numbers = append(numbers, number(list[i].value))
	}
	slices.Sort(numbers)
	return numbers[len(numbers)-agree]
}

// Nonce returns the highest next nonce that enough nodes reach: a node that is behind has a lower one.
func (q *Network) Nonce(ctx context.Context, index uint32) (uint64, error) {
	ask := func(ctx context.Context, n *node) (uint64, error) { return n.Nonce(ctx, index) }
	list := everyone(ctx, q.nodes, ask, enough[uint64](q))
	good := succeeded(list)
	if len(good) < q.agree {
		return 0, disagree(q, "nonce", list, func(n uint64) string { return fmt.Sprint(n) })
	}
	return atLeast(good, q.agree, func(n uint64) uint64 { return n }), nil
}

// Fees returns the median of the nodes' costs, each within floor and cap; of an even number the higher one. A node
// that refuses its cost as too high stands above the others.
func (q *Network) Fees(ctx context.Context, coin chain.CoinID) (chain.Fees, error) {
	return q.fees(ctx, func(ctx context.Context, n *node) (chain.Fees, error) { return n.Fees(ctx, coin) })
}

// Outbid returns the median of the nodes' costs of a replacement, as Fees does.
func (q *Network) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	return q.fees(ctx, func(ctx context.Context, n *node) (chain.Fees, error) { return n.Outbid(ctx, coin, replaces) })
}

func (q *Network) fees(ctx context.Context, ask question[chain.Fees]) (chain.Fees, error) {
	list := everyone(ctx, q.nodes, ask, enough[chain.Fees](q))
	show := func(f chain.Fees) string { return f.Cost.Format(0) + " units" }
	cost, err := median(q, "fees", list, func(f chain.Fees) bourse.Amount { return f.Cost }, show)
	if err != nil {
		return chain.Fees{}, err
	}
	input, err := median(q, "fees", list, func(f chain.Fees) bourse.Amount { return f.PerInput }, show)
	if err != nil {
		return chain.Fees{}, err
	}
	least, err := median(q, "fees", list, func(f chain.Fees) bourse.Amount { return f.Least }, show)
	return chain.Fees{
		Cost: cost.Cost, PerInput: input.PerInput, PerChange: input.PerChange, PerPay: input.PerPay, Over: cost.Over,
		Least: least.Least, LeastPerInput: least.LeastPerInput, LeastPerChange: least.LeastPerChange,
		LeastPerPay: least.LeastPerPay,
	}, err
}

// enough returns the rule that q.agree nodes gave a value or refused their cost, or refused.
func enough[T any](q *Network) func([]answer[T]) bool {
	return func(list []answer[T]) bool {
		return len(succeeded(list))+len(dear(list)) >= q.agree || len(refused(list)) >= q.agree
	}
}

// succeeded returns the answers with a value.
func succeeded[T any](list []answer[T]) []answer[T] {
	return slices.DeleteFunc(slices.Clone(list), func(a answer[T]) bool { return a.err != nil })
}

// refused returns the answers of nodes that refuse.
func refused[T any](list []answer[T]) []answer[T] {
	return slices.DeleteFunc(counting(list), func(a answer[T]) bool { return a.err == nil })
}

// dear returns the answers of nodes that refuse because the cost is too high.
func dear[T any](list []answer[T]) []answer[T] {
	return slices.DeleteFunc(counting(list), func(a answer[T]) bool { return !errors.Is(a.err, chain.ErrCost) })
}

// median returns the value in the middle by cost; of an even number the higher one. Nodes' estimates differ, so one
// that refuses its cost as too high stands above the others, and its refusal alone stops nothing.
func median[T any](
	q *Network, what string, list []answer[T], cost func(T) bourse.Amount, show func(T) string,
) (value T, err error) {
	good, high := succeeded(list), dear(list)
	if len(good)+len(high) < q.agree {
		return value, refusal(q, what, list, show)
	}
	slices.SortStableFunc(good, func(a, b answer[T]) int { return cost(a.value).Cmp(cost(b.value)) })
	middle := slices.Concat(good, high)[(len(good)+len(high))/2]
	return middle.value, middle.err
}
