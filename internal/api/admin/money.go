package admin

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// balance is a balance in the words of the wallet's interface.
type balance struct {
	Total  string `json:"total"`
	Locked string `json:"locked"`
	Avbl   string `json:"avbl"`
}

func describeBalance(a *bourse.Asset, b bourse.Balance) balance {
	return balance{
		Total: b.Available.Plus(b.Held).Format(a.Scale), Locked: b.Held.Format(a.Scale),
		Avbl: b.Available.Format(a.Scale),
	}
}

type creditArgs struct {
	Account bourse.AccountID `json:"account"`
	Asset   bourse.Symbol    `json:"asset"`
	Amount  string           `json:"amount"`
}

// errNoCredit is the refusal of a credit in production. A break-glass act would wait a day for the engine to refuse it.
var errNoCredit = &bourse.Error{
	Code: bourse.CodeRefused, Reason: bourse.SandboxOnly,
	Message: bourse.SandboxOnly.String() + ": only a sandbox hands out money; here money arrives as a deposit, " +
		"and deposit assign gives a parked one to an account",
}

// amount reads an amount of an asset.
func (s *Server) amount(symbol bourse.Symbol, text string) (*bourse.Asset, bourse.Amount, error) {
	asset := s.View.Catalogue().Asset(symbol)
	if asset == nil {
		return nil, bourse.Amount{}, bourse.Errorf(bourse.CodeNotFound, "unknown asset %q", symbol)
	}
	amount, err := bourse.ParseAmount(text, asset.Scale)
	if err != nil {
		return nil, bourse.Amount{}, bourse.Errorf(bourse.CodeInvalid, "amount: %v", err)
	}
	return asset, amount, nil
}

// credit hands out money of a sandbox.
func (s *Server) credit(ctx context.Context, a creditArgs) (any, error) {
	if g := s.View.Catalogue().Genesis; g == nil || !g.Sandbox {
		return nil, errNoCredit
	}

	asset, amount, err := s.amount(a.Asset, a.Amount)
	if err != nil {
		return nil, err
	}

	_, err = s.noted(ctx, fmt.Sprintf("credit %d %s %s", a.Account, a.Asset, a.Amount),
		&bourse.Command{Kind: bourse.CommandCredit, Account: a.Account, AssetID: asset.ID, Amount: amount})

	return struct {
		Account bourse.AccountID `json:"account"`
		Asset   bourse.Symbol    `json:"asset"`
		balance
	}{a.Account, a.Asset, describeBalance(asset, s.View.Balance(a.Account, asset.ID))}, err
}

func (s *Server) balances(_ context.Context, a accountArgs) (any, error) {
	if _, known := s.View.Account(a.Account); !known {
		return nil, bourse.Errorf(bourse.CodeNotFound, "unknown account %d", a.Account)
	}

	assets := s.View.Catalogue().Assets[1:]
	ids := make([]bourse.AssetID, len(assets))
	for i := range assets {
		ids[i] = assets[i].ID
	}

	list := map[bourse.Symbol]balance{}
	for i, b := range s.View.Balances(a.Account, ids) {
		if !b.Available.IsZero() || !b.Held.IsZero() {
			list[assets[i].Symbol] = describeBalance(assets[i], b)
		}
	}

	return struct {
		Account  bourse.AccountID          `json:"account"`
		Balances map[bourse.Symbol]balance `json:"balances"`
	}{a.Account, list}, nil
}

// feesCollect moves the balances of the fee accounts to the treasury.
func (s *Server) feesCollect(ctx context.Context, _ struct{}) (any, error) {
	r, err := s.noted(ctx, "fees collect", &bourse.Command{Kind: bourse.CommandCollectFees})
	if err != nil {
		return nil, err
	}

	collected, err := s.collected(ctx, r.Seq)
	return struct {
		Collected map[bourse.Symbol]string `json:"collected"`
	}{collected}, err
}

// collected returns the amounts that a collection of fees moved.
func (s *Server) collected(ctx context.Context, seq bourse.Seq) (map[bourse.Symbol]string, error) {
	const page = 100
	assets := s.View.Catalogue().Assets
	list := map[bourse.Symbol]string{}
	for skip := 0; ; skip += page {
		rows, err := s.History.Transfers(ctx, bourse.AccountTreasury, skip, page)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if t := &rows[i]; t.Seq == seq {
				list[assets[t.Asset].Symbol] = t.Amount.Format(assets[t.Asset].Scale)
			}
		}
		if older(rows, seq) || len(rows) < page {
			return list, nil
		}
	}
}

// older reports whether a page reaches past a command.
func older(rows []history.Transfer, seq bourse.Seq) bool {
	return len(rows) > 0 && rows[len(rows)-1].Seq < seq
}
