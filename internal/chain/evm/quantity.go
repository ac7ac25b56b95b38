package evm

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var errHex = errors.New("not hexadecimal digits")

// quantity is a number of up to 256 bits, big-endian without leading zeros.
type quantity []byte

// wordSize is the length of a number of the machine, in bytes.
const wordSize = 32

// UnmarshalJSON reads a number written as 0x1f.
func (q *quantity) UnmarshalJSON(text []byte) error {
	digits, err := unquote(text)
	if err != nil || len(digits) == 0 || len(digits) > 2*wordSize {
		return errHex
	}
	if len(digits)%2 == 1 {
		digits = append([]byte{'0'}, digits...)
	}
	b := make([]byte, len(digits)/2)
	if _, err := hex.Decode(b, digits); err != nil {
		return errHex
	}
	*q = bytes.TrimLeft(b, "\x00")
	return nil
}

// uint64 returns the number; false if it is larger.
func (q quantity) uint64() (uint64, bool) {
	if len(q) > 8 {
		return 0, false
	}
	var b [8]byte
	copy(b[8-len(q):], q)
	return binary.BigEndian.Uint64(b[:]), true
}

// amount returns the number as an amount; false if it is larger than any.
func (q quantity) amount() (bourse.Amount, bool) {
	if len(q) > 16 {
		return bourse.Amount{}, false
	}
	var b [16]byte
	copy(b[16-len(q):], q)
	return bourse.Amount{Hi: binary.BigEndian.Uint64(b[:8]), Lo: binary.BigEndian.Uint64(b[8:])}, true
}

// ofAmount is the inverse of amount.
func ofAmount(a bourse.Amount) quantity {
	b := binary.BigEndian.AppendUint64(nil, a.Hi)
	return bytes.TrimLeft(binary.BigEndian.AppendUint64(b, a.Lo), "\x00")
}

// data is a string of bytes.
type data []byte

// UnmarshalJSON reads bytes written as 0x001f; null is no bytes.
func (d *data) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == jsontext.KindNull {
		*d = nil
		return nil
	}
	digits, err := unquote(text)
	if err != nil {
		return err
	}
	*d = make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(*d, digits); err != nil {
		return errHex
	}
	return nil
}

// MarshalJSON writes bytes as 0x001f.
func (d data) MarshalJSON() ([]byte, error) {
	return append(append([]byte(`"0x`), hex.AppendEncode(nil, d)...), '"'), nil
}

// digest is a string of 32 bytes.
type digest [wordSize]byte

// UnmarshalJSON reads 32 bytes.
func (d *digest) UnmarshalJSON(text []byte) error {
	var b data
	if err := b.UnmarshalJSON(text); err != nil || len(b) != len(d) {
		return errHex
	}
	copy(d[:], b)
	return nil
}

// unquote returns the digits of "0x…".
func unquote(text []byte) ([]byte, error) {
	digits, ok := bytes.CutPrefix(text, []byte(`"0x`))
	digits, closed := bytes.CutSuffix(digits, []byte(`"`))
	if !ok || !closed {
		return nil, errHex
	}
	return digits, nil
}

// formatHash writes a hash in the network's form.
func formatHash(h chain.Hash) string { return "0x" + hex.EncodeToString(h[:]) }

// parseHash is the inverse of formatHash.
func parseHash(s string) (h chain.Hash, ok bool) {
	b, err := hex.DecodeString(s[min(len(s), 2):])
	if err != nil || len(b) != len(h) || s[:2] != "0x" {
		return h, false
	}
	copy(h[:], b)
	return h, true
}

// String writes the number as a node reads it.
func (q quantity) String() string {
	digits := strings.TrimLeft(hex.EncodeToString(q), "0")
	if digits == "" {
		digits = "0"
	}
	return "0x" + digits
}

// ofUint returns a number as a quantity.
func ofUint(n uint64) quantity {
	return bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, n), "\x00")
}
