package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// Purse are the exchange's holdings on a network, by asset.
type Purse struct {
	// Reason tells why the network does not operate; empty if it does.
	Reason string
	// Hot pays withdrawals, Rest is not swept yet, and Surplus is on the hot wallet and not in the journal; nil
	// if it is not known.
	Hot, Rest, Surplus map[bourse.AssetID]bourse.Amount
	// Cold is in cold storage; nil on a network without.
	Cold map[bourse.AssetID]bourse.Amount
	// Bands are the settings' bounds of Hot.
	Bands map[bourse.AssetID]Band
}

// Band bounds the hot wallet's balance of an asset. IsLow and IsHigh tell that the balance is outside.
type Band struct {
	Low, Target, High bourse.Amount
	IsLow, IsHigh     bool
}

// bandAnswer is a band in whole assets, and where the balance is.
type bandAnswer struct {
	Low    string `json:"low"`
	Target string `json:"target"`
	High   string `json:"high"`
	// Hot is below, within or above.
	Hot string `json:"hot"`
	// Off is the difference of a balance outside to the target.
	Off string `json:"off_target,omitzero"`
}

// purseAnswer is a network with the exchange's holdings, in whole assets.
type purseAnswer struct {
	networkAnswer

	// Connected is false for a network of the catalogue that this exchange has no node of.
	Connected bool   `json:"connected"`
	Reason    string `json:"reason"`
	// Head is the node's last block.
	Head uint64 `json:"head"`
	// Stranded are withdrawals that wait for an operator; missing if there are none.
	Stranded []bourse.WalletID `json:"stranded,omitempty"`

	Hot map[bourse.Symbol]string `json:"hot"`
	// Cold is missing on a network without cold storage.
	Cold map[bourse.Symbol]string `json:"cold,omitzero"`
	// Bands are missing without settings.
	Bands map[bourse.Symbol]bandAnswer `json:"bands,omitzero"`
	Rest  map[bourse.Symbol]string     `json:"unswept"`
	// Surplus is missing if it is not known.
	Surplus map[bourse.Symbol]string `json:"surplus,omitzero"`
}

// network finds a network by its symbol.
func (s *Server) network(symbol bourse.Symbol) (*bourse.Network, error) {
	n := s.View.Catalogue().Network(symbol)
	if n == nil {
		return nil, bourse.Errorf(bourse.CodeNotFound, "unknown network %q", symbol)
	}
	return n, nil
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
			networkAnswer: s.describeNetwork(n, link), Connected: connected, Reason: p.Reason, Head: link.Head, Stranded: link.Stranded,
			Hot: s.amounts(p.Hot), Cold: s.amounts(p.Cold), Rest: s.amounts(p.Rest), Surplus: s.amounts(p.Surplus),
			Bands: s.bands(&p),
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

// bands formats the bounds of the hot wallet; nil for none.
func (s *Server) bands(p *Purse) map[bourse.Symbol]bandAnswer {
	if len(p.Bands) == 0 {
		return nil
	}
	assets := s.View.Catalogue().Assets
	list := make(map[bourse.Symbol]bandAnswer, len(p.Bands))
	for id, b := range p.Bands {
		scale := assets[id].Scale
		a := bandAnswer{Low: b.Low.Format(scale), Target: b.Target.Format(scale), High: b.High.Format(scale), Hot: "within"}
		switch {
		case b.IsLow:
			a.Hot, a.Off = "below", b.Target.Minus(p.Hot[id]).Format(scale)
		case b.IsHigh:
			a.Hot, a.Off = "above", p.Hot[id].Minus(b.Target).Format(scale)
		}
		list[assets[id].Symbol] = a
	}
	return list
}
