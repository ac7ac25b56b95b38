package devnet

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Codec implements [chain.Codec] from a public key.
type Codec struct {
	params *Params
	key    PublicKey
	shape  chain.Shape
	// cold is the key of cold storage, and kept has the indices of its addresses; empty without.
	cold PublicKey
	kept map[program]uint32

	// memos are those of a network with one shared address.
	memos chain.Memos

	mu   sync.RWMutex
	last uint32
	// known maps addresses to accounts; empty on a network with one shared address.
	known map[program]uint32
}

// NewCodec returns the codec of the exchange with this public key.
func NewCodec(p *Params, key PublicKey) *Codec {
	return &Codec{params: p, key: key, shape: p.Shape, known: map[program]uint32{}}
}

// Keep makes the addresses of cold storage known, on a network of outputs. It is called before any other method, and at
// most once.
func (c *Codec) Keep(cold PublicKey) {
	tag := binary.LittleEndian.Uint32(cold[:]) & (1<<chain.ColdTagBits - 1)
	c.cold, c.shape.Cold, c.kept = cold, chain.IndexCold|tag<<chain.ColdNumberBits, map[program]uint32{}
	for n := range uint32(chain.ColdAddresses) {
		c.kept[c.params.program(cold, n)] = c.shape.Cold + n
	}
}

// Shape returns the network's shape.
func (c *Codec) Shape() *chain.Shape { return &c.shape }

func (c *Codec) shared() bool { return c.params.Shape.MemoName != "" }

// Destination returns the deposit address of an account.
func (c *Codec) Destination(index uint32) chain.Destination {
	if index == chain.IndexChange && !c.params.Shape.Outputs {
		index = chain.IndexHot
	}
	if c.shape.KeepsCold(index) {
		return chain.Destination{Address: c.params.address(c.cold, index-c.shape.Cold)}
	}
	if !c.shared() {
		return chain.Destination{Address: c.params.address(c.key, index)}
	}
	return chain.Destination{Address: c.params.address(c.key, chain.IndexHot), Memo: c.memos.Of(index)}
}

// Watch makes the accounts up to this id known to Owner.
func (c *Codec) Watch(last uint32) {
	if c.shared() {
		c.memos.Watch(last)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.last < last {
		c.last++
		c.known[c.params.program(c.key, c.last)] = c.last
	}
}

// Owner returns the owner of an address and memo.
func (c *Codec) Owner(address, memo string) (chain.Owner, bool) {
	to, err := c.params.parseAddress(address)
	if err != nil {
		return chain.Owner{}, false
	}
	if index, kept := c.kept[to]; kept {
		return chain.Owner{Kind: chain.OwnerTreasury, Index: index, At: index}, true
	}
	switch {
	case to == c.params.program(c.key, chain.IndexHot):
		if c.shared() {
			return c.memos.Owner(memo), true
		}
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexHot, At: chain.IndexHot}, true
	case c.params.Shape.Outputs && to == c.params.program(c.key, chain.IndexChange):
		return chain.Owner{Kind: chain.OwnerTreasury, Index: chain.IndexChange, At: chain.IndexChange}, true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	index, ok := c.known[to]
	if !ok {
		return chain.Owner{}, false
	}
	return chain.Owner{Kind: chain.OwnerCustomer, Index: index, At: index}, true
}

// ParseAddress returns the canonical form of an address.
func (c *Codec) ParseAddress(s string) (string, error) {
	to, err := c.params.parseAddress(s)
	if err != nil {
		return "", err
	}
	return c.params.formatAddress(to), nil
}

// ParseMemo returns the canonical form of a memo.
func (c *Codec) ParseMemo(s string) (string, error) {
	if !c.shared() {
		return "", bourse.Errorf(bourse.CodeInvalid, "this network has no memos")
	}
	return chain.ParseMemo(s)
}

// FormatHash writes a block's or transaction's hash.
func (c *Codec) FormatHash(h chain.Hash) string {
	text, _ := digest(h).MarshalText() // never fails
	if c.params.form == formHex {
		return "0x" + string(text)
	}
	return string(text)
}

// PaymentURI returns a URL that opens a payer's wallet with the payment. Only the native
// coin of a network without memos has one; no form for tokens is widely known.
func (c *Codec) PaymentURI(coin chain.CoinID, to chain.Destination) (string, bool) {
	if c.params.scheme == "" || coin != c.params.Shape.Native {
		return "", false
	}
	return c.params.scheme + to.Address + c.params.suffix, true
}

// Decode returns all effects of a transaction.
func (c *Codec) Decode(raw []byte) (chain.Decoded, error) {
	t, err := c.params.parseTx(raw)
	if err != nil {
		return chain.Decoded{}, err
	}
	if t.Call {
		return chain.Decoded{}, errCall
	}
	d := chain.Decoded{Hash: t.hash(), Nonce: t.Nonce}
	if err := c.decodePayers(t, &d); err != nil {
		return chain.Decoded{}, err
	}
	for _, out := range t.Outputs {
		to := chain.Destination{Address: out.Address, Memo: t.Memo}
		d.Pays = append(d.Pays, chain.Pay{To: to, Coin: out.Coin, Amount: bourse.Amount(out.Amount)})
	}
	d.Cost, err = c.params.costOfTx(t)
	return d, err
}

var errCall = errors.New("a call of a contract")

// decodePayers checks the payers' indices against the addresses, since an index alone
// proves nothing.
func (c *Codec) decodePayers(t *transaction, d *chain.Decoded) error {
	payers := t.payers()
	if len(t.Witness) != len(payers) {
		return errSignature
	}

	signatures := 0
	owners := make([]uint32, len(payers))
	for i, w := range t.Witness {
		var ours bool
		if owners[i], ours = c.payer(w.Index, payers[i]); !ours {
			return errForeign
		}
		if len(w.Key)+len(w.Signature) > 0 {
			signatures++
		}
	}

	if signatures > 0 {
		if err := c.params.verify(t); err != nil {
			return err
		}
		d.Signed = true
	}

	if t.From != "" {
		d.From = t.Witness[0].Index
	}

	for i := range t.Inputs {
		in := &t.Inputs[i]
		d.Inputs = append(d.Inputs, chain.Input{
			Outpoint: in.outpoint(), Owner: owners[i], Coin: in.Coin, Amount: bourse.Amount(in.Amount),
		})
	}
	return nil
}

// payer returns the index of an address that the exchange's key, or that of cold storage, has under a number; false if
// neither has it.
func (c *Codec) payer(number uint32, address string) (index uint32, ours bool) {
	switch {
	case c.params.address(c.key, number) == address:
		return number, true
	case c.kept != nil && number < chain.ColdAddresses && c.params.address(c.cold, number) == address:
		return c.shape.Cold + number, true
	}
	return 0, false
}

var errUnbalanced = errors.New("outputs and inputs do not match")

// costOfTx returns a transaction's maximum cost. Outputs of any coin but the native one
// must equal its inputs.
func (p *Params) costOfTx(t *transaction) (cost bourse.Amount, err error) {
	if !p.Shape.Outputs {
		return costOf(t.Gas, t.Price), nil
	}
	for _, coin := range p.Shape.Coins {
		in, out, ok := t.sums(coin.ID)
		over, enough := in.Sub(out)
		switch {
		case !ok || !enough, coin.ID != p.Shape.Native && !over.IsZero():
			return bourse.Amount{}, errUnbalanced
		case coin.ID == p.Shape.Native:
			cost = over
		}
	}
	return cost, nil
}

// sums returns the sums of a coin's inputs and outputs; false on overflow.
func (t *transaction) sums(coin chain.CoinID) (in, out bourse.Amount, ok bool) {
	ok = true
	for i := range t.Inputs {
		if t.Inputs[i].Coin == coin && ok {
			in, ok = in.Add(bourse.Amount(t.Inputs[i].Amount))
		}
	}
	for i := range t.Outputs {
		if t.Outputs[i].Coin == coin && ok {
			out, ok = out.Add(bourse.Amount(t.Outputs[i].Amount))
		}
	}
	return in, out, ok
}

// size returns the charged size of a transaction of outputs, in units of the rate.
func size(inputs, outputs int) uint64 {
	const base, perInput, perOutput = 100, 70, 40
	return base + perInput*uint64(inputs) + perOutput*uint64(outputs)
}
