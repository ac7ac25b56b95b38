package node

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// travelEvery is how many turns of the traders lie between two journeys of
// their money: a quarter of a minute.
const travelEvery = 100

// trip is what a trader moves: so many smallest units of what the catalogue says
// a withdrawal is at least.
type trip struct {
	network, asset bourse.Symbol
}

// trips are made in turn, in and out.
var trips = [...]trip{{"BTC", "BTC"}, {"ETH", "USDT"}, {"LTC", "LTC"}, {"ATOM", "ATOM"}, {"ETH", "ETH"}}

// travel lets money of a trader come in, or go out, so that the wallet's history
// is alive. What a network or the exchange refuses is left for the next turn.
func (n *Node) travel(ctx context.Context, account bourse.AccountID, turn int) error {
	t := trips[turn/2%len(trips)]
	a, err := controls{n}.find(t.network)
	if err != nil {
		return err
	}
	network, terms, assets := n.Listed(a.id)
	for _, k := range terms {
		if assets[k.Asset].Symbol != t.asset {
			continue
		}
		amount := k.MinWithdrawal.Plus(k.MinWithdrawal).Plus(k.FeeMin)
		if turn%2 == 0 {
			return n.arrive(a, account, t.asset, amount.Format(assets[k.Asset].Scale))
		}
		return n.leave(ctx, a, network, k, account, amount)
	}
	return fmt.Errorf("%s does not move on %s", t.asset, t.network)
}

// arrive pays an account's address from the outside world.
func (n *Node) arrive(a *attached, account bourse.AccountID, asset bourse.Symbol, amount string) error {
	to := a.client.Destination(uint32(account))
	_, err := controls{n}.Send(a.symbol, to.Address, asset, amount, to.Memo)
	return err
}

// leave asks for a withdrawal to an address of the outside world.
func (n *Node) leave(ctx context.Context, a *attached, network *bourse.Network, k *bourse.NetworkAsset, account bourse.AccountID, amount bourse.Amount) error {
	address, err := a.node.NewAddress()
	if err != nil {
		return err
	}
	if _, ours := a.client.Owner(address, ""); ours {
		return fmt.Errorf("%s is an address of ours", address)
	}
	return n.carry(ctx, bourse.Command{
		Kind: bourse.CommandWithdraw, Account: account,
		Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: network.ID, Asset: k.Asset, Amount: amount, Fee: k.FeeMin, Address: address,
		}},
	})
}
