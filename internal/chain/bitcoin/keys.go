package bitcoin

import (
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// purpose is the hardened index of BIP 84.
const purpose = 84

// form is the form of the network's keys.
func (p *Params) form() *hdkeys.Form {
	return &hdkeys.Form{
		Network: p.Name, Open: "wpkh(", Close: ")", Purpose: purpose, CoinType: p.coinType, Versions: p.base,
	}
}

// PublicKeys derive all addresses of the exchange on a network.
type PublicKeys struct{ *hdkeys.Public }

// ParseDescriptor reads the exchange's public keys: wpkh([FINGERPRINT/84h/COINh/ACCOUNTh]XPUB).
// A private key is refused.
func (p *Params) ParseDescriptor(s string) (*PublicKeys, error) {
	k, err := p.form().Parse(s)
	if err != nil {
		return nil, err
	}
	return &PublicKeys{k}, nil
}

// program returns the P2WPKH program of the address with an index.
func (k *PublicKeys) program(index uint32) (to [20]byte) {
	copy(to[:], hash160(k.Key(index).SerializeCompressed()))
	return to
}

// NewOwners returns the owners of addresses that are derived from public keys.
func NewOwners(k *PublicKeys) *hdkeys.Owners { return hdkeys.NewOwners(k.program) }

// Keys are the private keys of the exchange on a network. They implement [chain.Keyring].
type Keys struct {
	params  *Params
	private *hdkeys.Private
}

// NewKeys derives a network's keys from a seed, by BIP 84.
func NewKeys(p *Params, seed []byte) (*Keys, error) {
	private, err := p.form().Derive(seed)
	if err != nil {
		return nil, err
	}
	return &Keys{p, private}, nil
}

// Public returns the public keys.
func (k *Keys) Public() *PublicKeys { return &PublicKeys{k.private.Public()} }
