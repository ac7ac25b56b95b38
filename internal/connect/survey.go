package connect

import (
	"context"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// shownAccounts is the number of customers whose addresses a report has, and of addresses of cold storage.
const shownAccounts = 3

// Report is what operators see of a network before it is connected.
type Report struct {
	Network bourse.Symbol `json:"network"`
	// Chain is the identity of the settings, and Node the address of the node. A network has a report for each node.
	Chain string `json:"chain"`
	Node  string `json:"node"`
	// Test is true if the chain's coins are worth nothing.
	Test bool `json:"test"`
	// NodeChain is the identity of the node's chain; empty, like all that follows, if it does not answer.
	NodeChain string `json:"node_chain,omitempty"`
	Software  string `json:"software,omitempty"`
	Height    uint64 `json:"height,omitempty"`
	Hash      string `json:"hash,omitempty"`
	// Time is the last block's, in seconds of Unix, and Lag the number of blocks that the node knows of and
	// does not have yet.
	Time      int64           `json:"time,omitempty"`
	Lag       uint64          `json:"lag"`
	Abilities map[string]bool `json:"abilities,omitempty"`
	// Addresses are the first ones of the public keys.
	Addresses []Address `json:"addresses,omitempty"`
	// Notes are what works, and Problems what does not.
	Notes    []string `json:"notes"`
	Problems []string `json:"problems"`

	// about begins notes and problems of one of several nodes.
	about string
}

// Address is one of the exchange's addresses: by the settings' keys, and by the signer's.
type Address struct {
	// Of is hot, the number of an account, or cold and a number.
	Of      string `json:"of"`
	Address string `json:"address"`
	// Memo tells accounts apart that share the address; empty where each has its own.
	Memo   string `json:"memo,omitempty"`
	Signer string `json:"signer,omitempty"`
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, r.about+fmt.Sprintf(format, args...))
}

func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, r.about+fmt.Sprintf(format, args...))
}

// Survey asks each node of a network about itself, and the nodes together whether they agree. It compares the
// public keys with those of the signer's status, which is nil if the signer did not answer. The settings have
// public keys. The first report also has the findings about all nodes together.
func (s *Settings) Survey(ctx context.Context, l Local, keeper *signer.Status) ([]*Report, error) {
	nodes, err := s.open(&l)
	if err != nil {
		return nil, err
	}
	defer closeAll(nodes)

	list := make([]*Report, len(nodes))
	for i, n := range nodes {
		list[i] = &Report{
			Network: s.Symbol, Chain: s.Chain, Node: s.nodes[i].URL, Test: s.IsTest(), Notes: []string{}, Problems: []string{},
		}
		if len(nodes) > 1 {
			list[i].about = fmt.Sprintf("node %d: ", i+1)
		}
		list[i].askNode(ctx, n.client)
		list[i].about = ""
	}

	r := list[0]
	for _, id := range s.Strays(l) {
		r.problem("the catalogue's contract %s is no address with its checksum: its coin does not move, and cannot be listed anew", id)
	}
	if err := s.askTogether(ctx, r, nodes, &l); err != nil {
		return nil, err
	}
	r.Addresses = first(nodes[0].client)
	if keeper != nil {
		s.compareKeys(r, keeper, &l)
	}
	r.Addresses = append(r.Addresses, firstCold(nodes[0].client)...)
	return list, nil
}

// askTogether asks several nodes whether enough of them agree.
func (s *Settings) askTogether(ctx context.Context, r *Report, nodes []opened, l *Local) error {
	if len(nodes) == 1 {
		return nil
	}
	network, err := s.together(nodes, l)
	if err != nil {
		return err
	}
	h, err := network.Health(ctx)
	switch {
	case err != nil:
		r.problem("the nodes together: %v", err)
	case !h.Operating:
		r.problem("the nodes together: %s", h.Reason)
	default:
		r.note("the nodes agree on block %d", h.Head.Height)
	}
	return nil
}

// askNode asks the node about itself, and whether it can be used.
func (r *Report) askNode(ctx context.Context, c client) {
	survey, err := c.Survey(ctx)
	if err != nil {
		r.problem("the node: %v", err)
		return
	}
	r.NodeChain, r.Software, r.Lag = survey.Chain, survey.Software, survey.Behind
	r.Height, r.Hash, r.Time = survey.Head.Height, c.FormatHash(survey.Head.Hash), survey.HeadTime.Seconds()
	r.Abilities = map[string]bool{}
	for _, a := range survey.Abilities {
		r.Abilities[a.Name] = a.Has
		if a.Needed && !a.Has {
			r.problem("%s: %s", a.Name, a.Text)
			continue
		}
		r.note("%s: %s", a.Name, a.Text)
	}

	switch h, err := c.Health(ctx); {
	case err != nil:
		r.problem("the node: %v", err)
	case !h.Operating:
		r.problem("the network does not operate: %s", h.Reason)
	default:
		r.note("the node has block %d and is %d behind", r.Height, r.Lag)
	}
}

// compareKeys compares the settings' keys with the signer's: by their text, which has everything, and
// by addresses, which people can compare.
func (s *Settings) compareKeys(r *Report, keeper *signer.Status, l *Local) {
	i := slices.IndexFunc(keeper.Networks, func(n signer.NetworkStatus) bool { return n.Name == s.Symbol })
	if i < 0 {
		r.problem("the signer has no keys of %s: add it to its settings", s.Symbol)
		return
	}
	n := &keeper.Networks[i]
	if n.Chain != s.Chain {
		r.problem("the signer's %s is of the chain %s", n.Name, n.Chain)
		return
	}
	theirs, err := s.family.codec(n.Keys, l)
	if err != nil {
		r.problem("the signer's keys: %v", err)
		return
	}

	for i, to := range first(theirs) {
		r.Addresses[i].Signer = to.Address
	}
	if n.Keys != s.keys {
		r.problem("the signer has other keys: nothing that is paid to this exchange's addresses could be spent")
		return
	}
	r.note("the signer has these keys")
	switch cold := s.family.descriptor(); {
	case cold != "" && n.Cold != cold:
		r.problem("the signer has another cold storage, or none: set cold in its settings first")
	case cold != "":
		r.note("the signer has this cold storage")
	}
}

// first returns the first addresses of an exchange.
func first(c chain.Codec) []Address {
	list := []Address{{Of: "hot"}}
	for id := uint32(1); id <= shownAccounts; id++ {
		list = append(list, Address{Of: fmt.Sprint(id)})
	}
	for i := range list {
		to := c.Destination(uint32(i)) // the hot wallet's index is zero
		list[i].Address, list[i].Memo = to.Address, to.Memo
	}
	return list
}

// firstCold returns the first addresses of cold storage; none without it.
func firstCold(c chain.Codec) (list []Address) {
	first := c.Shape().Cold
	if first == 0 {
		return nil
	}
	for n := range uint32(shownAccounts) {
		list = append(list, Address{Of: fmt.Sprintf("cold %d", n), Address: c.Destination(first + n).Address})
	}
	return list
}
