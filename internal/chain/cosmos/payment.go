package cosmos

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// A payment travels in an envelope, because a signature covers the account's number, which its bytes lack:
//
//	"ctx" 1       4 bytes, the form
//	signed        1 byte: 1 with a signature, 0 without
//	account       8 bytes, little-endian: the number that the chain gave the hot wallet
//	transaction   TxRaw, as it is broadcast; unsigned, without the signature
const (
	envelopeForm = "ctx\x01"
	envelopeHead = len(envelopeForm) + 1 + 8
	// maxEnvelope is above the size of a payment, in bytes.
	maxEnvelope = 2048
	// signatureBytes is the length of r and s.
	signatureBytes = 64

	// gasLimit is above the gas of a MsgSend with the longest memo to a new account. All of it is paid for.
	gasLimit = 200_000

	typeSend = "/cosmos.bank.v1beta1.MsgSend"
	typeKey  = "/cosmos.crypto.secp256k1.PubKey"
	// signDirect is the mode in which the bytes themselves are signed.
	signDirect = 1
)

var (
	errEnvelope  = errors.New("not a payment of this network")
	errSignature = errors.New("a signature is missing or wrong")
)

// payment is a payment of the hot wallet. It has no timeout: its bytes stay valid until a transaction with its sequence is mined.
type payment struct {
	account, sequence uint64
	fee               bourse.Amount
	gas               uint64
	to, memo, denom   string
	amount            bourse.Amount
	// signature is nil for none.
	signature []byte
}

// body returns the signed part with the message.
func (t *payment) body(c *Codec) []byte {
	send := appendCoin(appendText(appendText(nil, 1, c.hot), 2, t.to), 3, t.denom, t.amount)
	return appendText(appendBytes(nil, 1, anyOf(typeSend, send)), 2, t.memo)
}

// auth returns the signed part with the key, the sequence and the fee.
func (t *payment) auth(c *Codec) []byte {
	mode := appendBytes(nil, 1, appendNumber(nil, 1, signDirect))
	signer := appendBytes(appendBytes(nil, 1, anyOf(typeKey, appendBytes(nil, 1, c.key))), 2, mode)
	signer = appendNumber(signer, 3, t.sequence)
	fee := appendNumber(appendCoin(nil, 1, c.params.Denom, t.fee), 2, t.gas)
	return appendBytes(appendBytes(nil, 1, signer), 2, fee)
}

// broadcastable returns the transaction's own bytes, with a signature if there is one.
func (t *payment) broadcastable(c *Codec) []byte {
	raw := appendBytes(appendBytes(nil, 1, t.body(c)), 2, t.auth(c))
	if t.signature != nil {
		raw = appendBytes(raw, 3, t.signature)
	}
	return raw
}

// digest returns the hash that is signed.
func (t *payment) digest(c *Codec) [sha256.Size]byte {
	doc := appendText(appendBytes(appendBytes(nil, 1, t.body(c)), 2, t.auth(c)), 3, c.params.Chain)
	return sha256.Sum256(appendNumber(doc, 4, t.account))
}

// hash returns the signed transaction's name.
func (t *payment) hash(c *Codec) chain.Hash { return sha256.Sum256(t.broadcastable(c)) }

// seal returns a payment's envelope.
func (t *payment) seal(c *Codec) []byte {
	b := append(make([]byte, 0, maxEnvelope), envelopeForm...)
	if t.signature == nil {
		b = append(b, 0)
	} else {
		b = append(b, 1)
	}
	return append(binary.LittleEndian.AppendUint64(b, t.account), t.broadcastable(c)...)
}

// open reads an envelope in the one encoding that seal makes.
func (c *Codec) open(raw []byte) (*payment, error) {
	if len(raw) < envelopeHead || len(raw) > maxEnvelope || string(raw[:len(envelopeForm)]) != envelopeForm {
		return nil, errEnvelope
	}
	t := &payment{account: binary.LittleEndian.Uint64(raw[len(envelopeForm)+1:])}
	if err := c.parse(raw[envelopeHead:], t); err != nil {
		return nil, errEnvelope
	}

	to, err := c.params.parseAddress(t.to)
	if err != nil || to != t.to {
		return nil, errEnvelope
	}
	memo, err := chain.ParseMemo(t.memo)
	_, listed := c.denoms[t.denom]
	if err != nil || memo != t.memo || !listed || t.amount.IsZero() || t.fee.IsZero() || t.gas != gasLimit {
		return nil, errEnvelope
	}
	// What parse does not look at is the same in what seal writes: the sender, the key, and the mode.
	if !bytes.Equal(t.seal(c), raw) {
		return nil, errEnvelope
	}
	return t, nil
}

// parse reads the fields in which payments differ.
func (c *Codec) parse(tx []byte, t *payment) error {
	body, err := find(tx, 1)
	if err != nil {
		return err
	}
	auth, err := find(tx, 2)
	if err != nil {
		return err
	}
	if t.signature, err = find(tx, 3); err != nil || t.signature != nil && len(t.signature) != signatureBytes {
		return errWire
	}

	send, err := dig(body, 1, 2)
	if err != nil {
		return err
	}
	to, err := find(send, 2)
	if err != nil {
		return err
	}
	memo, err := find(body, 2)
	if err != nil {
		return err
	}
	t.to, t.memo = string(to), string(memo)
	coin, err := find(send, 3)
	if err != nil {
		return err
	}
	if t.denom, t.amount, err = parseCoin(coin); err != nil {
		return err
	}
	return t.parseAuth(auth)
}

// parseAuth reads the sequence and the fee.
func (t *payment) parseAuth(auth []byte) error {
	signer, err := find(auth, 1)
	if err != nil {
		return err
	}
	if t.sequence, err = findNumber(signer, 3); err != nil {
		return err
	}
	fee, err := find(auth, 2)
	if err != nil {
		return err
	}
	coin, err := find(fee, 1)
	if err != nil {
		return err
	}
	if _, t.fee, err = parseCoin(coin); err != nil {
		return err
	}
	t.gas, err = findNumber(fee, 2)
	return err
}

// verify reports whether the hot wallet signed a payment. Of a signature's two forms only that with the lower s counts.
func (c *Codec) verify(t *payment) bool {
	var r, s btcec.ModNScalar
	key, err := btcec.ParsePubKey(c.key)
	if err != nil || r.SetByteSlice(t.signature[:signatureBytes/2]) || s.SetByteSlice(t.signature[signatureBytes/2:]) ||
		r.IsZero() || s.IsZero() || s.IsOverHalfOrder() {
		return false
	}
	digest := t.digest(c)
	return ecdsa.NewSignature(&r, &s).Verify(digest[:], key)
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
	t, err := k.codec.open(raw)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	key, err := k.private.Key(chain.IndexHot)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	digest := t.digest(k.codec)
	s := ecdsa.SignCompact(key, digest[:], true)
	key.Zero()

	t.signature = slices.Clone(s[1:])
	return t.seal(k.codec), t.hash(k.codec), nil
}
