package stream_test

import (
	"fmt"
	"sync"
	"testing"
)

// signedAuth returns an auth operation of alice's key that signs.
func signedAuth(id int, signature, more string) string {
	return fmt.Sprintf(`{"op":"auth","id":%d,"key":"alice signs","timestamp":7,"signature":%q%s}`, id, signature, more)
}

// TestSignedAuth checks what an auth operation is signed for, and that it is taken a single time.
func TestSignedAuth(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	wrong := "The signature does not fit the request"
	for i, step := range []struct{ signature, more, answer string }{
		{"x", "", failed(0, "INVALID_SIGNATURE", wrong)},
		{"AUTH /stream  7 5000 true", `,"cancel_on_close":true`, failed(1, "INVALID_SIGNATURE", wrong)},
		{"AUTH /stream cancel_on_close=true 7 5000 true", "", failed(2, "INVALID_SIGNATURE", wrong)},
		{"AUTH /stream  7 5000 true", `,"window":6000`, failed(3, "INVALID_SIGNATURE", wrong)},
		{"AUTH /stream  7 5000 true", `,"window":60001`, failed(4, "VALIDATION_ERROR", "window: must be from 1 to 60000 milliseconds")},
		{"AUTH /stream  7 5000 true", `,"window":"5000"`, failed(5, "VALIDATION_ERROR", "window: must be an integer")},
		{"AUTH /stream  7 5000 true", `,"api_key":"alice"`, failed(6, "VALIDATION_ERROR", "api_key: has no place beside a signature")},
		{"AUTH /stream  7 5000 true", "", resp(7)},
		{"AUTH /stream  7 5000 true", "", failed(8, "REQUEST_REPEATED", "The signed request was taken before: sign with another timestamp")},
		{"AUTH /stream cancel_on_close=true 7 6000 true", `,"window":6000,"cancel_on_close":true`, resp(9)},
	} {
		c.ask(signedAuth(i, step.signature, step.more), step.answer)
	}
	c.ok(`{"op":"sub","id":20,"streams":"myOrders"}`)

	other := x.dial()
	for _, missing := range []struct{ fields, name string }{
		{`"timestamp":7,"signature":"x"`, "key"}, {`"key":"alice signs","signature":"x"`, "timestamp"},
		{`"key":"alice signs","timestamp":7`, "signature"}, {`"window":7`, "key"},
	} {
		other.ask(`{"op":"auth","id":1,`+missing.fields+`}`, failed(1, "MISSING_DATA", "Missing data: "+missing.name))
	}
	other.ask(`{"op":"auth","id":2,"api_key":"alice signs"}`, failed(2, "INVALID_KEY", "Unauthorized"))
	other.ask(`{"op":"sub","id":3,"streams":"myOrders"}`, failed(3, "UNAUTHORIZED", "Unauthorized"))
}

// TestSigningKeyRevokedDuringAuth revokes a key between the check of its signature and the log-in.
func TestSigningKeyRevokedDuringAuth(t *testing.T) {
	x := newExchange(t, 0)
	var once sync.Once
	x.keys.passed = func() {
		once.Do(func() {
			x.keys.revoke(aliceKey)
			x.server.Revoke(1)
		})
	}
	c := x.dial()
	c.ask(signedAuth(1, "AUTH /stream  7 5000 true", ""), failed(1, "INVALID_KEY", "Unauthorized"))
	c.ask(`{"op":"sub","id":2,"streams":"myOrders"}`, failed(2, "UNAUTHORIZED", "Unauthorized"))
}
