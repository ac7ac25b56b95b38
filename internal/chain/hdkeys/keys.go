package hdkeys

import (
	"fmt"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Branches: branchCustomers has the deposit addresses by account id, branchOwn the exchange's own.
const (
	branchCustomers = 0
	branchOwn       = 1
)

// Public derives the public keys of an account.
type Public struct {
	text string
	// customers and own are the keys of the two branches.
	customers, own *hdkeychain.ExtendedKey
}

// newPublic derives the two branches of an account's key.
func newPublic(account *hdkeychain.ExtendedKey, text string) (k *Public, err error) {
	k = &Public{text: text}
	if k.customers, err = account.Derive(branchCustomers); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if k.own, err = account.Derive(branchOwn); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return k, nil
}

// String returns the text that [Form.Parse] reads.
func (k *Public) String() string { return k.text }

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

// Derivable reports whether an index names an address: an account's, or one of the exchange's own. The
// bytes of a payment may claim any other.
func Derivable(index uint32) bool { return index < hardened || index == chain.IndexChange }

// Key returns the public key of the address with an index that is [Derivable].
func (k *Public) Key(index uint32) *btcec.PublicKey {
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
	return public
}

// Private derives the private keys of an account.
type Private struct {
	account *hdkeychain.ExtendedKey
	public  *Public
}

// Public returns the public keys.
func (k *Private) Public() *Public { return k.public }

// Key returns the private key of the address with an index that is [Derivable].
func (k *Private) Key(index uint32) (*btcec.PrivateKey, error) {
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

// fingerprint names a key by the first bytes of its hash (BIP 32).
func fingerprint(key []byte) []byte { return address.Hash160(key)[:4] }
