package cosmos

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/bourse-exchange/bourse/internal/chain"
)

var errNumber = errors.New("not a number")

// number is a whole number, which nodes write as a text.
type number uint64

// UnmarshalJSON reads "12".
func (n *number) UnmarshalJSON(text []byte) error {
	digits, ok := unquote(text)
	v, err := strconv.ParseUint(string(digits), 10, 63)
	if !ok || err != nil {
		return errNumber
	}
	*n = number(v)
	return nil
}

// String writes the number as a node reads it.
func (n number) String() string { return strconv.FormatUint(uint64(n), 10) }

// digest is a hash; nil for none.
type digest []byte

// UnmarshalJSON reads hexadecimal digits of either case.
func (d *digest) UnmarshalJSON(text []byte) error {
	digits, ok := unquote(text)
	b, err := hex.DecodeString(string(digits))
	if !ok || err != nil || len(b) != 0 && len(b) != len(chain.Hash{}) && len(b) != keyBytes {
		return errors.New("not a hash")
	}
	*d = b
	return nil
}

// hash returns the hash; false if it is none of 32 bytes.
func (d digest) hash() (chain.Hash, bool) {
	if len(d) != len(chain.Hash{}) {
		return chain.Hash{}, false
	}
	return chain.Hash(d), true
}

// data is a string of bytes; null is none.
type data []byte

// UnmarshalJSON reads base64.
func (d *data) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*d = nil
		return nil
	}
	quoted, ok := unquote(text)
	b, err := base64.StdEncoding.DecodeString(string(quoted))
	if !ok || err != nil {
		return errors.New("not base64")
	}
	*d = b
	return nil
}

// unquote returns the text between quotes.
func unquote(text []byte) ([]byte, bool) {
	inner, ok := bytes.CutPrefix(text, []byte(`"`))
	inner, closed := bytes.CutSuffix(inner, []byte(`"`))
	return inner, ok && closed
}
