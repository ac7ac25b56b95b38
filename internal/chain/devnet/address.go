package devnet

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// program is an address's content: a hash of the key and index that may spend from it.
type program [20]byte

// letters encode five bits each. None looks like another.
const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// checkWords is the length of an address's checksum, in words of five bits.
const checkWords = 6

// formatAddress returns the canonical form of an address.
func (p *Params) formatAddress(to program) string {
	if p.form == formHex {
		return formatHex(to)
	}
	text := p.prefix + "1" + words(to[:])
	return text + p.checksum(text)
}

// words encodes bytes as words of five bits; the number of bits must be a multiple of
// five.
func words(b []byte) string {
	var out strings.Builder
	var held, bits uint
	for _, c := range b {
		held, bits = held<<8|uint(c), bits+8
		for ; bits >= 5; bits -= 5 {
			out.WriteByte(letters[held>>(bits-5)&31])
		}
	}
	return out.String()
}

// checksum covers the network too, so that no network accepts another's address.
func (p *Params) checksum(text string) string {
	sum := sha256.Sum256([]byte(string(p.Symbol) + " " + text))
	return words(sum[:5])[:checkWords]
}

// parseAddress parses any spelling of an address of this network. The error is an
// *bourse.Error.
func (p *Params) parseAddress(s string) (to program, err error) {
	if p.form == formHex {
		return parseHex(s)
	}
	lower := strings.ToLower(s)
	if s != lower && s != strings.ToUpper(s) {
		return program{}, bourse.Errorf(bourse.CodeInvalid, "address mixes upper and lower case")
	}
	data, ok := strings.CutPrefix(lower, p.prefix+"1")
	switch {
	case !ok:
		return program{}, bourse.Errorf(bourse.CodeInvalid, "not an address of this network")
	case len(data) != 8*len(to)/5+checkWords:
		return program{}, bourse.Errorf(bourse.CodeInvalid, "address has the wrong length")
	case p.checksum(lower[:len(lower)-checkWords]) != data[len(data)-checkWords:]:
		return program{}, bourse.Errorf(bourse.CodeInvalid, "address has a wrong checksum")
	}
	return unword(data[:len(data)-checkWords])
}

// unword decodes the result of words.
func unword(data string) (to program, err error) {
	var held, bits uint
	at := 0
	for _, c := range []byte(data) {
		value := strings.IndexByte(letters, c)
		if value < 0 {
			return program{}, bourse.Errorf(bourse.CodeInvalid, "address has a character that none has")
		}
		if held, bits = held<<5|uint(value), bits+5; bits >= 8 {
			bits -= 8
			to[at] = byte(held >> bits)
			at++
		}
	}
	return to, nil
}

// formatHex encodes hex digits with a checksum in their case: a letter is upper case if
// the hash of the lower-case digits has its top bit set.
func formatHex(to program) string {
	digits := []byte(hex.EncodeToString(to[:]))
	sum := sha256.Sum256(digits)
	for i, c := range digits {
		if c >= 'a' && sum[i/2]<<(4*(i%2))&0x80 != 0 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}

func parseHex(s string) (to program, err error) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok || len(digits) != 2*len(to) {
		return program{}, bourse.Errorf(bourse.CodeInvalid, "not an address of this network")
	}
	if _, err := hex.Decode(to[:], []byte(digits)); err != nil {
		return program{}, bourse.Errorf(bourse.CodeInvalid, "address has a character that none has")
	}
	if formatHex(to) != s {
		return program{}, bourse.Errorf(bourse.CodeInvalid, "address has a wrong checksum")
	}
	return to, nil
}
