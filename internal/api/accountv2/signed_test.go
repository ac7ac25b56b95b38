package accountv2_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
)

// TestSigned signs requests of V2 with a key that V2 made.
func TestSigned(t *testing.T) {
	e := newExchange(t)
	made := e.want("POST /api-keys", `{"description":"one","kind":"hmac"}`, e.join(ada), 200,
		`{"keyid":1,"apiKey":"SECRET","secret":"SECRET","description":"one","kind":"hmac","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	key, secret := made[:64], made[64:]
	e.now = e.now.Add(time.Minute)

	sign := func(method, path, query, body string) []string {
		hash := sha256.Sum256([]byte(body))
		r := bourse.Request{
			Exchange: strings.Repeat("0", 32), Key: key, Timestamp: e.now.UnixMilli(), Window: 5000,
			Method: method, Path: "/account/v2" + path, Query: query, BodyHash: hex.EncodeToString(hash[:]),
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(r.AppendText(nil))
		return []string{
			"Bourse-Key: " + key, fmt.Sprint("Bourse-Timestamp: ", r.Timestamp), "Bourse-Signature: " + hex.EncodeToString(mac.Sum(nil)),
		}
	}
	const email = `{"email":"` + ada + `","pendingChange":null}`
	get := sign("GET", "/email", "", "")
	e.want("GET /email", "", "", 200, email, get...)
	e.want("GET /email", "", "", 200, email, get...)
	e.fails("GET /email?limit=1", "", "", 403, "INVALID_SIGNATURE", get...)
	e.fails("GET /mfa/cases", "", "", 403, "INVALID_SIGNATURE", get...)
	e.fails("GET /email", "", "", 400, "MISSING_DATA", get[:2]...)
	e.fails("GET /email", "", "", 400, "VALIDATION_ERROR", append(get, "Authorization: Bearer x")...)
	e.fails("GET /email", "", "", 403, "INVALID_KEY", "Authorization: Bearer "+key)

	// A key changes nobody's keys, signed or not, and what changes something is taken once.
	end := sign("DELETE", "/api-keys/1", "", "")
	e.fails("DELETE /api-keys/1", "", "", 403, "FORBIDDEN", end...)
	e.fails("DELETE /api-keys/1", "", "", 409, "REQUEST_REPEATED", end...)
	e.fails("POST /sessions", `{"email":"a"}`, "", 403, "ALREADY_LOGGED_IN", sign("POST", "/sessions", "", `{"email":"a"}`)...)

	e.now = e.now.Add(5 * time.Second)
	e.fails("GET /email", "", "", 403, "REQUEST_EXPIRED", get...)
}

// TestKindsOfKeys makes keys of each kind, and with fields that do not fit.
func TestKindsOfKeys(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	const public = `"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n-----END PUBLIC KEY-----\n"`
	e.want("POST /api-keys", `{"description":"one","kind":"ed25519","publicKey":`+public+`}`, session, 200,
		`{"keyid":1,"apiKey":"SECRET","secret":null,"description":"one","kind":"ed25519","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	for _, bad := range []string{
		`"kind":"rsa"`, `"kind":""`, `"kind":7`, `"kind":"ed25519","publicKey":""`, `"kind":"ed25519","publicKey":"x"`,
		`"kind":"hmac","publicKey":` + public, `"publicKey":` + public,
	} {
		e.fails("POST /api-keys", `{"description":"two",`+bad+`}`, session, 400, "VALIDATION_ERROR")
	}
	e.fails("POST /api-keys", `{"description":"two","kind":"ed25519"}`, session, 400, "MISSING_DATA")
	e.want("PATCH /api-keys/1", `{"description":"uno","kind":"secret"}`, session, 200,
		`{"keyid":1,"description":"uno","kind":"ed25519","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
}
