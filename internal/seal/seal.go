package seal

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// Key encrypts secrets.
type Key [chacha20poly1305.KeySize]byte

// Derive returns the key of one use.
func (k Key) Derive(use string) (derived Key) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(use)) // a hash takes everything
	mac.Sum(derived[:0])
	return derived
}

// ErrSealed is the error of a value that does not open.
var ErrSealed = errors.New("the secret was sealed with another key, or for another place")

// Seal returns a random nonce and the encrypted secret, which opens for the same place alone.
func (k Key) Seal(random io.Reader, place, secret []byte) ([]byte, error) {
	box := k.box()
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(secret)+box.Overhead())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("drawing a nonce: %w", err)
	}
	return box.Seal(nonce, nonce, secret, place), nil
}

// Open returns a secret that Seal sealed for a place. The error is ErrSealed.
func (k Key) Open(place, sealed []byte) ([]byte, error) {
	box := k.box()
	n := box.NonceSize()
	if len(sealed) < n {
		return nil, ErrSealed
	}
	secret, err := box.Open(nil, sealed[:n], sealed[n:], place)
	if err != nil {
		return nil, ErrSealed
	}
	return secret, nil
}

func (k Key) box() cipher.AEAD {
	box, err := chacha20poly1305.NewX(k[:])
	if err != nil {
		panic(err) // a key has its size
	}
	return box
}
