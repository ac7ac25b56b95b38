package cosmos

import (
	"crypto/sha256"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bourse-exchange/bourse"
)

// Lengths of an address's bytes: the hash of a key, and that of a contract or of another chain's account.
const (
	keyBytes      = 20
	contractBytes = 32
	// maxAddress is above the length of every address.
	maxAddress = 90
)

// addressOf returns the address of a key.
func (p *Params) addressOf(k *btcec.PublicKey) string {
	return p.format(address.Hash160(k.SerializeCompressed()))
}

// moduleAddress returns the address of a part of the chain's program.
func (p *Params) moduleAddress(name string) string {
	hash := sha256.Sum256([]byte(name))
	return p.format(hash[:keyBytes])
}

func (p *Params) format(program []byte) string {
	text, err := bech32.EncodeFromBase256(p.Prefix, program)
	if err != nil {
		bourse.Impossible("an address: %v", err)
	}
	return text
}

// parseAddress returns the canonical form of an address. The error is an *bourse.Error.
func (p *Params) parseAddress(s string) (string, error) {
	lower := strings.ToLower(s)
	switch {
	case len(s) > maxAddress:
		return "", bourse.Errorf(bourse.CodeInvalid, "address has the wrong length")
	case s != lower && s != strings.ToUpper(s):
		return "", bourse.Errorf(bourse.CodeInvalid, "address mixes upper and lower case")
	case !strings.HasPrefix(lower, p.Prefix+"1"):
		return "", bourse.Errorf(bourse.CodeInvalid, "not an address of this network")
	}

	prefix, words, version, err := bech32.DecodeNoLimitWithVersion(lower)
	if err != nil || version != bech32.Version0 || prefix != p.Prefix {
		return "", bourse.Errorf(bourse.CodeInvalid, "address has a wrong checksum")
	}
	b, err := bech32.ConvertBits(words, 5, 8, false)
	if err != nil || len(b) != keyBytes && len(b) != contractBytes {
		return "", bourse.Errorf(bourse.CodeInvalid, "address has the wrong length")
	}
	return lower, nil
}
