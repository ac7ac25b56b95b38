package bitcoin

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// Codec knows a network's addresses and transactions, and which addresses are the exchange's. It
// implements [chain.Codec].
type Codec struct {
	params *Params
	keys   *PublicKeys
	shape  chain.Shape
	owners *hdkeys.Owners
	// own tells the exchange's programs in blocks.
	own owner
	// cold is nil without cold storage; kept are the indices of its scripts.
	cold *Cold
	kept map[string]uint32
}

var _ chain.Codec = (*Codec)(nil)

// NewCodec returns the codec of a network for the exchange with these keys.
func NewCodec(p *Params, k *PublicKeys) *Codec { return newCodec(p, k, NewOwners(k)) }

// newCodec returns the codec of a network whose accounts others may watch too.
func newCodec(p *Params, k *PublicKeys, owners *hdkeys.Owners) *Codec {
	return &Codec{
		params: p, keys: k, owners: owners, own: owner{key: owners.Has},
		shape: chain.Shape{
			Coins: []chain.Coin{{ID: p.Coin, Decimals: decimals}}, Native: p.Coin, Outputs: true, Replaces: true,
		},
	}
}

// Keep makes the addresses of cold storage known. It is called before any other method, and at most once.
func (c *Codec) Keep(cold *Cold) {
	c.cold, c.shape.Cold, c.kept = cold, cold.First(), make(map[string]uint32, chain.ColdAddresses)
	for n := range uint32(chain.ColdAddresses) {
		c.kept[string(cold.script(n))] = cold.First() + n
	}

	has := func(script []byte) bool { _, kept := c.kept[string(script)]; return kept }
	if cold.need == 0 {
		c.own.key = func(program *[20]byte) bool { return c.owners.Has(program) || has(keyHashScript(*program)) }
		return
	}
	c.own.scriptSize = len(cold.witnessScript(0))
	c.own.script = func(program *[32]byte) bool { return has(scriptHashScript(*program)) }
}

// Shape returns the network's shape.
func (c *Codec) Shape() *chain.Shape { return &c.shape }

// Destination returns the address with an index.
func (c *Codec) Destination(index uint32) chain.Destination {
	if c.shape.KeepsCold(index) {
		return chain.Destination{Address: c.cold.Address(index - c.shape.Cold)}
	}
	program := c.keys.program(index)
	c.owners.Show(index, &program)
	return chain.Destination{Address: c.params.formatWitness(0, program[:])}
}

// Watch makes the accounts up to this id known to Owner.
func (c *Codec) Watch(last uint32) { c.owners.Watch(last) }

// Owner returns the owner of an address.
func (c *Codec) Owner(address, _ string) (chain.Owner, bool) {
	script, canonical, err := c.params.scriptOf(address)
	if err != nil || canonical != address {
		return chain.Owner{}, false
	}
	if index, kept := c.kept[string(script)]; kept {
		return chain.Owner{Kind: chain.OwnerTreasury, Index: index, At: index}, true
	}
	program, ok := witnessKeyHash(script)
	if !ok {
		return chain.Owner{}, false
	}
	return c.owners.Of(program)
}

// ParseAddress returns the canonical form of an address of this network.
func (c *Codec) ParseAddress(s string) (string, error) {
	_, canonical, err := c.params.scriptOf(s)
	if err != nil {
		return "", err
	}
	return canonical, nil
}

// ParseMemo refuses every memo: the network has none.
func (c *Codec) ParseMemo(string) (string, error) {
	return "", bourse.Errorf(bourse.CodeInvalid, "%s has no memos", c.params.Coin)
}

// FormatHash writes a hash in the network's form: its bytes in reverse order.
func (c *Codec) FormatHash(h chain.Hash) string { return formatHash(h) }

// PaymentURI returns a URI of BIP 21.
func (c *Codec) PaymentURI(coin chain.CoinID, to chain.Destination) (string, bool) {
	if coin != c.params.Coin {
		return "", false
	}
	return c.params.scheme + to.Address, true
}

// Decode returns all effects of a transaction.
func (c *Codec) Decode(raw []byte) (chain.Decoded, error) {
	t, err := c.params.open(raw)
	if err != nil {
		return chain.Decoded{}, err
	}
	d := chain.Decoded{Hash: t.hash(), Inputs: t.inputs}
	for _, out := range t.tx.TxOut {
		address, ok := c.params.addressOf(out.PkScript)
		if !ok {
			return chain.Decoded{}, errOutput
		}
		d.Pays = append(d.Pays, chain.Pay{
			To: chain.Destination{Address: address}, Coin: c.params.Coin, Amount: bourse.Units(uint64(out.Value)),
		})
	}
	if d.Cost, err = t.cost(); err != nil {
		return chain.Decoded{}, err
	}
	if d.Signed, err = c.signed(t); err != nil {
		return chain.Decoded{}, err
	}
	return d, nil
}
