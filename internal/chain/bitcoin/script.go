package bitcoin

import (
	"bytes"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"github.com/bourse-exchange/bourse"
)

// hash160 is the hash of keys: RIPEMD-160 of SHA-256.
func hash160(b []byte) []byte { return address.Hash160(b) }

// Opcodes of the scripts that addresses stand for.
const (
	opDup         = 0x76
	opHash160     = 0xa9
	opEqual       = 0x87
	opEqualVerify = 0x88
	opCheckSig    = 0xac
	op1           = 0x51
)

// witnessKeyHash returns the program of a P2WPKH script.
func witnessKeyHash(script []byte) (*[20]byte, bool) {
	if len(script) != 22 || script[0] != 0 || script[1] != 20 {
		return nil, false
	}
	return (*[20]byte)(script[2:]), true
}

// witnessScriptHash returns the program of a P2WSH script.
func witnessScriptHash(script []byte) (*[32]byte, bool) {
	if len(script) != 34 || script[0] != 0 || script[1] != 32 {
		return nil, false
	}
	return (*[32]byte)(script[2:]), true
}

// scriptHashScript returns the P2WSH script of a program.
func scriptHashScript(program [32]byte) []byte { return append([]byte{0, 32}, program[:]...) }

// keyHashScript returns the P2WPKH script of a program.
func keyHashScript(program [20]byte) []byte { return append([]byte{0, 20}, program[:]...) }

// scriptOf returns the script that an address stands for, and the address's canonical form. The
// error is an *bourse.Error.
func (p *Params) scriptOf(s string) (script []byte, canonical string, err error) {
	if len(s) > 90 { // the longest form, that of BIP 173
		return nil, "", bourse.Errorf(bourse.CodeInvalid, "address has the wrong length")
	}
	if lower := strings.ToLower(s); strings.HasPrefix(lower, p.hrp+"1") {
		script, err = p.witnessScript(s)
		return script, lower, err
	}

	hash, version, err := base58.CheckDecode(s)
	if err != nil || len(hash) != 20 || base58.CheckEncode(hash, version) != s {
		return nil, "", bourse.Errorf(bourse.CodeInvalid, "not an address of this network, or mistyped")
	}
	switch version {
	case p.pubKeyHash:
		return slices.Concat([]byte{opDup, opHash160, 20}, hash, []byte{opEqualVerify, opCheckSig}), s, nil
	case p.scriptHash:
		return slices.Concat([]byte{opHash160, 20}, hash, []byte{opEqual}), s, nil
	}
	return nil, "", bourse.Errorf(bourse.CodeInvalid, "address is of another network")
}

// witnessScript returns the script of an address of BIP 173 or 350. Versions above 1 are
// refused: no wallet spends from them yet, and anybody else could.
func (p *Params) witnessScript(s string) ([]byte, error) {
	hrp, words, form, err := bech32.DecodeGeneric(s)
	if err != nil || hrp != p.hrp || len(words) == 0 {
		return nil, bourse.Errorf(bourse.CodeInvalid, "address is mistyped")
	}
	program, err := bech32.ConvertBits(words[1:], 5, 8, false)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeInvalid, "address is mistyped")
	}

	switch version := words[0]; {
	case version == 0 && form == bech32.Version0 && (len(program) == 20 || len(program) == 32):
		return append([]byte{0, byte(len(program))}, program...), nil
	case version == 1 && form == bech32.VersionM && len(program) == 32:
		return append([]byte{op1, 32}, program...), nil
	}
	return nil, bourse.Errorf(bourse.CodeInvalid, "address is of a kind that no wallet can spend from")
}

// addressOf returns the address of a script; false if none stands for it.
func (p *Params) addressOf(script []byte) (string, bool) {
	switch n := len(script); {
	case n == 22 && script[0] == 0 && script[1] == 20, n == 34 && script[0] == 0 && script[1] == 32:
		return p.formatWitness(0, script[2:]), true
	case n == 34 && script[0] == op1 && script[1] == 32:
		return p.formatWitness(1, script[2:]), true
	case n == 25 && bytes.HasPrefix(script, []byte{opDup, opHash160, 20}) &&
		script[23] == opEqualVerify && script[24] == opCheckSig:
		return base58.CheckEncode(script[3:23], p.pubKeyHash), true
	case n == 23 && script[0] == opHash160 && script[1] == 20 && script[22] == opEqual:
		return base58.CheckEncode(script[2:22], p.scriptHash), true
	}
	return "", false
}

// formatWitness writes an address of BIP 173 (version 0) or BIP 350 (version 1).
func (p *Params) formatWitness(version byte, program []byte) string {
	words, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		bourse.Impossible("a witness program of %d bytes: %v", len(program), err)
	}
	encode := bech32.Encode
	if version > 0 {
		encode = bech32.EncodeM
	}
	s, err := encode(p.hrp, append([]byte{version}, words...))
	if err != nil {
		bourse.Impossible("a witness program of %d bytes: %v", len(program), err)
	}
	return s
}
