package hdkeys

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
)

const (
	// accountDepth is the depth of an account's key, m/purpose'/coin'/account'.
	accountDepth = 3
	hardened     = hdkeychain.HardenedKeyStart
)

// Form is the form of a network's keys.
type Form struct {
	// Network names the network in errors.
	Network string
	// Open and Close surround the key in its text, such as wpkh( and ).
	Open, Close string
	// Purpose and CoinType are the hardened indices of BIP 43 and BIP 44.
	Purpose, CoinType uint32
	// Versions carries the versions of extended keys.
	Versions *chaincfg.Params
}

// errForm tells the wanted form, and never repeats the text: it could be a private key.
func (f *Form) errForm() error {
	return fmt.Errorf("keys are like %s[d34db33f/%dh/%dh/0h]xpub…%s, with the account's extended public key",
		f.Open, f.Purpose, f.CoinType, f.Close)
}

// Parse reads an account's public keys: [FINGERPRINT/PURPOSEh/COINh/ACCOUNTh]XPUB between Open
// and Close. A private key is refused.
func (f *Form) Parse(s string) (*Public, error) {
	body, ok := strings.CutPrefix(s, f.Open+"[")
	inner, closed := strings.CutSuffix(body, f.Close)
	origin, text, found := strings.Cut(inner, "]")
	if !ok || !closed || !found {
		return nil, f.errForm()
	}

	account, err := f.parseOrigin(origin)
	if err != nil {
		return nil, err
	}
	key, err := hdkeychain.NewKeyFromString(text)
	switch {
	case err != nil:
		return nil, f.errForm()
	case key.IsPrivate():
		return nil, errors.New("keys have a private key: the exchange must never see one; make a new one, and write its public key")
	case !key.IsForNet(f.Versions):
		return nil, fmt.Errorf("keys are not of %s", f.Network)
	case key.Depth() != accountDepth || key.ChildIndex() != hardened+account:
		return nil, errors.New("keys have an extended key that is not the account's: its depth or number differs")
	}
	return newPublic(key, s)
}

// parseOrigin reads FINGERPRINT/PURPOSEh/COINh/ACCOUNTh and returns the account.
func (f *Form) parseOrigin(s string) (account uint32, err error) {
	fields := strings.Split(strings.ReplaceAll(s, "'", "h"), "/")
	if len(fields) != 1+accountDepth {
		return 0, f.errForm()
	}
	if b, err := hex.DecodeString(fields[0]); err != nil || len(b) != 4 {
		return 0, f.errForm()
	}
	for i, want := range []uint32{f.Purpose, f.CoinType} {
		if fields[1+i] != fmt.Sprintf("%dh", want) {
			return 0, fmt.Errorf("keys of %s have the path %dh/%dh/…", f.Network, f.Purpose, f.CoinType)
		}
	}
	if _, err := fmt.Sscanf(fields[3], "%dh", &account); err != nil || account >= hardened ||
		fields[3] != fmt.Sprintf("%dh", account) {
		return 0, f.errForm()
	}
	return account, nil
}

// Derive derives the first account's keys from a seed.
func (f *Form) Derive(seed []byte) (*Private, error) {
	master, err := hdkeychain.NewMaster(seed, f.Versions)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	root, err := master.ECPubKey()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}

	account := master
	for _, i := range []uint32{f.Purpose, f.CoinType, 0} {
		if account, err = account.Derive(hardened + i); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
	}
	public, err := account.Neuter()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}

	text := fmt.Sprintf("%s[%x/%dh/%dh/0h]%s%s",
		f.Open, fingerprint(root.SerializeCompressed()), f.Purpose, f.CoinType, public, f.Close)
	k, err := newPublic(public, text)
	if err != nil {
		return nil, err
	}
	return &Private{account, k}, nil
}
