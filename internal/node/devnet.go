package node

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// controls is how operators control the embedded networks.
type controls struct{ *Node }

// seenWithin bounds how long a verb waits until the exchange has seen what it
// did to a chain.
const seenWithin = 5 * time.Second

func (c controls) find(symbol bourse.Symbol) (*attached, error) {
	for _, a := range c.networks {
		if a.symbol == symbol {
			return a, nil
		}
	}
	return nil, bourse.Errorf(bourse.CodeNotFound, "unknown network %q", symbol)
}

// seen waits until the exchange has taken in the chain's last block, or cannot.
func (c controls) seen(ctx context.Context, a *attached) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for c.board.State(a.id).Tip != a.node.Head() {
		select {
		case a.wake <- struct{}{}:
		default: // it is awake
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Mine puts blocks on top of a network's chain.
func (c controls) Mine(ctx context.Context, symbol bourse.Symbol, blocks int) (uint64, error) {
	a, err := c.find(symbol)
	if err != nil {
		return 0, err
	}
	head, err := a.node.Mine(max(blocks, 1))
	if err == nil {
		c.seen(ctx, a)
	}
	return head.Height, err
}

// Reorg replaces the last blocks.
func (c controls) Reorg(ctx context.Context, symbol bourse.Symbol, depth int, drop bool) (uint64, error) {
	a, err := c.find(symbol)
	if err != nil {
		return 0, err
	}
	head, err := a.node.Reorg(depth, drop)
	if err == nil {
		c.seen(ctx, a)
	}
	return head.Height, err
}

// coin returns a network, and what it calls an asset, with its decimals.
func (c controls) coin(network, symbol bourse.Symbol) (*attached, chain.Coin, error) {
	a, err := c.find(network)
	if err != nil {
		return nil, chain.Coin{}, err
	}
	_, terms, assets := c.Listed(a.id)
	for _, t := range terms {
		if assets[t.Asset].Symbol == symbol {
			if coin, ok := a.client.Shape().Coin(chain.CoinOf(symbol, t.Contract)); ok {
				return a, coin, nil
			}
		}
	}
	return nil, chain.Coin{}, bourse.Errorf(bourse.CodeNotFound, "%s does not move on %s", symbol, a.symbol)
}

// Send pays from the outside world.
func (c controls) Send(symbol bourse.Symbol, address string, asset bourse.Symbol, amount, memo string) (string, error) {
	a, coin, err := c.coin(symbol, asset)
	if err != nil {
		return "", err
	}
	n, err := bourse.ParseAmount(amount, coin.Decimals)
	if err != nil {
		return "", bourse.Errorf(bourse.CodeInvalid, "amount: %v", err)
	}
	tx, err := a.node.Send(chain.Pay{To: chain.Destination{Address: address, Memo: memo}, Coin: coin.ID, Amount: n})
	if err != nil {
		return "", bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return a.client.FormatHash(tx), nil
}

// Address returns a new address of the outside world.
func (c controls) Address(symbol bourse.Symbol) (string, error) {
	a, err := c.find(symbol)
	if err != nil {
		return "", err
	}
	return a.node.NewAddress()
}

// Balance returns what an address has on the chain.
func (c controls) Balance(symbol bourse.Symbol, address string, asset bourse.Symbol) (string, error) {
	a, coin, err := c.coin(symbol, asset)
	if err != nil {
		return "", err
	}
	n, err := a.node.Balance(address, coin.ID)
	return n.Format(coin.Decimals), err
}

// Stop makes a network's node silent, or lets it answer again.
func (c controls) Stop(symbol bourse.Symbol, stopped bool) error {
	a, err := c.find(symbol)
	if err != nil {
		return err
	}
	if stopped {
		a.faults.Stop()
	} else {
		a.faults.Start()
	}
	return nil
}

// Networks lists the networks.
func (c controls) Networks() []bourse.Symbol {
	list := make([]bourse.Symbol, len(c.networks))
	for i, a := range c.networks {
		list[i] = a.symbol
	}
	return list
}

// Owned returns what the chain says that the exchange has, and at which height:
// the sum over all addresses that were ever given out.
func (c controls) Owned(symbol bourse.Symbol) (uint64, map[bourse.Symbol]string, error) {
	a, err := c.find(symbol)
	if err != nil {
		return 0, nil, err
	}
	addresses := map[string]bool{a.client.Destination(chain.IndexChange).Address: true}
	for index := range c.board.Accounts() + 1 {
		addresses[a.client.Destination(index).Address] = true
	}
	_, terms, assets := c.Listed(a.id)
	for {
		head, owned := a.node.Head(), map[bourse.Symbol]string{}
		for _, t := range terms {
			asset := assets[t.Asset]
			coin, moves := a.client.Shape().Coin(chain.CoinOf(asset.Symbol, t.Contract))
			if !moves {
				continue
			}
			sum, err := c.sum(a, addresses, coin.ID)
			if err != nil {
				return 0, nil, err
			}
			if !sum.IsZero() {
				owned[asset.Symbol] = sum.Format(coin.Decimals)
			}
		}
		if a.node.Head() == head {
			return head.Height, owned, nil
		}
	}
}

// sum adds up what addresses have of a coin.
func (c controls) sum(a *attached, addresses map[string]bool, coin chain.CoinID) (sum bourse.Amount, err error) {
	for address := range addresses {
		n, err := a.node.Balance(address, coin)
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(n)
	}
	return sum, nil
}
