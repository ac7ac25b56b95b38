package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// Purse is what the exchange has on a network, by asset.
type Purse struct {
	// Reason tells why the network does not operate; empty if it does.
	Reason string
	// Hot pays withdrawals, Rest is not swept yet, and Surplus is on the hot wallet and not in the journal; nil
	// if it is not known.
	Hot, Rest, Surplus map[bourse.AssetID]bourse.Amount
}

// purseAnswer is a network with what it holds, in whole assets.
type purseAnswer struct {
	networkAnswer

	// Connected is false for a network of the catalogue that this exchange has no node of.
	Connected bool   `json:"connected"`
	Reason    string `json:"reason"`
	// Head is the node's last block.
	Head uint64                   `json:"head"`
	Hot  map[bourse.Symbol]string `json:"hot"`
	Rest map[bourse.Symbol]string `json:"unswept"`
	// Surplus is missing if it is not known.
	Surplus map[bourse.Symbol]string `json:"surplus,omitzero"`
}

// networkList shows the networks, by id.
func (s *Server) networkList(ctx context.Context, _ struct{}) (any, error) {
	links := s.Condition().Networks
	purses := s.Purses(ctx)
	list := []purseAnswer{}
	for _, n := range s.View.Catalogue().Networks[1:] {
		link := links[n.ID]
		p, connected := purses[n.ID]
		list = append(list, purseAnswer{
			networkAnswer: s.describeNetwork(n, link), Connected: connected, Reason: p.Reason, Head: link.Head,
			Hot: s.amounts(p.Hot), Rest: s.amounts(p.Rest), Surplus: s.amounts(p.Surplus),
		})
	}
	return struct {
		Networks []purseAnswer `json:"networks"`
	}{list}, nil
}

// amounts formats amounts by their assets' symbols; nil for nil.
func (s *Server) amounts(of map[bourse.AssetID]bourse.Amount) map[bourse.Symbol]string {
	if of == nil {
		return nil
	}
	assets := s.View.Catalogue().Assets
	texts := make(map[bourse.Symbol]string, len(of))
	for id, amount := range of {
		texts[assets[id].Symbol] = amount.Format(assets[id].Scale)
	}
	return texts
}
