package sandbox

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// payment is an asset that a trader deposits and withdraws, and its network.
type payment struct {
	network, asset bourse.Symbol
}

// payments are made in turn, each as a deposit, then as a withdrawal.
var payments = [...]payment{{"BTC", "BTC"}, {"ETH", "USDT"}, {"LTC", "LTC"}, {"ATOM", "ATOM"}, {"ETH", "ETH"}}

// pay has a trader deposit or withdraw, so that the wallet has a living history. After a
// refusal by the network or the exchange the next turn goes on.
func (w *World) pay(ctx context.Context, account bourse.AccountID, turn int) error {
	p := payments[turn/2%len(payments)]
	n, err := w.find(p.network)
	if err != nil {
		return err
	}

	_, terms, assets := w.carried(n)
	for _, k := range terms {
		if assets[k.Asset].Symbol != p.asset {
			continue
		}
		amount := k.MinWithdrawal.Plus(k.MinWithdrawal).Plus(k.FeeMin)
		if turn%2 == 0 {
			return w.deposit(n, account, p.asset, amount.Format(assets[k.Asset].Scale))
		}
		return w.withdraw(ctx, n, k, account, amount)
	}
	return fmt.Errorf("%s does not move on %s", p.asset, p.network)
}

// deposit pays an account's address from the outside world.
func (w *World) deposit(n *embedded, account bourse.AccountID, asset bourse.Symbol, amount string) error {
	to := n.client.Destination(uint32(account))
	_, err := w.Send(n.params.Symbol, to.Address, asset, amount, to.Memo)
	return err
}

// withdraw asks for a withdrawal to an address of the outside world.
func (w *World) withdraw(
	ctx context.Context, n *embedded, k *bourse.NetworkAsset, account bourse.AccountID, amount bourse.Amount,
) error {
	address, err := n.node.NewAddress()
	if err != nil {
		return err
	}
	if _, ours := n.client.Owner(address, ""); ours {
		return fmt.Errorf("%s is an address of ours", address)
	}
	return w.carry(ctx, []bourse.Command{{
		Kind: bourse.CommandWithdraw, Account: account,
		Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: k.Network, Asset: k.Asset, Amount: amount, Fee: k.FeeMin, Address: address,
		}},
	}})
}
