package webhook

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	// secretBytes is the randomness of a secret.
	secretBytes = 32
	// secretPrefix precedes the base64 of a secret, by which tools that scan for secrets tell
	// one.
	secretPrefix = "whsec_"
)

func newSecret(random io.Reader) ([]byte, error) {
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("drawing a secret: %w", err)
	}
	return key, nil
}

// shown returns a secret in the form of Standard Webhooks.
func shown(key []byte) account.Secret {
	return account.Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// sign returns the header webhook-signature of Standard Webhooks: v1, and the base64 of
// HMAC-SHA256 over id.timestamp.body.
func sign(key []byte, id string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%d.", id, timestamp) // a hash takes everything
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// sealer encrypts secrets for the store.
type sealer struct {
	box    cipher.AEAD
	random io.Reader
}

// newSealer derives the key from the one that seals the accounts' secrets.
func newSealer(seal [32]byte, random io.Reader) (*sealer, error) {
	mac := hmac.New(sha256.New, seal[:])
	_, _ = mac.Write([]byte("webhooks")) // a hash takes everything
	box, err := chacha20poly1305.NewX(mac.Sum(nil))
	return &sealer{box, random}, err
}

// place is what a secret is sealed for: with another URL or other kinds it does not open, so that
// whoever writes to the store cannot direct signed deliveries to himself.
func (e *Endpoint) place() []byte { return []byte(e.URL + "\n" + e.Kinds.String()) }

func (s *sealer) seal(e *Endpoint, key []byte) ([]byte, error) {
	nonce := make([]byte, s.box.NonceSize(), s.box.NonceSize()+len(key)+s.box.Overhead())
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("drawing a nonce: %w", err)
	}
	return s.box.Seal(nonce, nonce, key, e.place()), nil
}

var errSealed = errors.New("the secret does not open: its row was changed, or the key is another exchange's")

func (s *sealer) open(e *Endpoint) ([]byte, error) {
	n := s.box.NonceSize()
	if len(e.Sealed) < n {
		return nil, errSealed
	}
	key, err := s.box.Open(nil, e.Sealed[:n], e.Sealed[n:], e.place())
	if err != nil {
		return nil, errSealed
	}
	return key, nil
}
