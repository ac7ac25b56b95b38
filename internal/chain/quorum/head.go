package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// view is a node's view of its chain.
type view struct {
	chain.Health
	genesis chain.Hash
}

// point is a block of a node's chain.
type point struct {
	chain.BlockRef
	when bourse.Time
}

func (p point) equal(other point) bool { return p.BlockRef == other.BlockRef }

// Health reports whether enough nodes operate on the same chain. The head is the highest block that they share.
func (q *Network) Health(ctx context.Context) (chain.Health, error) {
	h, err := q.health(ctx)
	if err != nil {
		h = chain.Health{Reason: err.Error()}
	}
	return h, err
}

func (q *Network) health(ctx context.Context) (chain.Health, error) {
	p := pose(ctx, q.nodes, look, away)
	h, one, err := q.judge(ctx, p.wait(func(list []answer[view]) bool { return len(operating(list)) >= q.agree }))
	if !one && p.open > 0 {
		// The nodes that answered are not on one chain, so the silent ones are waited for.
		h, _, err = q.judge(ctx, p.wait(func([]answer[view]) bool { return false }))
	}
	return h, err
}

// judge returns the health that nodes' views make. one is true if enough of them are on one chain up to their heads.
func (q *Network) judge(ctx context.Context, list []answer[view]) (h chain.Health, one bool, err error) {
	q.note(list)
	if err := q.checkChains(list); err != nil {
		return h, false, err
	}

	voters := operating(list)
	if h.Operating = len(voters) >= q.agree; !h.Operating {
		voters = succeeded(list)
		err := disagree(q, "operating nodes", list, describe)
		if len(voters) < q.agree {
			return h, false, err
		}
		h.Reason = err.Error()
	}
	head, one, err := q.shared(ctx, voters)
	if err == nil {
		err = q.checkSettled(ctx, voters, head)
	}
	h.Head, h.HeadTime = head.BlockRef, head.when
	return h, one, err
}

// look asks a node for its health, and once for its first block.
func look(ctx context.Context, n *node) (v view, err error) {
	if v.Health, err = n.Health(ctx); err != nil {
		return v, err
	}

	n.mu.Lock()
	was, genesis := n.standing, n.genesis
	n.mu.Unlock()
	if was != awake { // it may still not answer other questions
		if _, err := refOf(ctx, n, v.Head.Height); err != nil {
			return v, err
		}
	}
	if genesis == (chain.Hash{}) {
		first, err := refOf(ctx, n, 0)
		if err != nil {
			return v, err
		}
		genesis = first.Hash
	}

	v.genesis = genesis
	n.mu.Lock()
	n.standing, n.genesis = awake, genesis
	n.mu.Unlock()
	return v, nil
}

// refOf asks a node for the block at a height that it must have.
func refOf(ctx context.Context, n *node, height uint64) (p point, err error) {
	p.BlockRef, p.when, err = n.Ref(ctx, height)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		err = fmt.Errorf("%w: block %d is not there", chain.ErrOdd, height)
	case err == nil && p.Height != height:
		err = fmt.Errorf("%w: block %d for %d", chain.ErrOdd, p.Height, height)
	}
	return p, err
}

// operating returns the answers of nodes that operate.
func operating(list []answer[view]) []answer[view] {
	return slices.DeleteFunc(succeeded(list), func(a answer[view]) bool { return !a.value.Operating })
}

// describe says how a node counts.
func describe(v view) string {
	if v.Operating {
		return fmt.Sprintf("it operates, at block %d", v.Head.Height)
	}
	return v.Reason
}

// checkChains checks that no node is of another chain than the settings name, and that all have one first block.
func (q *Network) checkChains(list []answer[view]) error {
	var first *answer[view]
	for i := range list {
		a := &list[i]
		switch {
		case errors.Is(a.err, chain.ErrOtherChain):
			return fmt.Errorf("%s: %w", a.node, a.err)
		case a.err != nil:
		case first == nil:
			first = a
		case first.value.genesis != a.value.genesis:
			return fmt.Errorf("%w: %w: the first block of %s is not that of %s",
				chain.ErrOdd, chain.ErrOtherChain, a.node, first.node)
		}
	}
	return nil
}

// shared returns the highest block that enough nodes have: where their heads are on one chain, the lowest of so many
// heads, and one is true. A few blocks of a fork are gone back; more is a disagreement about what is settled. A node
// that does not answer for a block of its chain ceases to count, so it keeps no other one from being gone back to.
func (q *Network) shared(ctx context.Context, voters []answer[view]) (head point, one bool, err error) {
	var points []answer[point]
	for i, height := range q.heights(voters) {
		points = q.points(ctx, voters, height)
		if group := agreed(q, points, point.equal); group != nil {
			return group[0].value, i == 0, nil
		}
		kept := without(voters, points)
		if len(kept) < q.agree {
			break
		}
		if len(kept) < len(voters) {
			return q.shared(ctx, kept)
		}
	}
	return head, false, disagree(q, fmt.Sprintf("the last %d blocks", q.depth), points, q.show)
}

// heights returns the heights at which the nodes' shared head can be, highest first. A fork is gone back for q.depth
// blocks from each node's head on, because another node may lie about all that one which is behind does not have.
func (q *Network) heights(voters []answer[view]) (list []uint64) {
	heads := []uint64{atLeast(voters, q.agree, func(v view) uint64 { return v.Head.Height })}
	for i := range voters {
		heads = append(heads, min(voters[i].value.Head.Height, heads[0]))
	}
	slices.SortFunc(heads, func(a, b uint64) int { return cmp.Compare(b, a) })
	for _, head := range heads {
		for back := range min(q.depth, head+1) {
			if len(list) == 0 || head-back < list[len(list)-1] {
				list = append(list, head-back)
			}
		}
	}
	return list
}

// without returns the nodes that answered, and the nodes that were not asked.
func without(voters []answer[view], points []answer[point]) []answer[view] {
	return slices.DeleteFunc(slices.Clone(voters), func(v answer[view]) bool {
		return slices.ContainsFunc(points, func(p answer[point]) bool { return p.node == v.node && !p.counts() })
	})
}

func (q *Network) show(p point) string {
	return fmt.Sprintf("block %d is %s", p.Height, q.FormatHash(p.Hash))
}

// points returns the block that each node has at a height, of those whose chains reach it.
func (q *Network) points(ctx context.Context, voters []answer[view], height uint64) []answer[point] {
	var list []answer[point]
	var ask []*node
	for i := range voters {
		switch v := &voters[i]; {
		case v.value.Head.Height == height:
			list = append(list, answer[point]{node: v.node, value: point{v.value.Head, v.value.HeadTime}})
		case v.value.Head.Height > height:
			ask = append(ask, v.node)
		}
	}
	asked := everyone(ctx, ask, func(ctx context.Context, n *node) (point, error) { return refOf(ctx, n, height) },
		func(more []answer[point]) bool { return agreed(q, append(more, list...), point.equal) != nil })
	return inOrder(append(list, asked...))
}

// checkSettled checks that nodes with other heads have the same blocks where money is settled.
func (q *Network) checkSettled(ctx context.Context, voters []answer[view], head point) error {
	settled := head.Height + 1 - min(q.depth, head.Height+1)
	for i := range voters {
		v := &voters[i]
		if v.value.Head == head.BlockRef {
			continue
		}
		points := q.points(ctx, voters, min(settled, v.value.Head.Height))
		group := agreed(q, points, point.equal)
		if group == nil {
			return disagree(q, "a settled block", points, q.show)
		}
		if off := others(points, group[0].value); len(off) > 0 {
			return fmt.Errorf("%w: %s has another chain than the other nodes, for more than %d blocks: %w",
				chain.ErrOdd, strings.Join(off, ", "), q.depth, disagree(q, "a settled block", points, q.show))
		}
	}
	return nil
}

// others returns the names of nodes that have another block.
func others(list []answer[point], than point) (names []string) {
	for _, a := range succeeded(list) {
		if !a.value.equal(than) {
			names = append(names, a.node.String())
		}
	}
	return names
}

// note logs nodes that cease to count, and nodes that count again.
func (q *Network) note(list []answer[view]) {
	for i := range list {
		a := &list[i]
		trouble := ""
		switch {
		case a.err != nil:
			trouble = a.err.Error()
		case !a.value.Operating:
			trouble = a.value.Reason
		}

		a.node.mu.Lock()
		known := a.node.trouble
		a.node.trouble = trouble
		a.node.mu.Unlock()
		switch {
		case trouble == known:
		case trouble != "":
			q.log.Warn("a node does not count", slog.Int("node", a.node.number), slog.String("reason", trouble))
		default:
			q.log.Info("a node counts again", slog.Int("node", a.node.number))
		}
	}
}
