package devnet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// PublicKey is the base of a party's addresses. An address commits to the key and to an
// index, and spending from it reveals both. So one key has as many addresses as there are
// indices, and its public half is enough to derive all of them.
type PublicKey [ed25519.PublicKeySize]byte

// String returns the descriptor of the key.
func (k PublicKey) String() string { return "devnet(" + hex.EncodeToString(k[:]) + ")" }

// ParsePublicKey reads a descriptor.
func ParsePublicKey(s string) (k PublicKey, err error) {
	digits, ok := strings.CutPrefix(s, "devnet(")
	inner, closed := strings.CutSuffix(digits, ")")
	if b, err := hex.DecodeString(inner); ok && closed && err == nil && len(b) == len(k) {
		return PublicKey(b), nil
	}
	return k, errors.New("keys of an embedded network are like devnet(HEX)")
}

// Keys holds the private key of one party on one network. It implements
// [chain.Keyring].
type Keys struct {
	params  *Params
	private ed25519.PrivateKey
}

// NewKeys derives a network's keys from a party's seed.
func NewKeys(p *Params, seed [32]byte) *Keys {
	sum := sha256.Sum256(append([]byte("bourse devnet key "+string(p.Symbol)+" "), seed[:]...))
	return &Keys{p, ed25519.NewKeyFromSeed(sum[:])}
}

// Public returns the public key.
func (k *Keys) Public() (key PublicKey) {
	copy(key[:], k.private[ed25519.PublicKeySize:])
	return key
}

// program returns the content of the address with an index.
func (p *Params) program(key PublicKey, index uint32) (to program) {
	b := append([]byte("bourse devnet address "+string(p.Symbol)+" "), key[:]...)
	sum := sha256.Sum256(binary.LittleEndian.AppendUint32(b, index))
	copy(to[:], sum[:])
	return to
}

// address returns the address with an index.
func (p *Params) address(key PublicKey, index uint32) string {
	return p.formatAddress(p.program(key, index))
}

var (
	errForeign   = errors.New("spends from an address that is not the signer's")
	errSignature = errors.New("a signature is missing or wrong")
)

// Sign returns the signed transaction and its hash.
func (k *Keys) Sign(raw []byte) (signed []byte, hash chain.Hash, err error) {
	t, err := k.params.parseTx(raw)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	k.sign(t)
	if err := k.params.verify(t); err != nil {
		return nil, chain.Hash{}, err
	}
	return t.encode(), t.hash(), nil
}

func (k *Keys) sign(t *transaction) {
	hash, key := t.hash(), k.Public()
	for i := range t.Witness {
		w := &t.Witness[i]
		w.Key, w.Signature = key[:], ed25519.Sign(k.private, hash[:])
	}
}

// verify checks the signature of each address that a transaction spends from.
func (p *Params) verify(t *transaction) error {
	hash := t.hash()
	payers := t.payers()
	if len(t.Witness) != len(payers) {
		return errSignature
	}
	for i, w := range t.Witness {
		switch {
		case len(w.Key) != ed25519.PublicKeySize || len(w.Signature) != ed25519.SignatureSize:
			return errSignature
		case p.address(PublicKey(w.Key), w.Index) != payers[i]:
			return errForeign
		case !ed25519.Verify(ed25519.PublicKey(w.Key), hash[:], w.Signature):
			return errSignature
		}
	}
	return nil
}

// costOf returns the cost of gas or size at a price.
func costOf(units, price uint64) bourse.Amount {
	cost, ok := bourse.Units(units).Mul(price)
	if !ok {
		bourse.Impossible("%d units at %d", units, price)
	}
	return cost
}
