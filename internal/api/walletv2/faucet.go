package walletv2

import (
	"context"
	"net/netip"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// Faucet hands out money of a sandbox. Safe for concurrent use.
type Faucet interface {
	// Pour credits an account with some of an asset, and returns the amount. Accounts and
	// sources have limits.
	Pour(ctx context.Context, id bourse.AccountID, from netip.Addr, asset *bourse.Asset) (bourse.Amount, error)
}

var faucetFields = api.Fields{"asset"}

// pour credits the account with some of an asset.
func (w *Wallet) pour(c *v2.Call) error {
	c.Require("asset")
	asset := w.assetOf(c, "asset", c.Text("asset"))
	if err := c.Err(); err != nil {
		return err
	}

	amount, err := w.Faucet.Pour(c.Context, c.Who.Account, c.From, asset)
	if err != nil {
		return err
	}
	c.Out.Word("asset", string(asset.Symbol))
	c.Out.Amount("amount", amount, asset.Scale)
	return nil
}
