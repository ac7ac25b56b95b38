package bitcoin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// purpose is the hardened index of BIP 84.
	purpose = 84
	// accountDepth is the depth of an account's key, m/84'/coin'/account'.
	accountDepth = 3
	hardened     = hdkeychain.HardenedKeyStart

	// branchCustomers has the deposit addresses by account id, branchOwn the exchange's own.
	branchCustomers, branchOwn = 0, 1
)

// PublicKeys derive all addresses of the exchange on a network.
type PublicKeys struct {
	text string
	// customers and own are the keys of the two branches.
	customers, own *hdkeychain.ExtendedKey
}

// String returns the descriptor.
func (k *PublicKeys) String() string { return k.text }

// errDescriptor tells the wanted form, and never repeats the text: it could be a private key.
var errDescriptor = errors.New("keys are like wpkh([d34db33f/84h/0h/0h]xpub…), with the account's extended public key")

// ParseDescriptor reads the exchange's public keys: wpkh([FINGERPRINT/84h/COINh/ACCOUNTh]XPUB).
// A private key is refused.
func (p *Params) ParseDescriptor(s string) (*PublicKeys, error) {
	body, ok := strings.CutPrefix(s, "wpkh([")
	inner, closed := strings.CutSuffix(body, ")")
	origin, text, found := strings.Cut(inner, "]")
	if !ok || !closed || !found {
		return nil, errDescriptor
	}

	account, err := p.parseOrigin(origin)
	if err != nil {
		return nil, err
	}
	key, err := hdkeychain.NewKeyFromString(text)
	switch {
	case err != nil:
		return nil, errDescriptor
	case key.IsPrivate():
		return nil, errors.New("keys have a private key: the exchange must never see one; make a new one, and write its public key")
	case !key.IsForNet(p.base):
		return nil, fmt.Errorf("keys are not of %s", p.Name)
	case key.Depth() != accountDepth || key.ChildIndex() != hardened+account:
		return nil, errors.New("keys have an extended key that is not the account's: its depth or number differs")
	}
	return newPublicKeys(key, s)
}

// parseOrigin reads FINGERPRINT/84h/COINh/ACCOUNTh and returns the account.
func (p *Params) parseOrigin(s string) (account uint32, err error) {
	fields := strings.Split(strings.ReplaceAll(s, "'", "h"), "/")
	if len(fields) != 1+accountDepth {
		return 0, errDescriptor
	}
	if b, err := hex.DecodeString(fields[0]); err != nil || len(b) != 4 {
		return 0, errDescriptor
	}
	for i, want := range []uint32{purpose, p.coinType} {
		if fields[1+i] != fmt.Sprintf("%dh", want) {
			return 0, fmt.Errorf("keys of %s have the path %dh/%dh/…", p.Name, purpose, p.coinType)
		}
	}
	if _, err := fmt.Sscanf(fields[3], "%dh", &account); err != nil || account >= hardened ||
		fields[3] != fmt.Sprintf("%dh", account) {
		return 0, errDescriptor
	}
	return account, nil
}

// newPublicKeys derives the two branches of an account's key.
func newPublicKeys(account *hdkeychain.ExtendedKey, text string) (k *PublicKeys, err error) {
	k = &PublicKeys{text: text}
	if k.customers, err = account.Derive(branchCustomers); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if k.own, err = account.Derive(branchOwn); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return k, nil
}

// path returns the branch and number of an address's key.
func path(index uint32) (branch, number uint32) {
	switch index {
	case chain.IndexHot:
		return branchOwn, 0
	case chain.IndexChange:
		return branchOwn, 1
	}
	return branchCustomers, index
}

// program returns the P2WPKH program of the address with an index.
func (k *PublicKeys) program(index uint32) (to [20]byte) {
	branch, number := path(index)
	parent := k.customers
	if branch == branchOwn {
		parent = k.own
	}
	child, err := parent.Derive(number)
	if err != nil { // one key of 2^127 does not exist
		bourse.Impossible("address %d: %v", index, err)
	}
	public, err := child.ECPubKey()
	if err != nil {
		bourse.Impossible("address %d: %v", index, err)
	}
	copy(to[:], hash160(public.SerializeCompressed()))
	return to
}

// Keys are the private keys of the exchange on a network. They implement [chain.Keyring].
type Keys struct {
	params  *Params
	account *hdkeychain.ExtendedKey
	public  *PublicKeys
}

// NewKeys derives a network's keys from a seed, by BIP 84.
func NewKeys(p *Params, seed []byte) (*Keys, error) {
	master, err := hdkeychain.NewMaster(seed, p.base)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	root, err := master.ECPubKey()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}

	account := master
	for _, i := range []uint32{purpose, p.coinType, 0} {
		if account, err = account.Derive(hardened + i); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
	}
	public, err := account.Neuter()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}

	fingerprint := hash160(root.SerializeCompressed())[:4]
	k, err := newPublicKeys(public, fmt.Sprintf("wpkh([%x/%dh/%dh/0h]%s)", fingerprint, purpose, p.coinType, public))
	if err != nil {
		return nil, err
	}
	return &Keys{p, account, k}, nil
}

// Public returns the public keys.
func (k *Keys) Public() *PublicKeys { return k.public }

// private returns the key of the address with an index.
func (k *Keys) private(index uint32) (*btcec.PrivateKey, error) {
	branch, number := path(index)
	parent, err := k.account.Derive(branch)
	if err != nil {
		return nil, err
	}
	child, err := parent.Derive(number)
	if err != nil {
		return nil, err
	}
	return child.ECPrivKey()
}
