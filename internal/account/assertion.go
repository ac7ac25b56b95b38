package account

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bourse-exchange/bourse"
)

// The bounds of an authenticator's answer, in bytes.
const (
	maxAssertion = 8 << 10
	// maxRegistration leaves room for certificates that some authenticators send.
	maxRegistration = 24 << 10
	// maxCredential is that of WebAuthn, 5.8.3.
	maxCredential = 1023
)

// challengeSize is the length of the challenge of an assertion or a registration, in bytes.
const challengeSize = 32

// Assertion is the answer of a passkey to a challenge, not yet verified.
type Assertion struct {
	parsed *protocol.ParsedCredentialAssertionData
}

// ParseAssertion reads the JSON form of an assertion, which PublicKeyCredential.toJSON() has
// in browsers. The error is an *bourse.Error with CodeInvalid.
func ParseAssertion(field string, text []byte) (*Assertion, error) {
	if len(text) > maxAssertion {
		return nil, bourse.Errorf(bourse.CodeInvalid, "%s: at most %d bytes", field, maxAssertion)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(text)
	if err != nil || len(parsed.RawID) > maxCredential {
		return nil, bourse.Errorf(bourse.CodeInvalid, "%s: not an assertion of a passkey, in WebAuthn's JSON form", field)
	}
	return &Assertion{parsed}, nil
}

// Handle returns the handle of the passkey's owner, as the authenticator sent it.
func (a *Assertion) Handle() []byte { return a.parsed.Response.UserHandle }

// Challenge returns the challenge that an assertion claims to answer; nil if it is malformed.
func (a *Assertion) Challenge() []byte {
	b, err := base64.RawURLEncoding.DecodeString(a.parsed.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil
	}
	return b
}

// Registration is a new passkey, not yet verified.
type Registration struct {
	parsed *protocol.ParsedCredentialCreationData
}

// ParseRegistration reads the JSON form of a new passkey. The error is an *bourse.Error with
// CodeInvalid.
func ParseRegistration(field string, text []byte) (*Registration, error) {
	if len(text) > maxRegistration {
		return nil, bourse.Errorf(bourse.CodeInvalid, "%s: at most %d bytes", field, maxRegistration)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(text)
	if err != nil || len(parsed.RawID) > maxCredential {
		return nil, bourse.Errorf(bourse.CodeInvalid, "%s: not a new passkey, in WebAuthn's JSON form", field)
	}
	return &Registration{parsed}, nil
}

// PasskeyAlgorithms are the algorithms of COSE that a passkey may sign with, best first:
// Ed25519, ES256, and RS256, which some computers' TPMs need.
var PasskeyAlgorithms = [...]int{
	int(webauthncose.AlgEdDSA), int(webauthncose.AlgES256), int(webauthncose.AlgRS256),
}

// PasskeyOwner is an account's holder or an operator, as package webauthn sees one.
type PasskeyOwner struct {
	// Handle names the owner to authenticators, and tells nothing to others.
	Handle   []byte
	Passkeys []Passkey
}

// WebAuthnID returns the owner's handle.
func (o *PasskeyOwner) WebAuthnID() []byte { return o.Handle }

// WebAuthnName returns nothing: only registrations show names, and pages make their own.
func (o *PasskeyOwner) WebAuthnName() string { return "" }

// WebAuthnDisplayName returns nothing, as WebAuthnName.
func (o *PasskeyOwner) WebAuthnDisplayName() string { return "" }

// WebAuthnCredentials returns the owner's passkeys.
func (o *PasskeyOwner) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(o.Passkeys))
	for i := range o.Passkeys {
		k := &o.Passkeys[i]
		list[i] = webauthn.Credential{
			ID: k.Credential, PublicKey: k.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: k.Synced},
		}
	}
	return list
}

// ceremony returns what package webauthn is to hold an answer against.
func (p *Party) ceremony(handle, challenge []byte) webauthn.SessionData {
	return webauthn.SessionData{
		Challenge: base64.RawURLEncoding.EncodeToString(challenge), RelyingPartyID: p.id,
		UserID: handle, UserVerification: protocol.VerificationRequired,
	}
}

// Asks returns a browser's options for asking for the answer to a challenge within FactorFor.
func (p *Party) Asks(challenge []byte, credentials [][]byte) AskedAssertion {
	return AskedAssertion{p.id, challenge, credentials, FactorFor}
}

// ours reports whether a page of this party, and no frame within another's, asked the
// passkey. Package webauthn leaves out paths and letter case when it compares origins.
func (p *Party) ours(c *protocol.CollectedClientData) bool {
	return slices.Contains(p.origins, c.Origin) && !c.CrossOrigin && c.TopOrigin == ""
}

// Asserts returns the passkey of an owner that signed a challenge; false if none did. Its
// Counter is the assertion's.
func (p *Party) Asserts(o *PasskeyOwner, challenge []byte, a *Assertion) (k Passkey, ok bool) {
	if p == nil || len(challenge) == 0 || !p.ours(&a.parsed.Response.CollectedClientData) {
		return k, false
	}
	if _, err := p.web.ValidateLogin(o, p.ceremony(o.Handle, challenge), a.parsed); err != nil {
		return k, false
	}

	at := slices.IndexFunc(o.Passkeys, func(k Passkey) bool { return bytes.Equal(k.Credential, a.parsed.RawID) })
	k = o.Passkeys[at]
	counter := a.parsed.Response.AuthenticatorData.Counter
	if counter <= k.Counter && (counter != 0 || k.Counter != 0) {
		return k, false // a copy of the authenticator has signed meanwhile
	}
	k.Counter = counter
	return k, true
}

// Registers returns the passkey that was made for an owner and a challenge; false if there is
// none. Attestations are not asked for, and prove nothing here.
func (p *Party) Registers(o *PasskeyOwner, challenge []byte, r *Registration) (k Passkey, ok bool) {
	if p == nil || len(challenge) == 0 || !p.ours(&r.parsed.Response.CollectedClientData) {
		return k, false
	}
	with := p.ceremony(o.Handle, challenge)
	for _, alg := range PasskeyAlgorithms {
		with.CredParams = append(with.CredParams, protocol.CredentialParameter{
			Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg),
		})
	}

	made, err := p.web.CreateCredential(o, with, r.parsed)
	if err != nil || !usable(made.PublicKey) || !plain(protocol.AttestationFormat(made.AttestationFormat)) {
		return k, false
	}
	return Passkey{
		Credential: made.ID, PublicKey: made.PublicKey, Synced: made.Flags.BackupEligible,
		Counter: made.Authenticator.SignCount,
	}, true
}

// The bounds of an RSA key, in bytes, and its exponent, which all authenticators have.
const (
	leastModulus, mostModulus = 2048 / 8, 4096 / 8
	exponent                  = 65537
)

// usable reports whether a public key can verify signatures of an algorithm that was asked for.
// Package webauthn looks into the keys of assertions alone, and a holder with a passkey of no
// use would be locked out.
func usable(key []byte) bool {
	parsed, err := webauthncose.ParsePublicKey(key)
	if err != nil {
		return false
	}
	switch k := parsed.(type) {
	case webauthncose.OKPPublicKeyData:
		return k.Algorithm == int64(webauthncose.AlgEdDSA)
	case webauthncose.EC2PublicKeyData:
		return k.Algorithm == int64(webauthncose.AlgES256)
	case webauthncose.RSAPublicKeyData:
		e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
		return err == nil && e == exponent && k.Algorithm == int64(webauthncose.AlgRS256) &&
			len(k.Modulus) >= leastModulus && len(k.Modulus) <= mostModulus
	}
	return false
}

// plain reports whether a browser that was asked for no attestation sends its format: none, or
// packed for one by the new key itself.
func plain(format protocol.AttestationFormat) bool {
	return format == protocol.AttestationFormatNone || format == protocol.AttestationFormatPacked
}

// The parts of a holder's handle and of the challenge of a log-in, in bytes.
const (
	idSize   = 8
	saltSize = 16
	macSize  = 16
)

// handleOf returns the handle by which passkeys name an account. All passkeys of an account have
// the same one. It hides the account's number, and cannot be forged without the key.
func (s *Service) handleOf(id bourse.AccountID) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(id))
	return append(b, s.mac("passkey handle", b)...)
}

// holderOf returns the account of a handle; false if this exchange did not make the handle.
func (s *Service) holderOf(handle []byte) (bourse.AccountID, bool) {
	if len(handle) != idSize+macSize || !hmac.Equal(handle[idSize:], s.mac("passkey handle", handle[:idSize])) {
		return 0, false
	}
	return bourse.AccountID(binary.LittleEndian.Uint64(handle)), true
}

// mac returns the MAC of a text under the key of one use.
func (s *Service) mac(use string, text []byte) []byte {
	m := hmac.New(sha256.New, s.key(use))
	_, _ = m.Write(text) // a hash never fails
	return m.Sum(nil)[:macSize]
}

// newChallenge draws the challenge of one request or registration.
func (s *Service) newChallenge() ([]byte, error) {
	b := make([]byte, challengeSize)
	if _, err := io.ReadFull(s.Random, b); err != nil {
		return nil, fmt.Errorf("drawing a challenge: %w", err)
	}
	return b, nil
}

// sealChallenge returns the challenge of a log-in: chance, the time, and a MAC. The server
// keeps no state for it.
func (s *Service) sealChallenge() ([]byte, error) {
	var salt [saltSize]byte
	if _, err := io.ReadFull(s.Random, salt[:]); err != nil {
		return nil, fmt.Errorf("drawing a challenge: %w", err)
	}
	b := binary.LittleEndian.AppendUint64(salt[:], uint64(s.exchangeTime()))
	return append(b, s.mac("passkey challenge", b)...), nil
}

// openChallenge reports whether a challenge of a log-in is ours and fresh. One that an earlier
// process made is not: that process knew which were used.
func (s *Service) openChallenge(b []byte) bool {
	const text = saltSize + 8
	if len(b) != text+macSize || !hmac.Equal(b[text:], s.mac("passkey challenge", b[:text])) {
		return false
	}
	made := bourse.Time(binary.LittleEndian.Uint64(b[saltSize:]))
	now := s.exchangeTime()
	return made >= s.began && made <= now && now < made+FactorFor
}
