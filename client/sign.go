package client

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Signer signs the text of a request for an API key of the kind hmac or ed25519.
type Signer func(text []byte) (signature []byte)

// SignHMAC returns the signer of a key of the kind hmac, whose secret was shown with it.
func SignHMAC(secret string) Signer {
	return func(text []byte) []byte {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write(text) // a hash never fails
		return mac.Sum(nil)
	}
}

// SignEd25519 returns the signer of a key of the kind ed25519, which was made with the public
// key of private.
func SignEd25519(private ed25519.PrivateKey) Signer {
	return func(text []byte) []byte { return ed25519.Sign(private, text) }
}

// errExchange is the error for a Signer without the id of an exchange.
var errExchange = errors.New("Options.Exchange must be the exchange's id, 32 hexadecimal digits, to sign requests")

// checkExchange checks the id of an exchange.
func checkExchange(text string) error {
	const length = 16
	if b, err := hex.DecodeString(text); err != nil || len(b) != length || strings.ToLower(text) != text {
		return errExchange
	}
	return nil
}

// Windows of signed requests, in milliseconds. Two requests with one content and one
// timestamp differ by their windows: the exchange takes each text once.
const (
	leastWindow = 5000
	windows     = 1000
)

// signed is the signature of a request, and the times that it covers.
type signed struct{ timestamp, window, signature string }

// sign signs a request of now.
func (c *Client) sign(method, path, query string, body []byte) signed {
	hash := sha256.Sum256(body)
	r := bourse.Request{
		Exchange: c.o.Exchange, Key: c.o.Key, Timestamp: time.Now().UnixMilli(),
		Window: leastWindow + int64(c.requests.Add(1)%windows), Method: method, Path: path, Query: query,
		BodyHash: hex.EncodeToString(hash[:]),
	}
	return signed{
		timestamp: strconv.FormatInt(r.Timestamp, 10), window: strconv.FormatInt(r.Window, 10),
		signature: hex.EncodeToString(c.o.Sign(r.AppendText(nil))),
	}
}

// signRequest adds the headers of a signed request.
func (c *Client) signRequest(req *http.Request, body []byte) {
	s := c.sign(req.Method, req.URL.EscapedPath(), req.URL.RawQuery, body)
	req.Header.Set("Bourse-Key", c.o.Key)
	req.Header.Set("Bourse-Timestamp", s.timestamp)
	req.Header.Set("Bourse-Window", s.window)
	req.Header.Set("Bourse-Signature", s.signature)
}

// auth returns the request that authenticates a stream.
func (c *Client) auth(cancelOnClose bool) fields {
	f, query := fields{"op": "auth"}, ""
	if cancelOnClose {
		f["cancel_on_close"], query = true, "cancel_on_close=true"
	}
	if c.o.Sign == nil {
		f["api_key"] = c.o.Key
		return f
	}

	s := c.sign("AUTH", "/stream", query, nil)
	f["key"], f["signature"] = c.o.Key, s.signature
	f["timestamp"], f["window"] = json.Number(s.timestamp), json.Number(s.window)
	return f
}
