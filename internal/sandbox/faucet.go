package sandbox

import (
	"context"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// pours are the amounts of the faucet, in whole units. Any other asset has usualPour.
var pours = map[bourse.Symbol]uint64{"BTC": 1, "ETH": 10, "LTC": 100, "USDT": 50_000, "ATOM": 1_000}

const usualPour = 1_000

// The limits of the faucet: those of an account, and those of all accounts of a source.
var (
	poursOfAccount = api.Rate{PerSecond: 1. / 60, Burst: 20}
	poursOfSource  = api.Rate{PerSecond: 10. / 60, Burst: 200}
)

// errPoured refuses an account, or a source, that has taken too much.
var errPoured = bourse.Errorf(bourse.CodeBusy, "The faucet has given enough for now; try again later")

// Faucet hands out money of a sandbox. Safe for concurrent use.
type Faucet struct {
	world  *World
	limits *api.Limiter
}

// Faucet returns a faucet with a clock for its limits.
func (w *World) Faucet(clock func() time.Time) *Faucet {
	return &Faucet{w, api.NewLimiter(api.Limits{
		Account: api.Rates{Orders: poursOfAccount}, Source: api.SourceRates{Requests: poursOfSource},
	}, clock)}
}

// Pour credits an account with some of an asset, and returns the amount. The errors are
// those of a command, and a *account.LimitError.
func (f *Faucet) Pour(
	ctx context.Context, id bourse.AccountID, from netip.Addr, asset *bourse.Asset,
) (bourse.Amount, error) {
	if err := f.admit(id, from); err != nil {
		return bourse.Amount{}, err
	}

	units, special := pours[asset.Symbol]
	if !special {
		units = usualPour
	}
	amount, _ := bourse.Units(units).Mul(bourse.Pow10(asset.Scale)) // some 10^23 at most
	return amount, f.world.carry(ctx, []bourse.Command{{
		Kind: bourse.CommandCredit, Account: id, AssetID: asset.ID, Amount: amount,
	}})
}

// admit counts a request against its account and its source.
func (f *Faucet) admit(id bourse.AccountID, from netip.Addr) error {
	for _, payer := range [...]api.Payer{{Account: id}, {Source: from}} {
		if after, ok := f.limits.Take(api.Orders, payer); !ok {
			return &account.LimitError{Limit: errPoured, Wait: after.Next}
		}
	}
	return nil
}
