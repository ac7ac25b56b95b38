package seal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse/internal/seal"
)

// TestSealed opens a secret with its key and for its place, and in no other way.
func TestSealed(t *testing.T) {
	key, place, secret := seal.Key{1}, []byte("place"), []byte("secret")
	sealed, err := key.Seal(rand.Reader, place, secret)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := key.Open(place, sealed); err != nil || !bytes.Equal(got, secret) {
		t.Fatalf("%q %v", got, err)
	}
	if again, err := key.Seal(rand.Reader, place, secret); err != nil || bytes.Equal(again, sealed) {
		t.Errorf("the same secret was sealed to the same bytes: %v", err)
	}

	refused := func(what string, k seal.Key, place, sealed []byte) {
		t.Helper()
		if got, err := k.Open(place, sealed); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("%s: %q %v", what, got, err)
		}
	}
	refused("another key", seal.Key{2}, place, sealed)
	refused("a derived key", key.Derive("use"), place, sealed)
	refused("another place", key, []byte("elsewhere"), sealed)
	refused("nothing", key, place, nil)
	for i := range sealed {
		refused("a cut value", key, place, sealed[:i])
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refused("a changed value", key, place, changed)
	}
	if _, err := key.Seal(io.LimitReader(rand.Reader, 23), place, secret); err == nil {
		t.Error("a secret was sealed without chance")
	}
}

// TestStoredValues opens values as stores have them.
func TestStoredValues(t *testing.T) {
	nonce := make([]byte, 24)
	key := seal.Key{1, 2, 3}
	for use, want := range map[string]string{
		"": "a68c9d747b850bfeef9e7c4d8e588c25d7a1ed988fba", "webhooks": "4398c8909ac7d6b521a702a4c75bdfa93c8f007f2e62",
	} {
		k := key
		if use != "" {
			k = key.Derive(use)
		}
		sealed, err := k.Seal(bytes.NewReader(nonce), []byte("place"), []byte("secret"))
		if got := hex.EncodeToString(sealed); err != nil || got != hex.EncodeToString(nonce)+want {
			t.Errorf("%q: %s %v", use, got, err)
		}
	}
}
