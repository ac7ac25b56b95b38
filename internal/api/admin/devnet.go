package admin

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Devnet controls the embedded networks of a sandbox. Errors are *bourse.Errors.
type Devnet interface {
	// Mine adds blocks to a network's chain and returns the new height.
	Mine(ctx context.Context, network bourse.Symbol, blocks int) (uint64, error)
	// Send pays from outside the exchange and returns the transaction's name.
	Send(network bourse.Symbol, address string, asset bourse.Symbol, amount, memo string) (string, error)
	// Address returns a new address outside the exchange.
	Address(network bourse.Symbol) (string, error)
	// Balance returns the balance of an address on the chain.
	Balance(network bourse.Symbol, address string, asset bourse.Symbol) (string, error)
	// Owned returns the balances of the exchange on the chain, in whole assets, and the
	// height at which they hold.
	Owned(network bourse.Symbol) (height uint64, owned map[bourse.Symbol]string, err error)
	// Networks lists the networks.
	Networks() []bourse.Symbol
	// Reorg replaces the last depth blocks by depth+1 others, with the same transactions
	// unless drop is set. It returns the new height.
	Reorg(ctx context.Context, network bourse.Symbol, depth int, drop bool) (uint64, error)
	// Stop silences a network's node or, with false, lets it answer again.
	Stop(network bourse.Symbol, stopped bool) error
	// Lag hides the last blocks of a network's node, which reports that it is syncing; zero
	// ends the lag.
	Lag(network bourse.Symbol, blocks int) error
}

// devnetArgs are the arguments of all devnet verbs.
type devnetArgs struct {
	Network bourse.Symbol `json:"network"`
	Blocks  int           `json:"blocks,omitzero"`
	Address string        `json:"address,omitzero"`
	Asset   bourse.Symbol `json:"asset,omitzero"`
	Amount  string        `json:"amount,omitzero"`
	Memo    string        `json:"memo,omitzero"`
	Depth   int           `json:"depth,omitzero"`
	Drop    bool          `json:"drop,omitzero"`
	Stopped bool          `json:"stopped,omitzero"`
}

// devnet returns the operation that journals a note and calls do.
func (s *Server) devnet(what string, do func(ctx context.Context, a *devnetArgs) (any, error)) operation {
	return taking(func(ctx context.Context, a devnetArgs) (any, error) {
		if s.Devnet == nil {
			return nil, bourse.Errorf(bourse.CodeRefused, "only a sandbox has embedded networks")
		}

		if err := s.note(ctx, fmt.Sprintf("devnet %s %s", what, a.Network)); err != nil {
			return nil, err
		}

		return do(ctx, &a)
	})
}

type heightAnswer struct {
	Height uint64 `json:"height"`
}

func (s *Server) devnetMine(ctx context.Context, a *devnetArgs) (any, error) {
	height, err := s.Devnet.Mine(ctx, a.Network, a.Blocks)
	return heightAnswer{height}, err
}

func (s *Server) devnetSend(_ context.Context, a *devnetArgs) (any, error) {
	tx, err := s.Devnet.Send(a.Network, a.Address, a.Asset, a.Amount, a.Memo)
	return struct {
		Tx string `json:"txid"`
	}{tx}, err
}

func (s *Server) devnetAddress(_ context.Context, a *devnetArgs) (any, error) {
	address, err := s.Devnet.Address(a.Network)
	return struct {
		Address string `json:"address"`
	}{address}, err
}

func (s *Server) devnetBalance(_ context.Context, a *devnetArgs) (any, error) {
	balance, err := s.Devnet.Balance(a.Network, a.Address, a.Asset)
	return struct {
		Balance string `json:"balance"`
	}{balance}, err
}

func (s *Server) devnetReorg(ctx context.Context, a *devnetArgs) (any, error) {
	height, err := s.Devnet.Reorg(ctx, a.Network, a.Depth, a.Drop)
	return heightAnswer{height}, err
}

func (s *Server) devnetStop(_ context.Context, a *devnetArgs) (any, error) {
	return struct {
		Network bourse.Symbol `json:"network"`
		Stopped bool          `json:"stopped"`
	}{a.Network, a.Stopped}, s.Devnet.Stop(a.Network, a.Stopped)
}

func (s *Server) devnetLag(_ context.Context, a *devnetArgs) (any, error) {
	return struct {
		Network bourse.Symbol `json:"network"`
		Blocks  int           `json:"blocks"`
	}{a.Network, a.Blocks}, s.Devnet.Lag(a.Network, a.Blocks)
}

// Owned has the balances of the exchange on a chain.
type Owned struct {
	Height uint64                   `json:"height"`
	Owned  map[bourse.Symbol]string `json:"owned"`
}

// devnetOwned serves audits. It only reads, so it is not journaled.
func (s *Server) devnetOwned(_ context.Context, _ struct{}) (any, error) {
	list := map[bourse.Symbol]Owned{}
	if s.Devnet == nil {
		return list, nil
	}

	for _, network := range s.Devnet.Networks() {
		height, owned, err := s.Devnet.Owned(network)
		if err != nil {
			return nil, err
		}
		list[network] = Owned{height, owned}
	}
	return list, nil
}

// devnetVerbs returns the verbs of embedded networks, which no operator may ask for.
func (s *Server) devnetVerbs() map[string]verb {
	return map[string]verb{
		"devnet/owned":   {taking(s.devnetOwned), 0},
		"devnet/mine":    {s.devnet("mine", s.devnetMine), 0},
		"devnet/send":    {s.devnet("send", s.devnetSend), 0},
		"devnet/address": {s.devnet("address", s.devnetAddress), 0},
		"devnet/balance": {s.devnet("balance", s.devnetBalance), 0},
		"devnet/reorg":   {s.devnet("reorg", s.devnetReorg), 0},
		"devnet/stop":    {s.devnet("stop", s.devnetStop), 0},
		"devnet/lag":     {s.devnet("lag", s.devnetLag), 0},
	}
}
