package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/seal"
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

// place is the place that a secret is sealed for: with another URL or other kinds it does not open,
// so that write access to the store is not enough to redirect signed deliveries.
func (e *Endpoint) place() []byte { return []byte(e.URL + "\n" + e.Kinds.String()) }

// key is the key of webhooks' secrets.
func (o *Options) key() seal.Key { return o.Seal.Derive("webhooks") }

var errSealed = errors.New("the secret does not open: its row was changed, or the key is another exchange's")

// open returns an endpoint's secret. The error is errSealed.
func (o *Options) open(e *Endpoint) ([]byte, error) {
	secret, err := o.key().Open(e.place(), e.Sealed)
	if err != nil {
		return nil, errSealed
	}
	return secret, nil
}
