package admin

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// ColdStorage drafts moves from the cold storage of a network, and reads what people signed.
type ColdStorage interface {
	// Draft returns a transaction that brings an amount, in whole coins, to the hot wallet, for the holders of the
	// keys to sign.
	Draft(ctx context.Context, amount string) (*Draft, error)
	// FromCold reads PSBTs or a final transaction, as texts or as the bytes of one PSBT.
	FromCold(signed []byte) (*bourse.SignedTx, error)
}

// Draft is a transaction for people to sign.
type Draft struct {
	Asset        bourse.AssetID
	Amount, Cost bourse.Amount
	PSBT         []byte
}

// ColdMove is a transaction to or from cold storage that is in no block and may be mined.
type ColdMove struct {
	// Kind is cool or warm, and State waiting, accepted or dropped.
	Kind  string `json:"kind"`
	Tx    string `json:"tx"`
	State string `json:"state"`
}

// coldStorage returns the cold storage of a network.
func (s *Server) coldStorage(symbol bourse.Symbol) (*bourse.Network, ColdStorage, error) {
	n, err := s.network(symbol)
	if err != nil {
		return nil, nil, err
	}
	cold := s.Cold(n.ID)
	if cold == nil {
		return nil, nil, bourse.Errorf(bourse.CodeRefused, "%s: this exchange has no node of it", n.Symbol)
	}
	return n, cold, nil
}

type networkPSBTArgs struct {
	Network bourse.Symbol `json:"network"`
	Amount  string        `json:"amount"`
}

// networkPSBT drafts a move from cold storage. It changes nothing.
func (s *Server) networkPSBT(ctx context.Context, a networkPSBTArgs) (any, error) {
	_, cold, err := s.coldStorage(a.Network)
	if err != nil {
		return nil, err
	}
	d, err := cold.Draft(ctx, a.Amount)
	if err != nil {
		return nil, err
	}
	asset := s.View.Catalogue().Assets[d.Asset]
	return struct {
		Network bourse.Symbol `json:"network"`
		Asset   bourse.Symbol `json:"asset"`
		Amount  string        `json:"amount"`
		Cost    string        `json:"cost"`
		PSBT    string        `json:"psbt"`
	}{
		a.Network, asset.Symbol, d.Amount.Format(asset.Scale), d.Cost.Format(asset.Scale),
		base64.StdEncoding.EncodeToString(d.PSBT),
	}, nil
}

type networkSendPSBTArgs struct {
	Network bourse.Symbol `json:"network"`
	Signed  string        `json:"signed"`
}

// networkSendPSBT journals a move from cold storage that people signed, which sends it.
func (s *Server) networkSendPSBT(ctx context.Context, a networkSendPSBTArgs) (any, error) {
	n, cold, err := s.coldStorage(a.Network)
	if err != nil {
		return nil, err
	}
	tx, err := cold.FromCold([]byte(a.Signed))
	if err != nil {
		return nil, err
	}
	cmd := &bourse.Command{Kind: bourse.CommandWarm, On: true, Wallet: &bourse.WalletCommand{Signed: tx}}
	if err := record.Check(cmd); err != nil {
		return nil, err
	}

	name, asset := s.FormatHash(n.ID, tx.Tx), s.View.Catalogue().Assets[tx.Cost.Asset]
	_, err = s.noted(ctx, fmt.Sprintf("network send-psbt %s %s", a.Network, name), cmd)
	return struct {
		Network bourse.Symbol `json:"network"`
		Tx      string        `json:"tx"`
		Cost    string        `json:"cost"`
	}{a.Network, name, tx.Cost.Amount.Format(asset.Scale)}, err
}

// networkEndPSBT gives up the transaction from cold storage that no block has.
func (s *Server) networkEndPSBT(ctx context.Context, a networkEndCoolArgs) (any, error) {
	return s.endMove(ctx, a.Network, "end-psbt", bourse.CommandWarm)
}

// ended is a network whose order or transaction was ended.
type ended struct {
	Network bourse.Symbol `json:"network"`
	// Moves are the transactions that may be mined all the same; missing if there are none.
	Moves []ColdMove `json:"cold_moves,omitempty"`
	// WaitsFor tells when the next one is taken; missing if it is at once.
	WaitsFor string `json:"waits_for,omitzero"`
}

// The conditions that end the wait for a transaction that was given up and that nodes may have.
const (
	coolWaits = "the transaction that was given up may be mined, and is a move to cold storage then; " +
		"the next order is taken when a block has it, or has been deep enough with one that spends the same"
	warmWaits = "the transaction that was given up may be mined, and is yours then; " +
		"`network psbt` drafts the next one so that it takes its place"
)

// endMove gives up the transactions of a kind that no block has, and says which of them may be mined.
func (s *Server) endMove(ctx context.Context, network bourse.Symbol, verb string, kind bourse.CommandKind) (any, error) {
	n, err := s.network(network)
	if err != nil {
		return nil, err
	}
	_, err = s.noted(ctx, fmt.Sprintf("network %s %s", verb, network),
		&bourse.Command{Kind: kind, Wallet: &bourse.WalletCommand{Network: n.ID}})
	if err != nil {
		return nil, err
	}

	answer, of, why := ended{Network: network}, bourse.SignedCool.String(), coolWaits
	if kind == bourse.CommandWarm {
		of, why = bourse.SignedWarm.String(), warmWaits
	}
	for _, m := range s.Condition().Networks[n.ID].ColdMoves {
		if m.Kind == of {
			answer.Moves, answer.WaitsFor = append(answer.Moves, m), why
		}
	}
	return answer, nil
}
