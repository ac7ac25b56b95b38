package account

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"

	"github.com/bourse-exchange/bourse"
)

// KeyKind is the way in which an API key proves itself.
type KeyKind uint8

// The kinds of API keys.
const (
	// KindSecret keys are secrets, which requests show.
	KindSecret KeyKind = iota + 1
	// KindHMAC keys sign requests with a secret that the exchange has, too.
	KindHMAC
	// KindEd25519 keys sign requests with a private key. The exchange has its public key.
	KindEd25519
)

var kindWords = [...]string{"", "secret", "hmac", "ed25519"}

// String returns secret, hmac or ed25519, and the empty string for a kind that no key has.
func (k KeyKind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return ""
}

// KindNamed returns the kind with a name; zero if there is none.
func KindNamed(name string) KeyKind {
	for k := KindSecret; k <= KindEd25519; k++ {
		if kindWords[k] == name {
			return k
		}
	}
	return 0
}

// ParseKind reads the name of a kind, empty for secret. The error is an *bourse.Error with
// CodeInvalid.
func ParseKind(name string) (KeyKind, error) {
	if name == "" {
		return KindSecret, nil
	}
	k := KindNamed(name)
	if k == 0 {
		return 0, bourse.Errorf(bourse.CodeInvalid, "kind: must be one of secret, hmac and ed25519")
	}
	return k, nil
}

// maxPublicKey bounds the text of a public key, in bytes. One of Ed25519 has 113.
const maxPublicKey = 1024

// errPublicKey is the error for a public key of another form or algorithm.
var errPublicKey = bourse.Errorf(bourse.CodeInvalid, "public_key: not an Ed25519 public key in PEM (BEGIN PUBLIC KEY)")

// ParsePublicKey reads an Ed25519 public key in PEM, as OpenSSL, Node and Go write it. The
// error is an *bourse.Error with CodeInvalid.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	if len(text) > maxPublicKey {
		return nil, errPublicKey
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errPublicKey
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errPublicKey
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, errPublicKey
	}
	return public, nil
}

// checkKind validates the kind of a new key and the public key that belongs to it.
func (k *NewKey) checkKind() error {
	if k.Kind == 0 {
		k.Kind = KindSecret
	}
	switch signs := k.Kind == KindEd25519; {
	case k.Kind.String() == "":
		return bourse.Errorf(bourse.CodeInvalid, "kind: must be one of secret, hmac and ed25519")
	case signs && len(k.PublicKey) == 0:
		return bourse.Errorf(bourse.CodeMissing, "Missing data: public_key")
	case signs && len(k.PublicKey) != ed25519.PublicKeySize:
		return errPublicKey
	case !signs && len(k.PublicKey) > 0:
		return bourse.Errorf(bourse.CodeInvalid, "public_key: only a key of kind ed25519 has one")
	}
	return nil
}
