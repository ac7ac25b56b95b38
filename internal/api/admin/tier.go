package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
)

type accountTierArgs struct {
	Account bourse.AccountID `json:"account"`
	Tier    string           `json:"tier"`
	Reason  string           `json:"reason"`
}

// accountTier gives an account a tier.
func (s *Server) accountTier(ctx context.Context, a accountTierArgs) (any, error) {
	if strings.TrimSpace(a.Reason) == "" {
		return nil, bourse.Errorf(bourse.CodeInvalid, "reason: must not be empty")
	}
	tier, known := s.View.Catalogue().Tiers.Named(a.Tier)
	if !known {
		return nil, bourse.Errorf(bourse.CodeInvalid, "tier: the catalogue has no tier %q", a.Tier)
	}

	_, err := s.noted(ctx, fmt.Sprintf("account tier %d %s: %s", a.Account, a.Tier, a.Reason),
		&bourse.Command{Kind: bourse.CommandSetAccountTier, Account: a.Account, Level: tier})
	return struct {
		Account bourse.AccountID `json:"account"`
		Tier    string           `json:"tier"`
	}{a.Account, a.Tier}, err
}
