package account

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"

	"github.com/bourse-exchange/bourse"
)

// Bounds on the time of a signed request.
const (
	// usualWindow and maxWindow are in milliseconds.
	usualWindow = 5000
	maxWindow   = 60_000
	// ahead is the tolerated lead of a client's clock.
	ahead = bourse.Second
	// maxSignature bounds the text of a signature: an Ed25519 one has 128 digits.
	maxSignature = 2 * ed25519.SignatureSize
	// millisecond is the unit of a request's times.
	millisecond = bourse.Second / 1000
)

// Signed is a request with a signature, as received.
type Signed struct {
	// Key is the id of the signing key.
	Key Secret
	// Timestamp and Window are in milliseconds.
	Timestamp, Window int64
	// Method, Path, Query and Body are as received; see [bourse.Request].
	Method, Path, Query string
	Body                []byte
	// Payload, unless it is nil, is the signed text itself, of an interface that has a form of
	// its own.
	Payload []byte
	// Signature is in hexadecimal digits.
	Signature string
}

// The errors of requests that a known key signed.
var (
	ErrSignature = bourse.Errorf(bourse.CodeUnauthorized, "The signature does not fit the request")
	ErrClock     = bourse.Errorf(bourse.CodeForbidden,
		"The timestamp is outside the window, or from before the exchange's start: compare with /spot/time, sign again")
	ErrRepeated = bourse.Errorf(bourse.CodeConflict, "The signed request was taken before: sign with another timestamp")
)

// ParseTimes reads the timestamp and the window of a signed request, in milliseconds and
// with no superfluous digits. An empty window is 5 seconds. The error is an *bourse.Error
// with CodeInvalid that names the field.
func (r *Signed) ParseTimes(timestamp, window string) error {
	var ok bool
	if r.Timestamp, ok = parseMilliseconds(timestamp); !ok {
		return bourse.Errorf(bourse.CodeInvalid, "timestamp: must be the time in milliseconds since 1970")
	}
	if r.Window = usualWindow; window == "" {
		return nil
	}
	if r.Window, ok = parseMilliseconds(window); !ok || r.Window > maxWindow {
		return bourse.Errorf(bourse.CodeInvalid, "window: must be from 1 to %d milliseconds", maxWindow)
	}
	return nil
}

// parseMilliseconds parses a positive number in its shortest form: the signed text has it
// again.
func parseMilliseconds(text string) (int64, bool) {
	const digits = 15 // of a time in the year 33658
	if text == "" || len(text) > digits || text[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}

// text returns the text that the client signed for an exchange.
func (r *Signed) text(exchange [16]byte) []byte {
	if r.Payload != nil {
		return r.Payload
	}
	const usual = 512 // bytes: few requests have a longer text
	body := sha256.Sum256(r.Body)
	signed := bourse.Request{
		Exchange: hex.EncodeToString(exchange[:]), Key: string(r.Key), Timestamp: r.Timestamp, Window: r.Window,
		Method: r.Method, Path: r.Path, Query: r.Query, BodyHash: hex.EncodeToString(body[:]),
	}
	return signed.AppendText(make([]byte, 0, usual))
}

// Signer returns the identity that a signing key claims, which a signature has yet to
// prove. The error is ErrUnauthorized for a key that does not sign or is not good.
func (s *Service) Signer(_ context.Context, key Secret, from netip.Addr) (Identity, error) {
	c, err := s.findSigner(key, from)
	if err != nil {
		return Identity{}, err
	}
	return c.Identity, nil
}

// findSigner is find for keys that sign.
func (s *Service) findSigner(key Secret, from netip.Addr) (*credential, error) {
	c, err := s.find(key, from)
	if err == nil && !c.kind.signs() {
		return nil, ErrUnauthorized
	}
	return c, err
}

// VerifySigned returns the identity that a signature proves. With once, the request changes
// something and is taken a single time. Beside the errors of Signer it returns
// ErrSignature, ErrClock and ErrRepeated, and bourse.ErrBusy for an account with too many
// requests whose windows are open. It reads memory alone.
func (s *Service) VerifySigned(_ context.Context, r *Signed, from netip.Addr, once bool) (Identity, error) {
	c, err := s.findSigner(r.Key, from)
	if err != nil {
		return Identity{}, err
	}

	now, at := s.exchangeTime(), bourse.Time(r.Timestamp)*millisecond
	until := at + bourse.Time(r.Window)*millisecond
	if at > now+ahead || until <= now || once && at <= s.fresh {
		return Identity{}, ErrClock
	}

	text := r.text(s.Exchange)
	if !c.signed(text, r.Signature) {
		return Identity{}, ErrSignature
	}
	if once {
		if err := s.shared.UseText(c.Account, sha256.Sum256(text), until, now); err != nil {
			return Identity{}, err
		}
	}
	s.note(c, s.now())
	return c.Identity, nil
}

// signs reports whether keys of the kind sign requests, and never show a secret.
func (k KeyKind) signs() bool { return k == KindHMAC || k == KindEd25519 }

// signed reports whether the credential made a signature of text.
func (c *credential) signed(text []byte, signature string) bool {
	if len(signature) > maxSignature {
		return false
	}
	given, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}

	switch c.kind {
	case KindHMAC:
		mac := hmac.New(sha256.New, []byte(c.secret))
		_, _ = mac.Write(text) // a hash never fails
		return hmac.Equal(mac.Sum(nil), given)
	case KindEd25519:
		return len(c.material) == ed25519.PublicKeySize && ed25519.Verify(c.material, text, given)
	default:
		return false
	}
}

// newMaterial returns the part of a new key's row that proves signatures: nothing, the
// sealed secret or the public key. The secret is that of a key of KindHMAC.
func (s *Service) newMaterial(row *KeyRow, k *NewKey) (secret Secret, err error) {
	switch k.Kind {
	case KindHMAC:
		if secret, err = newSecret(s.Random); err != nil {
			return "", err
		}
		row.Material, err = s.Seal.Seal(s.Random, row.sealing(), []byte(secret))
		return secret, err
	case KindEd25519:
		row.Material = k.PublicKey
		return "", nil
	default:
		return "", nil
	}
}

// sealing returns the place that a key's secret is sealed for: it opens in no other row,
// and never as the secret of a second factor.
func (k *KeyRow) sealing() []byte {
	b := append([]byte("key "), k.Token[:]...)
	return append(b, strconv.FormatUint(uint64(k.Account), 10)...)
}

// signingSecret returns the secret of a key of KindHMAC; empty for any other.
func (s *Service) signingSecret(row *KeyRow) (Secret, error) {
	if row.Kind != KindHMAC {
		return "", nil
	}
	secret, err := s.Seal.Open(row.sealing(), row.Material)
	return Secret(secret), err
}
