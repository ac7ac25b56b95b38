package evm

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// A payment of ours travels in an envelope, because its own bytes name its sender by the signature
// alone:
//
//	"etx" 1        4 bytes, the form
//	owner          4 bytes, little-endian: the index of the address that pays
//	transaction    of type 2, as it is broadcast; unsigned, without its last three fields
const (
	envelopeForm = "etx\x01"
	envelopeHead = len(envelopeForm) + 4
	// maxEnvelope is above the size of a payment, in bytes.
	maxEnvelope = 512

	// gasPlain is the gas of a payment of the native coin to an address without code.
	gasPlain = 21_000
	// maxGas bounds the gas of a payment.
	maxGas = 300_000
)

var (
	errEnvelope  = errors.New("not a payment of this network")
	errSignature = errors.New("a signature is missing or wrong")
)

// payment is a transaction of the exchange.
type payment struct {
	chain      uint64
	owner      uint32
	nonce      uint64
	tip, price uint64
	gas        uint64
	to         address
	value      quantity
	input      []byte
	// v, r and s are the signature; r is nil for none.
	v    byte
	r, s quantity
}

// transaction returns the payment's own fields.
func (p *payment) transaction() *transaction {
	return &transaction{
		Type: ofUint(typeDynamicFee), ChainID: ofUint(p.chain), Nonce: ofUint(p.nonce), MaxTip: ofUint(p.tip),
		MaxFee: ofUint(p.price), Gas: ofUint(p.gas), To: p.to[:], Value: p.value, Input: p.input,
		V: ofUint(uint64(p.v)), R: p.r, S: p.s,
	}
}

// broadcastable returns the transaction's own bytes, with a signature if there is one.
func (p *payment) broadcastable() []byte {
	raw, err := p.transaction().encode(p.r != nil)
	if err != nil {
		bourse.Impossible("a payment of ours: %v", err)
	}
	return raw
}

// hash returns the signed transaction's name.
func (p *payment) hash() chain.Hash { return keccak(p.broadcastable()) }

// cost returns the payment's maximum cost.
func (p *payment) cost() bourse.Amount {
	return costMost(p.gas, p.price)
}

// costMost returns the cost of gas at a price of 64 bits, which is always an amount.
func costMost(gas, price uint64) bourse.Amount {
	cost, ok := bourse.Units(gas).Mul(price)
	if !ok {
		bourse.Impossible("%d gas at %d", gas, price)
	}
	return cost
}

// sender returns the address that signed the payment.
func (p *payment) sender() (address, bool) { return p.transaction().sender() }

// seal returns a payment's envelope.
func (p *payment) seal() []byte {
	b := append(make([]byte, 0, maxEnvelope), envelopeForm...)
	b = binary.LittleEndian.AppendUint32(b, p.owner)
	return append(b, p.broadcastable()...)
}

// open reads an envelope in the one encoding that seal makes. Nothing of the payment's effects is
// checked.
func (c *Codec) open(raw []byte) (p *payment, err error) {
	if len(raw) < envelopeHead+1 || len(raw) > maxEnvelope || string(raw[:len(envelopeForm)]) != envelopeForm ||
		raw[envelopeHead] != typeDynamicFee {
		return nil, errEnvelope
	}
	all := &reader{b: raw[envelopeHead+1:]}
	fields := all.list()
	if !all.end() {
		return nil, errEnvelope
	}

	p = &payment{owner: binary.LittleEndian.Uint32(raw[len(envelopeForm):])}
	p.chain, p.nonce, p.tip, p.price = fields.uint64(), fields.uint64(), fields.uint64(), fields.uint64()
	p.gas = fields.uint64()
	to := fields.bytes()
	p.value = fields.number(wordSize)
	p.input = fields.bytes()
	accesses := fields.list()
	if fields.bad || len(to) != len(p.to) || !accesses.end() || p.chain != c.params.Chain ||
		!hdkeys.Derivable(p.owner) {
		return nil, errEnvelope
	}
	copy(p.to[:], to)

	if !fields.end() {
		v := fields.uint64()
		p.v, p.r, p.s = byte(v), fields.number(wordSize), fields.number(wordSize)
		if !fields.end() || v > 1 || !lowSignature(p.r, p.s) {
			return nil, errSignature
		}
	}
	if !bytes.Equal(p.seal(), raw) || p.tip > p.price || p.gas == 0 || p.gas > maxGas {
		return nil, errEnvelope
	}
	return p, nil
}

// halfOrder is half of the order of secp256k1: a network takes no signature whose s is above it
// (EIP-2).
var halfOrder = []byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// lowSignature reports whether a signature's numbers are there, and s is the lower of its two.
func lowSignature(r, s quantity) bool {
	return len(r) > 0 && len(s) > 0 && (len(s) < wordSize || bytes.Compare(s, halfOrder) <= 0)
}

// selectors of a token's functions: the first bytes of the hash of transfer(address,uint256),
// balanceOf(address) and decimals().
var (
	selectTransfer = selector("transfer(address,uint256)")
	selectBalance  = selector("balanceOf(address)")
	selectDecimals = selector("decimals()")
)

func selector(signature string) []byte {
	h := keccak([]byte(signature))
	return h[:4]
}

// appendWord appends a number or an address, padded to a word.
func appendWord(b, s []byte) []byte {
	return append(append(b, make([]byte, wordSize-len(s))...), s...)
}

// addressWord returns the address in a word; false if it is none.
func addressWord(w []byte) (a address, ok bool) {
	at := len(w) - len(a)
	if len(w) != wordSize || len(trim(w[:at])) > 0 {
		return a, false
	}
	return address(w[at:]), true
}

// trim returns a number without leading zeros.
func trim(w []byte) quantity { return bytes.TrimLeft(w, "\x00") }

// pay returns the one payment of a transaction: the native coin without data, or a listed token by
// its function transfer. A signed payment of the native coin may be to a listed contract: it was signed
// before the listing, and is read as long as it is on record.
func (c *Codec) pay(p *payment) (chain.Pay, error) {
	coin, token := c.coinAt(&p.to)
	to, value, signed := p.to, p.value, p.r != nil
	if token && signed && len(p.input) == 0 {
		coin, token = c.shape.Coins[0], false
	}
	if token {
		const size = 4 + 2*wordSize
		if len(p.input) != size || !bytes.Equal(p.input[:4], selectTransfer) || len(p.value) > 0 {
			return chain.Pay{}, errEnvelope
		}
		var ok bool
		if to, ok = addressWord(p.input[4 : 4+wordSize]); !ok {
			return chain.Pay{}, errEnvelope
		}
		value = trim(p.input[4+wordSize:])
	} else if len(p.input) > 0 {
		return chain.Pay{}, errEnvelope
	}

	amount, fits := value.amount()
	if _, err := c.destination(to.String()); err != nil && !signed || !fits || amount.IsZero() {
		return chain.Pay{}, errEnvelope
	}
	return chain.Pay{To: chain.Destination{Address: to.String()}, Coin: coin.ID, Amount: amount}, nil
}

// Keys are the private keys of the exchange on a network. They implement [chain.Keyring].
type Keys struct {
	private *hdkeys.Private
	codec   *Codec
}

var _ chain.Keyring = (*Keys)(nil)

// NewKeys derives a network's keys from a seed, by BIP 44.
func NewKeys(p *Params, seed []byte) (*Keys, error) {
	private, err := form().Derive(seed)
	if err != nil {
		return nil, err
	}
	codec, err := NewCodec(p, private.Public())
	if err != nil {
		return nil, err
	}
	return &Keys{private, codec}, nil
}

// Public returns the public keys.
func (k *Keys) Public() *hdkeys.Public { return k.private.Public() }

// Sign returns the signed transaction, in its envelope, and its hash.
func (k *Keys) Sign(raw []byte) (signed []byte, hash chain.Hash, err error) {
	p, err := k.codec.open(raw)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	p.r, p.s = nil, nil
	key, err := k.private.Key(p.owner)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	s := signCompact(key, keccak(p.broadcastable()))
	key.Zero()

	p.v, p.r, p.s = s[0]-legacyParity, trim(s[1:1+wordSize]), trim(s[1+wordSize:])
	return p.seal(), p.hash(), nil
}
