package cosmos

import (
	"fmt"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// Codec knows a network's addresses and transactions, and which are the exchange's. It implements [chain.Codec].
type Codec struct {
	params *Params
	shape  chain.Shape
	// hot is the shared address, and key its public key.
	hot string
	key []byte
	// fees is the address of the module that takes fees.
	fees string
	// denoms are the coins by denomination.
	denoms map[string]chain.CoinID
	memos  chain.Memos
}

var _ chain.Codec = (*Codec)(nil)

// NewCodec returns the codec of a network for the exchange with these keys.
func NewCodec(p *Params, k *hdkeys.Public) (*Codec, error) {
	public := k.Key(chain.IndexHot)
	c := &Codec{
		params: p, hot: p.addressOf(public), key: public.SerializeCompressed(), fees: p.moduleAddress("fee_collector"),
		denoms: map[string]chain.CoinID{p.Denom: p.Coin},
		shape: chain.Shape{
			Coins:  append([]chain.Coin{{ID: p.Coin, Decimals: p.Decimals}}, p.Tokens...),
			Native: p.Coin, MemoName: "Memo",
		},
	}
	for _, t := range p.Tokens {
		if !p.Moves(t.ID) {
			return nil, fmt.Errorf("%q is no denomination of a coin of its own", t.ID)
		}
		c.denoms[string(t.ID)] = t.ID
	}
	return c, nil
}

// denom returns the denomination of a coin; false for one that is not listed.
func (c *Codec) denom(id chain.CoinID) (string, bool) {
	if id == c.params.Coin {
		return c.params.Denom, true
	}
	_, ok := c.denoms[string(id)]
	return string(id), ok && string(id) != c.params.Denom
}

// Shape returns the network's shape.
func (c *Codec) Shape() *chain.Shape { return &c.shape }

// Destination returns the shared address, with the memo of an account.
func (c *Codec) Destination(index uint32) chain.Destination {
	return chain.Destination{Address: c.hot, Memo: c.memos.Of(index)}
}

// Watch makes the accounts up to this id known to Owner.
func (c *Codec) Watch(last uint32) { c.memos.Watch(last) }

// Owner returns the owner of an address and memo.
func (c *Codec) Owner(address, memo string) (chain.Owner, bool) {
	if text, err := c.params.parseAddress(address); err != nil || text != c.hot {
		return chain.Owner{}, false
	}
	return c.memos.Owner(memo), true
}

// ParseAddress returns the canonical form of an address of this network.
func (c *Codec) ParseAddress(s string) (string, error) { return c.params.parseAddress(s) }

// ParseMemo returns the canonical form of a memo.
func (c *Codec) ParseMemo(s string) (string, error) { return chain.ParseMemo(s) }

// FormatHash writes a hash in the network's form.
func (c *Codec) FormatHash(h chain.Hash) string { return formatHash(h) }

// PaymentURI returns false: the wallets of the family share no form.
func (c *Codec) PaymentURI(chain.CoinID, chain.Destination) (string, bool) { return "", false }

// Decode returns all effects of a transaction.
func (c *Codec) Decode(raw []byte) (chain.Decoded, error) {
	t, err := c.open(raw)
	if err != nil {
		return chain.Decoded{}, err
	}
	d := chain.Decoded{
		From: chain.IndexHot, Nonce: t.sequence, Cost: t.fee,
		Pays: []chain.Pay{{To: chain.Destination{Address: t.to, Memo: t.memo}, Coin: c.denoms[t.denom], Amount: t.amount}},
	}
	if t.signature == nil {
		return d, nil
	}
	if !c.verify(t) {
		return chain.Decoded{}, errSignature
	}
	d.Hash, d.Signed = t.hash(c), true
	return d, nil
}
