package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Signer and VerifySigned let "s3cret-signs" sign, by naming its request's path as the signature.
// The desk has no store: what proves a signature is tested in package account.
func (gate) Signer(_ context.Context, key account.Secret, _ netip.Addr) (account.Identity, error) {
	if key != "s3cret-signs" {
		return account.Identity{}, account.ErrUnauthorized
	}
	return account.Identity{Account: 2, Key: 3, Scopes: account.ScopeRead | account.ScopeTrade}, nil
}

func (g gate) VerifySigned(
	ctx context.Context, r *account.Signed, from netip.Addr, once bool,
) (account.Identity, error) {
	who, err := g.Signer(ctx, r.Key, from)
	switch {
	case err != nil:
		return who, err
	case r.Signature != signatureOf(r.Method, r.Path, r.Query, string(r.Body), once):
		return account.Identity{}, account.ErrSignature
	}
	return who, nil
}

func signatureOf(method, path, query, body string, once bool) string {
	if once {
		method += " once"
	}
	return strings.Join([]string{method, path, query, body}, " ")
}

// TestSigned checks which parts of a request a signature is checked against, which requests are
// taken once, and which headers are refused.
func TestSigned(t *testing.T) {
	d := newDesk(t, api.Limits{})
	const two, done = `{"success":true,"account":2}`, `{"success":true}`
	useless := failure("INVALID_KEY", "Unauthorized")
	wrong := failure("INVALID_SIGNATURE", "The signature does not fit the request")
	for _, c := range []struct {
		target, body string
		once         bool
		more         []string
		want         string
	}{
		{"/spot/who", `{}`, false, nil, two},
		{"/spot/who?a=%2C&b", `{ }`, false, nil, two},
		{"/spot//wh%6f", `{}`, false, nil, two},
		{"/spot/maybe", `{}`, false, nil, two},
		{"/spot/who", `{}`, true, nil, wrong},
		{"/spot/trade/now", `{}`, true, nil, done},
		{"/spot/trade/now", `{}`, false, nil, wrong},
		{"/spot/trade/named", `{"client_id":"x"}`, false, nil, done},
		{"/spot/trade/named", `{"client_id":null}`, true, nil, done},
		{"/spot/trade/named", `{}`, true, nil, done},

		{"/spot/who", `{}`, false, []string{"Bourse-Key", "s3cret-signs"}, failure("VALIDATION_ERROR", "Bourse-Key: is given twice")},
		{"/spot/who", `{}`, false, []string{"Bourse-Window", "0"}, failure("VALIDATION_ERROR", "window: must be from 1 to 60000 milliseconds")},
		{"/spot/who", `{}`, false, []string{"Authorization", "Bearer s3cret-reads"}, failure("VALIDATION_ERROR", "The request is signed and shows a key as well: send one of them")},
		{"/spot/who", `{"api_key":"s3cret-reads"}`, false, nil, failure("VALIDATION_ERROR", "The request is signed and shows a key as well: send one of them")},
		{"/spot/who", `[`, false, nil, failure("VALIDATION_ERROR", notObject)},

		// Market data looks at no key, and at no signature.
		{"/spot/echo", `{"text":"x"}`, true, nil, `{"success":true,"text":"x"}`},
	} {
		path, query, _ := strings.Cut(c.target, "?")
		headers := append([]string{
			"Bourse-Key", "s3cret-signs", "Bourse-Timestamp", "1700000000000",
			"Bourse-Signature", signatureOf("POST", path, query, c.body, c.once),
		}, c.more...)
		if r, got := d.ask(http.MethodPost, c.target, strings.NewReader(c.body), headers...); r.status != http.StatusOK || got != c.want {
			t.Errorf("%s %s %q: %d %s, want %s", c.target, c.body, c.more, r.status, got, c.want)
		}
	}

	if _, got := d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), "Bourse-Key", "s3cret-reads", "Bourse-Timestamp", "1", "Bourse-Signature", "x"); got != useless {
		t.Errorf("a secret that signs: %s", got)
	}
	if _, got := d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), "Bourse-Key", "s3cret-signs"); got != failure("MISSING_DATA", "Missing data: Bourse-Timestamp") {
		t.Errorf("without a timestamp: %s", got)
	}
	d.post("/spot/who", `{"api_key":"s3cret-signs"}`, useless)
}

// TestSignaturesAreBounded checks that a request of an account beyond its limit costs no
// verification, that a bad signature is told nothing of that limit, and that bad signatures
// of a source are bounded like bad secrets.
func TestSignaturesAreBounded(t *testing.T) {
	sign := func(signature string) []string {
		return []string{"Bourse-Key", "s3cret-signs", "Bourse-Timestamp", "1", "Bourse-Signature", signature}
	}
	good := signatureOf("POST", "/spot/who", "", "{}", false)

	d := newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 2}}})
	for i, signature := range []string{good, "bad", "bad", good} {
		r, got := d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), sign(signature)...)
		if limited := r.status == http.StatusTooManyRequests; limited != (i >= 2) {
			t.Errorf("request %d: %d %s", i, r.status, got)
		}
		if told := r.header.Get("RateLimit-Limit") != ""; told != (i != 1) {
			t.Errorf("request %d is told of a limit: %v", i, told)
		}
	}
	d.post("/spot/who", `{"api_key":"s3cret-reads"}`, `{"success":true,"account":1}`)

	d = newDesk(t, api.Limits{FailedAuth: api.Rate{PerSecond: 1, Burst: 2}})
	for i, signature := range []string{"bad", "bad", "bad", good} {
		r, got := d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), sign(signature)...)
		if limited := r.status == http.StatusTooManyRequests; limited != (i == 2) {
			t.Errorf("signature %d: %d %s", i, r.status, got)
		}
	}
}
