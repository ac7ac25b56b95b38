package evm

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// Codec knows a network's addresses and transactions, and which addresses are the exchange's. It
// implements [chain.Codec].
type Codec struct {
	params *Params
	keys   *hdkeys.Public
	shape  chain.Shape
	// contracts are the listed tokens.
	contracts map[address]chain.Coin
	owners    *hdkeys.Owners
}

var _ chain.Codec = (*Codec)(nil)

// NewCodec returns the codec of a network for the exchange with these keys.
func NewCodec(p *Params, k *hdkeys.Public) (*Codec, error) { return newCodec(p, k, NewOwners(k)) }

// NewOwners returns the owners of addresses that are derived from public keys.
func NewOwners(k *hdkeys.Public) *hdkeys.Owners {
	return hdkeys.NewOwners(func(index uint32) [20]byte { return addressOf(k.Key(index)) })
}

// newCodec returns the codec of a network whose accounts others may watch too.
func newCodec(p *Params, k *hdkeys.Public, owners *hdkeys.Owners) (*Codec, error) {
	contracts, err := p.contracts()
	if err != nil {
		return nil, err
	}
	return &Codec{
		params: p, keys: k, contracts: contracts, owners: owners,
		shape: chain.Shape{
			Coins: append([]chain.Coin{{ID: p.Coin, Decimals: etherDecimals}}, p.Tokens...), Native: p.Coin, Sweeps: true, Replaces: true,
		},
	}, nil
}

// Shape returns the network's shape.
func (c *Codec) Shape() *chain.Shape { return &c.shape }

// address returns the address with an index.
func (c *Codec) address(index uint32) address { return addressOf(c.keys.Key(index)) }

// Destination returns the address with an index.
func (c *Codec) Destination(index uint32) chain.Destination {
	a := c.address(index)
	c.owners.Show(index, (*[20]byte)(&a))
	return chain.Destination{Address: a.String()}
}

// Watch makes the accounts up to this id known to Owner.
func (c *Codec) Watch(last uint32) { c.owners.Watch(last) }

// Owner returns the owner of an address.
func (c *Codec) Owner(text, _ string) (chain.Owner, bool) {
	a, err := parseAddress(text)
	if err != nil {
		return chain.Owner{}, false
	}
	return c.owners.Of((*[20]byte)(&a))
}

// owns reports whether an address is the exchange's.
func (c *Codec) owns(a *address) bool { return c.owners.Has((*[20]byte)(a)) }

// ParseAddress returns the canonical form of an address of this network.
func (c *Codec) ParseAddress(s string) (string, error) {
	if _, err := c.destination(s); err != nil {
		return "", err
	}
	return s, nil
}

// destination reads an address that a payment may have. The error is an *bourse.Error.
func (c *Codec) destination(s string) (address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return address{}, err
	}
	if _, token := c.contracts[a]; token || a.special() {
		return address{}, bourse.Errorf(bourse.CodeInvalid, "address is a contract's that keeps what it is sent")
	}
	return a, nil
}

// ParseMemo refuses every memo: the network has none.
func (c *Codec) ParseMemo(string) (string, error) {
	return "", bourse.Errorf(bourse.CodeInvalid, "%s has no memos", c.params.Coin)
}

// FormatHash writes a hash in the network's form.
func (c *Codec) FormatHash(h chain.Hash) string { return formatHash(h) }

// PaymentURI returns a URI of EIP-681 for the native coin.
func (c *Codec) PaymentURI(coin chain.CoinID, to chain.Destination) (string, bool) {
	if coin != c.params.Coin {
		return "", false
	}
	return fmt.Sprintf("ethereum:%s@%d", to.Address, c.params.Chain), true
}

// coinAt returns the coin that a transaction to an address moves: a listed token, or the native
// coin.
func (c *Codec) coinAt(a *address) (coin chain.Coin, token bool) {
	if coin, token = c.contracts[*a]; token {
		return coin, true
	}
	return c.shape.Coins[0], false
}

// Decode returns all effects of a transaction.
func (c *Codec) Decode(raw []byte) (chain.Decoded, error) {
	t, err := c.open(raw)
	if err != nil {
		return chain.Decoded{}, err
	}
	pay, err := c.pay(t)
	if err != nil {
		return chain.Decoded{}, err
	}

	d := chain.Decoded{From: t.owner, Nonce: t.nonce, Pays: []chain.Pay{pay}, Cost: t.cost()}
	if t.r == nil {
		return d, nil
	}
	if from, ok := t.sender(); !ok || from != c.address(t.owner) {
		return chain.Decoded{}, errSignature
	}
	d.Hash, d.Signed = t.hash(), true
	return d, nil
}
