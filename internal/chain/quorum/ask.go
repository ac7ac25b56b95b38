package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// question asks one node.
type question[T any] func(ctx context.Context, n *node) (T, error)

// answer is a node's answer.
type answer[T any] struct {
	node  *node
	value T
	err   error
}

// counts reports whether the node answered. A refusal that belongs to the contract, such as chain.ErrNoBlock, is
// an answer.
func (a *answer[T]) counts() bool {
	return !errors.Is(a.err, chain.ErrSilent) && !errors.Is(a.err, chain.ErrOdd)
}

// counting returns the answers that count.
func counting[T any](list []answer[T]) []answer[T] {
	return slices.DeleteFunc(slices.Clone(list), func(a answer[T]) bool { return !a.counts() })
}

// inOrder sorts answers by the number of their nodes, because they arrive in any order.
func inOrder[T any](list []answer[T]) []answer[T] {
	slices.SortFunc(list, func(a, b answer[T]) int { return cmp.Compare(a.node.number, b.node.number) })
	return list
}

// race asks nodes at once, and returns as soon as the answers are enough. Questions that are still open then end.
func race[T any](ctx context.Context, nodes []*node, ask question[T], enough func([]answer[T]) bool) []answer[T] {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer[T], len(nodes))
	for _, n := range nodes {
		go func() {
			v, err := ask(ctx, n)
			answers <- answer[T]{n, v, err}
		}()
	}

	var list []answer[T]
	for range nodes {
		list = append(list, <-answers)
		if enough(list) {
			break
		}
	}
	return inOrder(list)
}

// poll is a question to several nodes that is under way.
type poll[T any] struct {
	answers chan answer[T]
	// list has the answers so far.
	list []answer[T]
	// open is the number of nodes that were asked and did not answer yet; awake are those of them that answered before.
	open  int
	awake map[*node]bool
}

// pose asks nodes at once. Each question goes on until its timeout, so that a silent node that is back is noticed. A node
// that does not answer gets the standing after.
func pose[T any](ctx context.Context, nodes []*node, ask question[T], after standing) *poll[T] {
	p := &poll[T]{answers: make(chan answer[T], len(nodes)), awake: map[*node]bool{}}
	for _, n := range nodes {
		awake, busy := n.begin(after)
		if busy {
			p.list = append(p.list, answer[T]{node: n, err: chain.ErrSilent})
			continue
		}
		if p.open++; awake {
			p.awake[n] = true
		}
		go func() {
			limited, cancel := context.WithTimeout(ctx, n.timeout)
			defer cancel()
			v, err := ask(limited, n)
			n.end(ctx, err, after)
			p.answers <- answer[T]{n, v, err}
		}()
	}
	return p
}

// wait waits for the nodes that answered before. It waits for the others only while the answers are not enough.
func (p *poll[T]) wait(enough func([]answer[T]) bool) []answer[T] {
	for ; p.open > 0 && (len(p.awake) > 0 || !enough(p.list)); p.open-- {
		a := <-p.answers
		p.list = append(p.list, a)
		delete(p.awake, a.node)
	}
	return inOrder(slices.Clone(p.list))
}

// everyone asks nodes at once, and waits for their answers as wait does.
func everyone[T any](
	ctx context.Context, nodes []*node, ask question[T], enough func([]answer[T]) bool,
) []answer[T] {
	return pose(ctx, nodes, ask, silent).wait(enough)
}

// begin notes a question. A node that is not awake is busy with an open question, and gets no other one.
func (n *node) begin(after standing) (awake, busy bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	awake = n.standing < after
	if !awake && n.open > 0 {
		return false, true
	}
	n.open++
	return awake, false
}

// end notes the end of a question. A question that the caller ended says nothing about the node.
func (n *node) end(ctx context.Context, err error, after standing) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open--
	if errors.Is(err, chain.ErrSilent) && ctx.Err() == nil {
		n.standing = max(n.standing, after)
	}
}

// same reports whether two answers are alike; it compares values only of answers without an error.
func same[T any](a, b *answer[T], equal func(a, b T) bool) bool {
	if a.err != nil || b.err != nil {
		return a.err != nil && b.err != nil && alike(a.err, b.err)
	}
	return equal(a.value, b.value)
}

// alike reports whether two refusals are for the same reason of the contract, or both for one of the payment's own.
func alike(a, b error) bool {
	for _, reason := range []error{chain.ErrNoBlock, chain.ErrFunds, chain.ErrCost} {
		if errors.Is(a, reason) != errors.Is(b, reason) {
			return false
		}
	}
	return true
}

// agreed returns the answers of at least q.agree nodes that are alike; nil if there are too few of any kind.
func agreed[T any](q *Network, list []answer[T], equal func(a, b T) bool) []answer[T] {
	usable := counting(list)
	for i := range usable {
		var group []answer[T]
		for j := range usable {
			if same(&usable[i], &usable[j], equal) {
				group = append(group, usable[j])
			}
		}
		if len(group) >= q.agree {
			return group
		}
	}
	return nil
}

// Error tells what each node answered where they did not agree.
type Error struct {
	text string
	is   []error
}

// Error returns the text.
func (e *Error) Error() string { return e.text }

// Unwrap returns the kinds of trouble of the nodes that did not count, and chain.ErrOdd if the others contradict
// each other.
func (e *Error) Unwrap() []error { return e.is }

// troubles are kinds of errors that keep a node from counting.
var troubles = []error{chain.ErrSilent, chain.ErrOdd, chain.ErrOtherChain, chain.ErrPruned}

// disagree returns the error of nodes of which too few agree. show writes a value.
func disagree[T any](q *Network, what string, list []answer[T], show func(T) string) error {
	e := &Error{}
	var said []string
	usable := 0
	for i := range list {
		a := &list[i]
		if a.err == nil {
			said = append(said, fmt.Sprintf("%s: %s", a.node, show(a.value)))
		} else {
			said = append(said, fmt.Sprintf("%s: %v", a.node, a.err))
		}
		if a.counts() {
			usable++
			continue
		}
		for _, kind := range troubles {
			if errors.Is(a.err, kind) {
				e.is = append(e.is, kind)
			}
		}
	}
	if usable >= q.agree || len(e.is) == 0 {
		e.is = append(e.is, chain.ErrOdd)
	}
	e.text = fmt.Sprintf("%s: %d of %d nodes must agree: %s", what, q.agree, len(q.nodes), strings.Join(said, "; "))
	return e
}
