package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
)

// signer is a key that signs.
type signer struct {
	ID     string `json:"api_key"`
	Secret string `json:"secret"`
	// private is that of an Ed25519 key.
	private ed25519.PrivateKey
}

// createSigner makes a key of a customer that signs.
func (t *Target) createSigner(ctx context.Context, account int, kind, public string) (s signer, err error) {
	err = operate(ctx, t.data, "key/create", map[string]any{
		"account": account, "name": "signer", "scopes": "read,trade", "kind": kind, "public_key": public,
	}, &s)
	return s, err
}

// newSigner makes a key of a kind.
func (t *Target) newSigner(ctx context.Context, account int, kind string) (s signer, err error) {
	if kind != "ed25519" {
		return t.createSigner(ctx, account, kind, "")
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return s, err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return s, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	s, err = t.createSigner(ctx, account, kind, string(text))
	s.private = private
	return s, err
}

// sign returns the signature of a text.
func (s *signer) sign(text []byte) string {
	if s.private != nil {
		return hex.EncodeToString(ed25519.Sign(s.private, text))
	}
	mac := hmac.New(sha256.New, []byte(s.Secret))
	_, _ = mac.Write(text) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// restSigner makes the signed requests of a client, which has a key of its own.
type restSigner struct {
	signer
	exchange string
	// bodies are sent in turn, with their hashes.
	bodies, hashes [2]string
}

// signAll gives each client a key that signs its requests.
func (t *Target) signAll(ctx context.Context, clients []*client, kind string) error {
	text, err := get(ctx, t.Address, "/spot/config")
	if err != nil {
		return err
	}
	var config struct {
		Exchange string `json:"exchange_id"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}

	for i, c := range clients {
		s := &restSigner{exchange: config.Exchange}
		if s.signer, err = t.newSigner(ctx, 1+i%len(t.keys), kind); err != nil {
			return err
		}
		for n, side := range [...]string{"BUY", "SELL"} {
			s.bodies[n] = "{" + orderFields(side) + "}"
			hash := sha256.Sum256([]byte(s.bodies[n]))
			s.hashes[n] = hex.EncodeToString(hash[:])
		}
		c.signer = s
	}
	time.Sleep(justStarted)
	return nil
}

// justStarted is the time after its start in which an exchange takes no signed requests.
const justStarted = 1100 * time.Millisecond

// request returns the request of a turn. A request is taken once: windows tell apart those of one
// millisecond.
func (s *restSigner) request(turn int) []byte {
	const path, shortest, windows = "/spot/open_orders/new", 5000, 1000
	r := bourse.Request{
		Exchange: s.exchange, Key: s.ID, Timestamp: time.Now().UnixMilli(), Window: int64(shortest + turn%windows),
		Method: "POST", Path: path, BodyHash: s.hashes[turn&1],
	}
	body := s.bodies[turn&1]
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nBourse-Key: %s\r\n"+
		"Bourse-Timestamp: %d\r\nBourse-Window: %d\r\nBourse-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
		path, s.ID, r.Timestamp, r.Window, s.sign(r.AppendText(nil)), len(body), body)
}
