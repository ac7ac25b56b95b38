package evm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Broadcast sends a signed transaction to the node.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (chain.Verdict, error) {
	unknown := chain.Verdict{Kind: chain.Unknown}
	d, err := c.Decode(raw)
	if err != nil {
		return unknown, err
	}
	if !d.Signed {
		return unknown, errSignature
	}
	p, err := c.open(raw)
	if err != nil {
		return unknown, err
	}

	at, err := c.lookUp(ctx, d.Hash)
	if err != nil {
		return unknown, err
	}
	if at != nil {
		return chain.Verdict{Kind: chain.Known}, nil
	}
	return c.send(ctx, p, d.Hash)
}

// send sends a transaction that the node did not have.
func (c *Client) send(ctx context.Context, p *payment, hash chain.Hash) (chain.Verdict, error) {
	unknown := chain.Verdict{Kind: chain.Unknown}
	var name digest
	err := c.options.Node.Call(ctx, &name, "eth_sendRawTransaction", data(p.broadcastable()))
	refusal := new(rpc.Error)
	switch {
	case err == nil && chain.Hash(name) != hash:
		return unknown, odd("a verdict on another transaction")
	case err == nil:
		return chain.Verdict{Kind: chain.Accepted}, nil
	case !errors.As(err, &refusal):
		return unknown, err
	}

	words := strings.ToLower(refusal.Message)
	has := func(w string) bool { return strings.Contains(words, w) }
	switch {
	case slices.ContainsFunc(knownWords, has) && !has("unknown"):
		return chain.Verdict{Kind: chain.Known}, nil
	case refusal.Code > codeServer || refusal.Code < codeServer-serverCodes:
		return unknown, odd("%v", refusal)
	case has("nonce too low"):
		// A transaction took the nonce meanwhile, and it may be this one.
		at, err := c.lookUp(ctx, hash)
		if err != nil {
			return unknown, err
		}
		if at != nil {
			return chain.Verdict{Kind: chain.Known}, nil
		}
	}
	return chain.Verdict{Kind: chain.Rejected, Reason: refusal.Error()}, nil
}

// serverCodes is the number of codes from codeServer down by which nodes refuse a transaction.
const serverCodes = 100

// knownWords are those of nodes about a transaction that waits already: of geth, anvil and Erigon,
// and of gateways.
var knownWords = []string{"already known", "already imported", "known transaction", "in cache", "already in mempool"}

// lookUp returns a transaction as the node has it, waiting or mined; nil if it has none.
func (c *Client) lookUp(ctx context.Context, hash chain.Hash) (*transaction, error) {
	var t *transaction
	if err := c.ask(ctx, &t, "eth_getTransactionByHash", formatHash(hash)); err != nil || t == nil {
		return nil, err
	}
	raw, err := t.encode(true)
	if err != nil || keccak(raw) != hash || chain.Hash(t.Hash) != hash {
		return nil, odd("a transaction that is not the one asked for")
	}
	return t, nil
}

// State returns the state of a signed transaction.
func (c *Client) State(ctx context.Context, raw []byte) (chain.TxState, error) {
	d, err := c.Decode(raw)
	if err != nil {
		return chain.TxState{}, err
	}

	// The nonce is asked first: if it is taken now and the transaction is not mined later, another
	// transaction has taken it.
	next, err := c.Nonce(ctx, d.From)
	if err != nil {
		return chain.TxState{}, err
	}
	t, err := c.lookUp(ctx, d.Hash)
	if err != nil {
		return chain.TxState{}, err
	}
	head, err := c.head(ctx, c.options.Read)
	if err != nil {
		return chain.TxState{}, err
	}

	if t != nil && t.Block != nil {
		return c.mined(ctx, t, head, &d)
	}
	switch {
	case next > d.Nonce:
		return chain.TxState{Status: chain.TxConflicted}, nil
	case t != nil:
		return chain.TxState{Status: chain.TxWaiting}, nil
	}
	return chain.TxState{Status: chain.TxAbsent}, nil
}

// mined returns the state of a transaction that the node says is in a block. Above the head it
// counts as waiting.
func (c *Client) mined(ctx context.Context, t *transaction, head *header, d *chain.Decoded) (chain.TxState, error) {
	if t.Above == nil {
		return chain.TxState{}, odd("a transaction in a block without a height")
	}
	height, fits := t.Above.uint64()
	if !fits || height > head.height() {
		return chain.TxState{Status: chain.TxWaiting}, nil
	}

	b, err := c.Block(ctx, height)
	if err != nil {
		return chain.TxState{}, err
	}
	i := slices.IndexFunc(b.Txs, func(tx chain.Tx) bool { return tx.Hash == d.Hash })
	if i < 0 || b.Hash != chain.Hash(*t.Block) {
		return chain.TxState{}, odd("a transaction that is not in its block")
	}
	return chain.TxState{
		Status: chain.TxMined, Block: b.BlockRef, Confirms: head.height() - height + 1, Failed: !paid(&b.Txs[i], d),
	}, nil
}

// paid reports whether a mined transaction made its payment. A token can refuse a transfer without
// failing the transaction.
func paid(tx *chain.Tx, d *chain.Decoded) bool {
	return slices.ContainsFunc(tx.Credits, func(g chain.Credit) bool {
		p := &d.Pays[0]
		return g.Address == p.To.Address && g.Coin == p.Coin && g.Amount == p.Amount
	})
}

// Balance returns an address's balance at the head.
func (c *Client) Balance(ctx context.Context, text string, coin chain.CoinID) (bourse.Amount, error) {
	a, err := parseAddress(text)
	if err != nil {
		return bourse.Amount{}, err
	}
	if _, ok := c.shape.Coin(coin); !ok {
		return bourse.Amount{}, errUnknown
	}

	var units quantity
	if coin == c.params.Coin {
		err = c.ask(ctx, &units, "eth_getBalance", data(a[:]), string(c.options.Read))
	} else {
		units, err = c.tokens(ctx, a, coin)
	}
	if err != nil {
		return bourse.Amount{}, err
	}
	amount, fits := units.amount()
	if !fits {
		return bourse.Amount{}, odd("a balance that cannot be")
	}
	return amount, nil
}

// tokens returns an address's balance of a token; nothing where there is no contract.
func (c *Client) tokens(ctx context.Context, of address, coin chain.CoinID) (quantity, error) {
	contract, err := parseAddress(string(coin))
	if err != nil {
		return nil, err
	}
	word, err := c.call(ctx, contract, appendWord(append([]byte(nil), selectBalance...), of[:]))
	if err == nil && len(word) != wordSize && len(word) > 0 {
		err = odd("a balance of %d bytes", len(word))
	}
	return trim(word), err
}

// maxNonce exceeds the payments that one address can ever make.
const maxNonce = 1 << 40

// Nonce returns the next nonce of an own address at the head.
func (c *Client) Nonce(ctx context.Context, index uint32) (uint64, error) {
	a := c.address(index)
	n, err := c.askUint(ctx, "eth_getTransactionCount", data(a[:]), string(c.options.Read))
	if err == nil && n > maxNonce {
		err = odd("a nonce of %d", n)
	}
	return n, err
}
