package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// parseHash reads the name of a transaction or block as users of its network write it. Networks write the bytes of a hash
// forwards or backwards.
func (s *Server) parseHash(n bourse.NetworkID, name string) (bourse.TxHash, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.ToLower(name), "0x"))
	if err == nil && len(raw) == len(bourse.TxHash{}) {
		for range 2 {
			if hash := bourse.TxHash(raw); strings.EqualFold(s.txID(n, hash), name) {
				return hash, nil
			}
			slices.Reverse(raw)
		}
	}
	return bourse.TxHash{}, bourse.Errorf(bourse.CodeInvalid, "%q is no hash of the network", name)
}

type networkFollowArgs struct {
	Network bourse.Symbol `json:"network"`
	Height  uint64        `json:"height"`
	Hash    string        `json:"hash"`
}

// networkFollow has a network whose chain changed deeper than is remembered follow the chain of its nodes.
func (s *Server) networkFollow(ctx context.Context, a networkFollowArgs) (any, error) {
	n, err := s.network(a.Network)
	if err != nil {
		return nil, err
	}
	hash, err := s.parseHash(n.ID, a.Hash)
	if err != nil {
		return nil, err
	}
	cmd := &bourse.Command{
		Kind: bourse.CommandFollowChain, Wallet: &bourse.WalletCommand{Network: n.ID, Height: a.Height, Tx: hash},
	}
	if err := record.Check(cmd); err != nil {
		return nil, err
	}
	_, err = s.noted(ctx, fmt.Sprintf("network follow %s %d %s", a.Network, a.Height, a.Hash), cmd)
	return a, err
}

type withdrawalPaidArgs struct {
	ID bourse.WalletID `json:"xid"`
	Tx string          `json:"tx"`
}

// withdrawalPaid marks a withdrawal as paid by a transaction of its network.
func (s *Server) withdrawalPaid(ctx context.Context, a withdrawalPaidArgs) (any, error) {
	open := s.View.Leaving()
	at := slices.IndexFunc(open, func(w bourse.Withdrawal) bool { return w.ID == a.ID })
	if at < 0 {
		return nil, bourse.Errorf(bourse.CodeRefused, "%s", bourse.WithdrawalNotFound)
	}
	tx, err := s.parseHash(open[at].Network, a.Tx)
	if err != nil {
		return nil, err
	}
	cmd := &bourse.Command{Kind: bourse.CommandPaidWithdrawal, Wallet: &bourse.WalletCommand{ID: a.ID, Tx: tx}}
	if err := record.Check(cmd); err != nil {
		return nil, err
	}
	_, err = s.noted(ctx, fmt.Sprintf("withdrawal paid %d %s", a.ID, a.Tx), cmd)
	return a, err
}
