package sandbox

import (
	"context"
	"errors"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// seenWithin bounds how long a verb waits for the exchange to take in a change of a
// chain.
const seenWithin = 5 * time.Second

func (w *World) find(symbol bourse.Symbol) (*embedded, error) {
	for _, n := range w.networks {
		if n.params.Symbol == symbol {
			return n, nil
		}
	}
	return nil, bourse.Errorf(bourse.CodeNotFound, "unknown network %q", symbol)
}

// seen waits until the exchange has taken in the chain's last block, or seenWithin is
// over.
func (w *World) seen(ctx context.Context, n *embedded) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if head, err := n.node.Head(); err != nil || w.exchange.Board.State(n.id).Tip == head {
			return
		}
		select {
		case n.changed <- struct{}{}:
		default: // it is signalled already
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Mine adds blocks to a network's chain.
func (w *World) Mine(ctx context.Context, symbol bourse.Symbol, blocks int) (uint64, error) {
	n, err := w.find(symbol)
	if err != nil {
		return 0, err
	}
	head, err := n.node.Mine(max(blocks, 1))
	if err == nil {
		w.seen(ctx, n)
	}
	return head.Height, err
}

// Reorg replaces the last blocks of a network's chain.
func (w *World) Reorg(ctx context.Context, symbol bourse.Symbol, depth int, drop bool) (uint64, error) {
	n, err := w.find(symbol)
	if err != nil {
		return 0, err
	}
	head, err := n.node.Reorg(depth, drop)
	if err == nil {
		w.seen(ctx, n)
	}
	return head.Height, err
}

// coin returns a network, and its coin for an asset.
func (w *World) coin(network, symbol bourse.Symbol) (*embedded, chain.Coin, error) {
	n, err := w.find(network)
	if err != nil {
		return nil, chain.Coin{}, err
	}
	_, terms, assets := w.carried(n)
	for _, t := range terms {
		if assets[t.Asset].Symbol == symbol {
			if coin, ok := n.client.Shape().Coin(chain.CoinOf(symbol, t.Contract)); ok {
				return n, coin, nil
			}
		}
	}
	return nil, chain.Coin{}, bourse.Errorf(bourse.CodeNotFound, "%s does not move on %s", symbol, n.params.Symbol)
}

// Send pays from an address of the outside world.
func (w *World) Send(symbol bourse.Symbol, address string, asset bourse.Symbol, amount, memo string) (string, error) {
	n, coin, err := w.coin(symbol, asset)
	if err != nil {
		return "", err
	}
	sent, err := bourse.ParseAmount(amount, coin.Decimals)
	if err != nil {
		return "", bourse.Errorf(bourse.CodeInvalid, "amount: %v", err)
	}
	tx, err := n.node.Send(chain.Pay{To: chain.Destination{Address: address, Memo: memo}, Coin: coin.ID, Amount: sent})
	if known := (*bourse.Error)(nil); errors.As(err, &known) {
		return "", err
	} else if err != nil {
		return "", bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return n.client.FormatHash(tx), nil
}

// Address returns a new address of the outside world.
func (w *World) Address(symbol bourse.Symbol) (string, error) {
	n, err := w.find(symbol)
	if err != nil {
		return "", err
	}
	return n.node.NewAddress()
}

// Balance returns the balance of an address on the chain.
func (w *World) Balance(symbol bourse.Symbol, address string, asset bourse.Symbol) (string, error) {
	n, coin, err := w.coin(symbol, asset)
	if err != nil {
		return "", err
	}
	has, err := n.node.Balance(address, coin.ID)
	return has.Format(coin.Decimals), err
}

// Stop makes a network's node silent, or lets it answer again.
func (w *World) Stop(symbol bourse.Symbol, stopped bool) error {
	n, err := w.find(symbol)
	if err != nil {
		return err
	}
	return n.node.Stop(stopped)
}

// Lag has a network's node fall behind by some blocks, or catch up.
func (w *World) Lag(symbol bourse.Symbol, blocks int) error {
	n, err := w.find(symbol)
	switch {
	case err != nil:
		return err
	case blocks < 0:
		return bourse.Errorf(bourse.CodeInvalid, "blocks: must not be negative")
	}
	return n.node.Lag(uint64(blocks))
}

// Networks lists the networks.
func (w *World) Networks() []bourse.Symbol {
	list := make([]bourse.Symbol, len(w.networks))
	for i, n := range w.networks {
		list[i] = n.params.Symbol
	}
	return list
}

// Owned returns the exchange's assets on the chain, and the height of the count: the sum
// over all addresses ever given out.
func (w *World) Owned(symbol bourse.Symbol) (uint64, map[bourse.Symbol]string, error) {
	n, err := w.find(symbol)
	if err != nil {
		return 0, nil, err
	}

	addresses := map[string]bool{n.client.Destination(chain.IndexChange).Address: true}
	for index := range w.exchange.Board.Accounts() + 1 {
		addresses[n.client.Destination(index).Address] = true
	}
	_, terms, assets := w.carried(n)

	for {
		head, err := n.node.Head()
		if err != nil {
			return 0, nil, err
		}
		owned := map[bourse.Symbol]string{}
		for _, t := range terms {
			asset := assets[t.Asset]
			coin, moves := n.client.Shape().Coin(chain.CoinOf(asset.Symbol, t.Contract))
			if !moves {
				continue
			}
			sum, err := w.sum(n, addresses, coin.ID)
			if err != nil {
				return 0, nil, err
			}
			if !sum.IsZero() {
				owned[asset.Symbol] = sum.Format(coin.Decimals)
			}
		}
		if now, err := n.node.Head(); err != nil || now == head {
			return head.Height, owned, err
		}
	}
}

// sum adds up the balances of addresses in a coin.
func (w *World) sum(n *embedded, addresses map[string]bool, coin chain.CoinID) (sum bourse.Amount, err error) {
	for address := range addresses {
		has, err := n.node.Balance(address, coin)
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(has)
	}
	return sum, nil
}
