package authenticator

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// The algorithms of COSE that a device can sign with.
const (
	EdDSA = -8
	ES256 = -7
	RS256 = -257
)

// Device is a virtual authenticator, and the page that uses it. The zero value of every field
// but Origin is honest. Not safe for concurrent use.
type Device struct {
	// Origin is that of the page.
	Origin string
	// Algorithm signs with new keys; zero for the first one of the options that it can.
	Algorithm int
	// Counter is the count of signatures, which grows before each one if Counts is set.
	Counter uint32
	Counts  bool
	// Synced keys may be copied to other devices.
	Synced bool

	// Unverified clears the flag "user verified", Absent the flag "user present".
	Unverified, Absent bool
	// Party and Challenge take the place of those of the options, unless they are empty.
	Party, Challenge string
	// Type takes the place of that of the client data.
	Type string
	// Framed claims that a page of another origin holds this one in a frame.
	Framed bool
	// Handle takes the place of the one that a key was made for.
	Handle []byte
	// Stale signs client data that differs from the client data sent.
	Stale bool

	keys []*key
}

// key is a passkey with its private part.
type key struct {
	id, handle []byte
	party      string
	algorithm  int
	private    crypto.Signer
}

// New returns a device whose page has an origin.
func New(origin string) *Device { return &Device{Origin: origin} }

// binaryText is bytes in base64url, as WebAuthn's JSON forms have them.
type binaryText []byte

// MarshalText encodes the bytes.
func (b binaryText) MarshalText() ([]byte, error) {
	return []byte(base64.RawURLEncoding.EncodeToString(b)), nil
}

// UnmarshalText decodes the bytes.
func (b *binaryText) UnmarshalText(text []byte) (err error) {
	*b, err = base64.RawURLEncoding.DecodeString(string(text))
	return err
}

type descriptor struct {
	ID binaryText `json:"id"`
}

// creation is what Create reads of a server's options.
type creation struct {
	Challenge string `json:"challenge"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID binaryText `json:"id"`
	} `json:"user"`
	Parameters []struct {
		Alg int `json:"alg"`
	} `json:"pubKeyCredParams"`
	Exclude []descriptor `json:"excludeCredentials"`
}

// request is what Get reads of a server's options.
type request struct {
	Challenge string       `json:"challenge"`
	RPID      string       `json:"rpId"`
	Allow     []descriptor `json:"allowCredentials"`
}

// credential is the JSON form of a page's answer.
type credential struct {
	ID       binaryText `json:"id"`
	RawID    binaryText `json:"rawId"`
	Type     string     `json:"type"`
	Response any        `json:"response"`
	Results  struct{}   `json:"clientExtensionResults"`
}

// Create makes a passkey for a server's options, and returns the page's answer.
func (d *Device) Create(options []byte) ([]byte, error) {
	var asked creation
	if err := json.Unmarshal(options, &asked); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	for _, e := range asked.Exclude {
		if d.find(e.ID) != nil {
			return nil, errors.New("the device has a passkey of the account")
		}
	}

	k := &key{handle: asked.User.ID, party: asked.RP.ID, id: make([]byte, 32)}
	if _, err := rand.Read(k.id); err != nil {
		return nil, err
	}
	for _, p := range asked.Parameters {
		if k.algorithm == 0 && (p.Alg == d.Algorithm || d.Algorithm == 0) {
			k.algorithm = p.Alg
		}
	}
	public, err := k.draw()
	if err != nil {
		return nil, err
	}
	d.keys = append(d.keys, k)

	data := append(d.data(k.party, 0x40), make([]byte, 16)...) // no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(k.id)))
	data = append(append(data, k.id...), public...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		return nil, err
	}
	return json.Marshal(credential{ID: k.id, RawID: k.id, Type: "public-key", Response: map[string]binaryText{
		"clientDataJSON": d.client("webauthn.create", asked.Challenge), "attestationObject": object,
	}})
}

// draw draws the key and returns its public part in COSE's form.
func (k *key) draw() ([]byte, error) {
	switch k.algorithm {
	case EdDSA:
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		k.private = private
		return webauthncbor.Marshal(map[int]any{1: 1, 3: EdDSA, -1: 6, -2: []byte(public)})
	case ES256:
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		k.private = private
		point, err := private.PublicKey.Bytes() // 4, X, Y
		if err != nil {
			return nil, err
		}
		return webauthncbor.Marshal(map[int]any{1: 2, 3: ES256, -1: 1, -2: point[1:33], -3: point[33:]})
	case RS256:
		private, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		k.private = private
		return webauthncbor.Marshal(map[int]any{1: 3, 3: RS256, -1: private.N.Bytes(), -2: []byte{1, 0, 1}})
	}
	return nil, errors.New("the options name no algorithm of this device")
}

// Get signs a challenge with a passkey that a server's options allow, and returns the page's
// answer.
func (d *Device) Get(options []byte) ([]byte, error) {
	var asked request
	if err := json.Unmarshal(options, &asked); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	k := d.pick(&asked)
	if k == nil {
		return nil, errors.New("the device has no passkey that is asked for")
	}
	if d.Counts {
		d.Counter++
	}

	data, client := d.data(k.party, 0), d.client("webauthn.get", asked.Challenge)
	hash := sha256.Sum256(client)
	if d.Stale {
		hash[0]++
	}
	signature, err := k.sign(append(bytes.Clone(data), hash[:]...))
	if err != nil {
		return nil, err
	}
	handle := k.handle
	if d.Handle != nil {
		handle = d.Handle
	}
	return json.Marshal(credential{ID: k.id, RawID: k.id, Type: "public-key", Response: map[string]binaryText{
		"clientDataJSON": client, "authenticatorData": data, "signature": signature, "userHandle": handle,
	}})
}

func (k *key) sign(text []byte) ([]byte, error) {
	if k.algorithm == EdDSA {
		return k.private.Sign(rand.Reader, text, crypto.Hash(0))
	}
	sum := sha256.Sum256(text)
	return k.private.Sign(rand.Reader, sum[:], crypto.SHA256)
}

// pick returns the newest key that a request allows; nil if there is none.
func (d *Device) pick(asked *request) *key {
	for i := len(d.keys) - 1; i >= 0; i-- {
		k := d.keys[i]
		if k.party != asked.RPID {
			continue
		}
		if len(asked.Allow) == 0 {
			return k
		}
		for _, a := range asked.Allow {
			if bytes.Equal(a.ID, k.id) {
				return k
			}
		}
	}
	return nil
}

func (d *Device) find(id []byte) *key {
	for _, k := range d.keys {
		if bytes.Equal(k.id, id) {
			return k
		}
	}
	return nil
}

// data returns the head of the authenticator's data.
func (d *Device) data(party string, flags byte) []byte {
	if d.Party != "" {
		party = d.Party
	}
	if !d.Absent {
		flags |= 0x01
	}
	if !d.Unverified {
		flags |= 0x04
	}
	if d.Synced {
		flags |= 0x18
	}
	hash := sha256.Sum256([]byte(party))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), d.Counter)
}

// client returns the client data.
func (d *Device) client(kind, challenge string) []byte {
	if d.Challenge != "" {
		challenge = d.Challenge
	}
	if d.Type != "" {
		kind = d.Type
	}
	text := fmt.Sprintf(`{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":%t}`, kind, challenge, d.Origin, d.Framed)
	return []byte(text)
}
