package evm

import (
	"encoding/hex"

	"golang.org/x/crypto/sha3"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// address is the last bytes of the hash of a public key, or a contract's.
type address [20]byte

// keccak is the hash of the network: Keccak-256, which differs from SHA-3 by its padding.
func keccak(parts ...[]byte) (h chain.Hash) {
	state := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		_, _ = state.Write(p) // a hash takes everything
	}
	state.Sum(h[:0])
	return h
}

// addressOf returns the address of a key.
func addressOf(k *btcec.PublicKey) (a address) {
	h := keccak(k.SerializeUncompressed()[1:])
	copy(a[:], h[len(h)-len(a):])
	return a
}

// String writes an address with the checksum of EIP-55: a letter is upper case if the digit of the
// hash of all digits at its place is above 7.
func (a address) String() string {
	digits := []byte(hex.EncodeToString(a[:]))
	h := keccak(digits)
	for i, c := range digits {
		if c >= 'a' && h[i/2]<<(4*(i%2))&0x80 != 0 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}

// parseAddress reads an address with its checksum. The error is an *bourse.Error.
func parseAddress(s string) (a address, err error) {
	if len(s) != 2+2*len(a) || s[:2] != "0x" {
		return a, bourse.Errorf(bourse.CodeInvalid, "not an address of this network")
	}
	if _, err := hex.Decode(a[:], []byte(s[2:])); err != nil {
		return address{}, bourse.Errorf(bourse.CodeInvalid, "address has a character that none has")
	}
	if a.String() != s {
		return address{}, bourse.Errorf(bourse.CodeInvalid,
			"address has a wrong checksum: its letters are upper and lower case, as the wallet shows them")
	}
	return a, nil
}

// precompiles is above the addresses of the machine's own functions.
const precompiles = 0x0200

// special reports whether an address is the machine's own: zero, or a precompile. What is sent
// there is lost.
func (a *address) special() bool {
	for _, c := range a[:18] {
		if c != 0 {
			return false
		}
	}
	return int(a[18])<<8|int(a[19]) < precompiles
}
