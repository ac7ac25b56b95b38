package admin

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// coolAnswer is the order to cold storage of a network.
type coolAnswer struct {
	ID     bourse.WalletID `json:"xid"`
	Asset  bourse.Symbol   `json:"asset"`
	Amount string          `json:"amount"`
	// Reason is why the worker has not signed the order; empty until its first step after a start.
	Reason string `json:"reason"`
}

// cooling describes the open order of a network; nil if there is none.
func (s *Server) cooling(id bourse.NetworkID, link *Link) *coolAnswer {
	order := s.View.NetworkState(id).Cool
	if order.ID == 0 {
		return nil
	}
	asset := s.View.Catalogue().Assets[order.Asset]
	return &coolAnswer{order.ID, asset.Symbol, order.Amount.Format(asset.Scale), link.Cooling}
}

type networkCoolArgs struct {
	Network bourse.Symbol `json:"network"`
	Asset   bourse.Symbol `json:"asset"`
	Amount  string        `json:"amount"`
}

// networkCool orders a move to cold storage. It refuses an order that the settings make impossible, because the journal
// does not know the settings.
func (s *Server) networkCool(ctx context.Context, a networkCoolArgs) (any, error) {
	n, err := s.network(a.Network)
	if err != nil {
		return nil, err
	}
	asset, amount, err := s.amount(a.Asset, a.Amount)
	if err != nil {
		return nil, err
	}
	cmd := &bourse.Command{
		Kind: bourse.CommandCool, On: true, AssetID: asset.ID, Amount: amount, Wallet: &bourse.WalletCommand{Network: n.ID},
	}
	if err := record.Check(cmd); err != nil {
		return nil, err
	}
	if err := s.canCool(ctx, n, asset, amount); err != nil {
		return nil, err
	}

	r, err := s.noted(ctx, fmt.Sprintf("network cool %s %s %s", a.Network, a.Asset, a.Amount), cmd)
	return struct {
		ID bourse.WalletID `json:"xid"`
		networkCoolArgs
	}{bourse.WalletID(r.Outcome.ID), a}, err
}

// canCool refuses an order that the settings forbid, or that the hot wallet as it is cannot carry out.
func (s *Server) canCool(ctx context.Context, n *bourse.Network, asset *bourse.Asset, amount bourse.Amount) error {
	p, connected := s.Purses(ctx)[n.ID]
	band := p.Bands[asset.ID]
	need, fits := band.Low.Add(amount)
	switch {
	case !connected:
		return bourse.Errorf(bourse.CodeRefused, "%s: this exchange has no node of it", n.Symbol)
	case p.Cold == nil:
		return bourse.Errorf(bourse.CodeRefused, "%s: the settings name no cold storage", n.Symbol)
	case band.Low.IsZero():
		return bourse.Errorf(bourse.CodeRefused, "%s: hot.low is not set for %s", n.Symbol, asset.Symbol)
	case !fits || p.Hot[asset.ID].Less(need):
		return bourse.Errorf(bourse.CodeRefused, "the hot wallet has %s %s and keeps %s",
			p.Hot[asset.ID].Format(asset.Scale), asset.Symbol, band.Low.Format(asset.Scale))
	}
	return nil
}

type networkEndCoolArgs struct {
	Network bourse.Symbol `json:"network"`
}

// networkEndCool ends the order to cold storage, and gives up its transaction if no block has it.
func (s *Server) networkEndCool(ctx context.Context, a networkEndCoolArgs) (any, error) {
	return s.endMove(ctx, a.Network, "end-cool", bourse.CommandCool)
}
