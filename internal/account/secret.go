package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
)

// secretBytes is the randomness of a secret, written as two hex digits a byte.
const secretBytes = 32

// Secret is a credential in clear. It prints as *** in every format; convert it to a
// string to show it to its owner. Two places leak it: an unexported field of a struct
// that is printed whole, and the key of a map that is encoded as JSON.
type Secret string

const masked = "***"

// String returns ***.
func (Secret) String() string { return masked }

// GoString returns ***.
func (Secret) GoString() string { return masked }

// Format writes *** for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue returns ***.
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText returns ***.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalJSON returns "***".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// newSecret draws a secret.
func newSecret(random io.Reader) (Secret, error) {
	var b [secretBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("drawing a secret: %w", err)
	}
	return Secret(hex.EncodeToString(b[:])), nil
}

// wellFormed reports whether s has the form of newSecret's results.
func (s Secret) wellFormed() bool {
	if len(s) != 2*secretBytes {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Hash is the stored form of a secret. A plain hash is enough: 256 random bits cannot be
// guessed, so a slow hash would add nothing.
type Hash [sha256.Size]byte

// hash returns the hash of s, which must be well formed.
func (s Secret) hash() Hash {
	var text [2 * secretBytes]byte
	copy(text[:], s)
	return sha256.Sum256(text[:])
}
