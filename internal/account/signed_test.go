package account_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// vectors are requests that OpenSSL and Python signed.
type vectors struct {
	Exchange, Key, Secret, Private, Public string

	Requests []struct {
		Timestamp, Window                              int64
		Method, Path, Query, Body, Text, HMAC, Ed25519 string
	}
}

func readVectors(t testing.TB) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/signed-requests.json")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || len(v.Requests) == 0 {
		t.Fatal(len(v.Requests), err)
	}
	return v
}

// private returns the private key of the vectors.
func (v *vectors) private(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(v.Private))
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.(ed25519.PrivateKey)
}

// TestSignedVectors checks the signed text and both kinds of signatures against requests that
// other programs signed, and that a request with any one part changed is refused.
func TestSignedVectors(t *testing.T) {
	v := readVectors(t)
	public, err := account.ParsePublicKey(v.Public)
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := hex.DecodeString(v.Exchange)
	if err != nil {
		t.Fatal(err)
	}

	for _, one := range v.Requests {
		r := account.Signed{
			Key: account.Secret(v.Key), Timestamp: one.Timestamp, Window: one.Window,
			Method: one.Method, Path: one.Path, Query: one.Query, Body: []byte(one.Body),
		}
		if text := account.SignedText(&r, [16]byte(exchange)); text != one.Text {
			t.Errorf("%s signs %q, want %q", one.Path, text, one.Text)
		}
		for _, kind := range []account.KeyKind{account.KindHMAC, account.KindEd25519} {
			r.Signature = one.HMAC
			if kind == account.KindEd25519 {
				r.Signature = one.Ed25519
			}
			fits := func(r account.Signed, exchange []byte) bool {
				return account.Proves(kind, account.Secret(v.Secret), public, &r, [16]byte(exchange))
			}
			if !fits(r, exchange) {
				t.Fatalf("the signature of %s by %s does not fit", one.Path, kind)
			}
			for what, changed := range changes(r) {
				if fits(changed, exchange) {
					t.Errorf("%s by %s fits with another %s", one.Path, kind, what)
				}
			}
			sandbox := slices.Clone(exchange)
			sandbox[15] ^= 1
			if fits(r, sandbox) {
				t.Errorf("%s by %s fits another exchange", one.Path, kind)
			}
		}
	}
}

// changes returns a request with each of its parts changed alone.
func changes(r account.Signed) map[string]account.Signed {
	list := map[string]account.Signed{}
	change := func(what string, by func(*account.Signed)) {
		changed := r
		by(&changed)
		list[what] = changed
	}

	change("key", func(r *account.Signed) { r.Key = "f" + r.Key[1:] })
	change("timestamp", func(r *account.Signed) { r.Timestamp++ })
	change("window", func(r *account.Signed) { r.Window++ })
	change("method", func(r *account.Signed) { r.Method += "S" })
	change("path", func(r *account.Signed) { r.Path += "/" })
	change("query", func(r *account.Signed) { r.Query += "&" })
	change("body", func(r *account.Signed) { r.Body = append(bytes.Clone(r.Body), ' ') })
	change("place of the query", func(r *account.Signed) { r.Path, r.Query = r.Path+"?"+r.Query, "" })

	digits := []byte(r.Signature)
	if digits[0]++; digits[0] == '9'+1 || digits[0] == 'f'+1 {
		digits[0] = '0'
	}
	change("signature", func(r *account.Signed) { r.Signature = string(digits) })
	change("length of the signature", func(r *account.Signed) { r.Signature = r.Signature[2:] })
	change("end of the signature", func(r *account.Signed) { r.Signature += "00" })
	change("signature without digits", func(r *account.Signed) { r.Signature = "" })
	return list
}

// signingKey is a key of a rig that signs.
type signingKey struct {
	*rig
	kind   account.KeyKind
	id     bourse.KeyID
	shown  account.Shown
	secret ed25519.PrivateKey
}

// signingKeys returns a key of each kind that signs, of one account.
func (r *rig) signingKeys(of bourse.AccountID, k account.NewKey) (keys []*signingKey) {
	r.t.Helper()
	for _, kind := range []account.KeyKind{account.KindHMAC, account.KindEd25519} {
		one := &signingKey{rig: r, kind: kind}
		if k.Kind, k.PublicKey = kind, nil; kind == account.KindEd25519 {
			v := readVectors(r.t)
			one.secret = v.private(r.t)
			k.PublicKey = one.secret.Public().(ed25519.PublicKey)
		}

		if k.Name == "" || k.Name == account.KindHMAC.String() {
			k.Name = kind.String()
		}
		var err error
		if one.id, one.shown, err = r.CreateKey(r.t.Context(), of, k); err != nil {
			r.t.Fatal(err)
		}
		if (one.shown.Secret != "") != (kind == account.KindHMAC) {
			r.t.Errorf("a key of kind %s has a secret: %v", kind, one.shown.Secret != "")
		}
		keys = append(keys, one)
	}
	return keys
}

// sign returns a request of the present.
func (k *signingKey) sign(change ...func(*account.Signed)) *account.Signed {
	s := &account.Signed{
		Key: k.shown.APIKey, Timestamp: k.now.UnixMilli(), Window: 5000,
		Method: "POST", Path: "/spot/open_orders/new", Body: []byte(`{}`),
	}
	for _, by := range change {
		by(s)
	}
	text := []byte(account.SignedText(s, k.Exchange))
	if k.kind == account.KindEd25519 {
		s.Signature = hex.EncodeToString(ed25519.Sign(k.secret, text))
		return s
	}
	mac := hmac.New(sha256.New, []byte(string(k.shown.Secret)))
	mac.Write(text)
	s.Signature = hex.EncodeToString(mac.Sum(nil))
	return s
}

// gets checks the outcome of a signed request.
func (k *signingKey) gets(what string, s *account.Signed, once bool, want error) {
	k.t.Helper()
	who, err := k.VerifySigned(k.t.Context(), s, anywhere, once)
	if !errors.Is(err, want) || err == nil && who.Key != k.id {
		k.t.Errorf("%s by %s: %+v %v, want %v", what, k.kind, who, err, want)
	}
}

// later moves the timestamp by milliseconds.
func later(by int64) func(*account.Signed) { return func(s *account.Signed) { s.Timestamp += by } }

// TestSignedRequests checks windows, clocks and single use.
func TestSignedRequests(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(time.Minute)
	for _, k := range r.signingKeys(r.create(ada), account.NewKey{}) {
		one := k.sign()
		k.gets("a request", one, true, nil)
		k.gets("its repeat", one, true, account.ErrRepeated)
		k.gets("its repeat as a read", one, false, nil)
		k.gets("another one", k.sign(later(-1)), true, nil)
		k.gets("one with another window", k.sign(func(s *account.Signed) { s.Window-- }), true, nil)
		wrong := *one
		wrong.Body = []byte(`{"a":1}`)
		k.gets("a changed one", &wrong, false, account.ErrSignature)

		k.gets("the oldest one", k.sign(later(-4999)), true, nil)
		k.gets("an older one", k.sign(later(-5000)), true, account.ErrClock)
		k.gets("an older read", k.sign(later(-5000)), false, account.ErrClock)
		k.gets("the newest one", k.sign(later(1000)), true, nil)
		k.gets("a newer one", k.sign(later(1001)), true, account.ErrClock)
		k.gets("a wide window", k.sign(later(-59_999), func(s *account.Signed) { s.Window = 60_000 }), false, nil)

		r.now = r.now.Add(4999 * time.Millisecond)
		k.gets("a repeat at the end of the window", one, true, account.ErrRepeated)
		r.now = r.now.Add(time.Millisecond)
		k.gets("a repeat beyond the window", one, true, account.ErrClock)
	}
}

// TestSignedRequestsAfterARestart checks that no request of an earlier process is taken again:
// the new one does not know which were.
func TestSignedRequestsAfterARestart(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(time.Minute)
	keys := r.signingKeys(r.create(ada), account.NewKey{})
	early := map[*signingKey][]*account.Signed{}
	for _, k := range keys {
		early[k] = []*account.Signed{k.sign(), k.sign(later(1000))}
		for _, s := range early[k] {
			k.gets("a request", s, true, nil)
		}
	}
	r.restart()
	for _, k := range keys {
		for _, s := range early[k] {
			k.gets("a repeat after the restart", s, true, account.ErrClock)
		}
		k.gets("a read after the restart", k.sign(later(-3000)), false, nil)
	}
	r.now = r.now.Add(time.Millisecond)
	for _, k := range keys {
		k.gets("a new request", k.sign(later(1000)), true, nil)
	}
}

// TestSignedRequestsFollowTheExchange checks that requests are held against the exchange's time,
// which the machine's may differ from, and that those from before its start are refused.
func TestSignedRequestsFollowTheExchange(t *testing.T) {
	r := newRig(t)
	keys := r.signingKeys(r.create(ada), account.NewKey{})
	r.KeepTime(func() bourse.Time { return bourse.TimeOf(r.now) + bourse.Minute })
	for _, k := range keys {
		k.gets("a request of the machine's time", k.sign(), false, account.ErrClock)
		k.gets("a read of the exchange's time", k.sign(later(60_000)), false, nil)
		k.gets("a request of the start", k.sign(later(61_000)), true, account.ErrClock)
	}
	r.now = r.now.Add(time.Millisecond)
	for _, k := range keys {
		k.gets("a request after the start", k.sign(later(61_000)), true, nil)
	}
}

// TestSigningKeysDoNotShow checks that a key that signs is no secret, and a secret signs
// nothing: with the id alone, nobody gets in.
func TestSigningKeysDoNotShow(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(time.Minute)
	of := r.create(ada)
	for _, k := range r.signingKeys(of, account.NewKey{}) {
		r.gone("the id of a key that signs", k.shown.APIKey)
		if k.shown.Secret != "" {
			r.gone("a signing secret", k.shown.Secret)
		}
		k.gets("an empty signature", func() *account.Signed { s := k.sign(); s.Signature = ""; return s }(), false, account.ErrSignature)
	}

	_, secret := r.createKey(of, account.NewKey{})
	shown := &signingKey{rig: r, kind: account.KindHMAC, shown: account.Shown{APIKey: secret, Secret: secret}}
	shown.gets("a secret that signs", shown.sign(), false, account.ErrUnauthorized)
	shown.gets("a secret that signs for another time", shown.sign(later(-99_999)), false, account.ErrUnauthorized)
	if _, err := r.Signer(t.Context(), secret, anywhere); !errors.Is(err, account.ErrUnauthorized) {
		t.Errorf("a secret claims to sign: %v", err)
	}
}

// TestSigningKeysHaveTerms checks that scopes, addresses, expiry and revocation hold for keys
// that sign, and outlive a restart.
func TestSigningKeysHaveTerms(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(time.Minute)
	keys := r.signingKeys(r.create(ada), account.NewKey{
		Scopes: account.ScopeRead, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Expires: bourse.TimeOf(r.now) + bourse.Hour,
	})
	r.restart()

	for _, k := range keys {
		who, err := k.VerifySigned(t.Context(), k.sign(), anywhere, false)
		if err != nil || who.Scopes != account.ScopeRead {
			t.Errorf("%s after a restart: %+v %v", k.kind, who, err)
		}
		_, err = k.VerifySigned(t.Context(), k.sign(), netip.MustParseAddr("203.0.113.1"), false)
		wantCode(t, err, bourse.CodeUnauthorized)

		listed, err := r.Key(t.Context(), who.Account, k.id)
		if err != nil || listed.Kind != k.kind {
			t.Errorf("key %+v %v, want one of kind %s", listed, err, k.kind)
		}
		listed.Scopes = account.ScopeTrade
		if err := r.ChangeKey(t.Context(), who, &listed, account.Visit{}); err != nil {
			t.Fatal(err)
		}
	}

	r.restart()
	for _, k := range keys {
		if who, err := k.VerifySigned(t.Context(), k.sign(), anywhere, false); err != nil || who.Scopes != account.ScopeTrade {
			t.Errorf("%s after a change and a restart: %+v %v", k.kind, who, err)
		}
	}
	r.now = r.now.Add(time.Hour)
	keys[0].gets("an expired key", keys[0].sign(), false, account.ErrUnauthorized)
	r.now = r.now.Add(-time.Hour)
	for _, k := range keys {
		if err := r.RevokeKey(t.Context(), k.id); err != nil {
			t.Fatal(err)
		}
		k.gets("a revoked key", k.sign(), false, account.ErrUnauthorized)
	}
}

// TestInsiderOnSigningKeys changes rows of keys that sign with SQL: the key is refused, with an
// alarm. The secret of a row opens in no other row.
func TestInsiderOnSigningKeys(t *testing.T) {
	for what, statement := range map[string]string{
		"another public key": "UPDATE keys SET material = randomblob(32) WHERE kind = 'ed25519'",
		"a known secret":     "UPDATE keys SET material = (SELECT material FROM keys WHERE name = 'own') WHERE kind = 'hmac' AND name = 'victim'",
		"a shown key":        "UPDATE keys SET kind = 'secret' WHERE name = 'victim' AND kind = 'hmac'",
		"another kind":       "UPDATE keys SET kind = 'hmac' WHERE kind = 'ed25519'",
		"no kind":            "UPDATE keys SET kind = 'none' WHERE kind = 'ed25519'",
		"no material":        "UPDATE keys SET material = NULL WHERE kind = 'ed25519'",
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.now = r.now.Add(time.Minute)
			keys := r.signingKeys(r.create(ada), account.NewKey{Name: "victim"})
			if _, _, err := r.CreateKey(t.Context(), r.create(mallory), account.NewKey{Name: "own", Kind: account.KindHMAC}); err != nil {
				t.Fatal(err)
			}
			r.behind(statement)
			if len(r.forged) != 1 {
				t.Errorf("alarms %v, want 1", r.forged)
			}

			refused := 0
			for _, k := range keys {
				r.gone("the id", k.shown.APIKey)
				if _, err := k.VerifySigned(t.Context(), k.sign(), anywhere, false); err != nil {
					refused++
				}
			}
			if refused != 1 {
				t.Errorf("%d keys are refused, want 1", refused)
			}
		})
	}
}

// TestSignedTextsAreBounded fills an account's table of texts: its next request is refused and
// another account's is not, until the windows end.
func TestSignedTextsAreBounded(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(time.Minute)
	now := bourse.TimeOf(r.now)
	table := account.NewTexts()
	use := func(of bourse.AccountID, n int, at bourse.Time) error {
		var text account.Digest
		text[0], text[1], text[2] = byte(n), byte(n>>8), byte(n>>16)
		return table.UseText(of, text, at+5*bourse.Second, at)
	}

	for n := range account.MostTexts {
		if err := use(1, n, now); err != nil {
			t.Fatalf("text %d: %v", n, err)
		}
	}
	if err := use(1, account.MostTexts, now); !errors.Is(err, bourse.ErrBusy) {
		t.Errorf("one more: %v", err)
	}
	if err := use(1, 7, now); !errors.Is(err, account.ErrRepeated) {
		t.Errorf("a repeat: %v", err)
	}
	if err := use(2, 7, now); err != nil {
		t.Errorf("another account: %v", err)
	}
	if err := use(1, 7, now+6*bourse.Second); err != nil {
		t.Errorf("after the windows: %v", err)
	}
	if err := use(1, 8, now-bourse.Second); !errors.Is(err, account.ErrClock) {
		t.Errorf("a text that may have been forgotten: %v", err)
	}
}

// TestPublicKeys reads public keys.
func TestPublicKeys(t *testing.T) {
	v := readVectors(t)
	for _, bad := range []string{
		"", "x", v.Private, strings.Replace(v.Public, "PUBLIC", "RSA PUBLIC", 2), strings.Repeat("a", 2000) + v.Public,
		"-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n",
		// An X25519 key has the same form.
		"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEA9QgE0HhiVYJYtcVVSWpmyHwRTeBEhaYjAnPAcuQ1KAs=\n-----END PUBLIC KEY-----\n",
	} {
		if _, err := account.ParsePublicKey(bad); err == nil {
			t.Errorf("%q is a public key", bad)
		} else {
			wantCode(t, err, bourse.CodeInvalid)
		}
	}

	r := newRig(t)
	of := r.create(ada)
	public, _ := account.ParsePublicKey(v.Public)
	for _, bad := range []account.NewKey{
		{Kind: account.KindEd25519}, {Kind: account.KindEd25519, PublicKey: public[:31]}, {Kind: 9},
		{Kind: account.KindHMAC, PublicKey: public}, {PublicKey: public},
	} {
		if id, _, err := r.CreateKey(t.Context(), of, bad); err == nil {
			t.Errorf("%+v is key %d", bad, id)
		}
	}
}

// FuzzSigned reads the texts of a signed request, and of a public key, that strangers send.
func FuzzSigned(f *testing.F) {
	v := readVectors(f)
	f.Add("1700000000000", "5000", v.Requests[0].HMAC, v.Public)
	f.Add("0", "", "zz", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n")
	f.Add("01", "60001", strings.Repeat("00", 64), v.Private)
	f.Add("9999999999999999", "-1", v.Requests[0].Ed25519, "")
	public, err := account.ParsePublicKey(v.Public)
	if err != nil {
		f.Fatal(err)
	}

	f.Fuzz(func(t *testing.T, timestamp, window, signature, key string) {
		r := account.Signed{Key: account.Secret(v.Key), Method: "POST", Path: "/spot/time", Signature: signature}
		if err := r.ParseTimes(timestamp, window); err == nil {
			if r.Timestamp <= 0 || r.Window <= 0 || r.Window > 60_000 {
				t.Errorf("%q %q are %d %d", timestamp, window, r.Timestamp, r.Window)
			}
			text := account.SignedText(&r, [16]byte{})
			if parts := account.Parts(text); len(parts) != 9 || parts[3] != timestamp || window != "" && parts[4] != window {
				t.Errorf("%q %q are signed as %q", timestamp, window, parts)
			}
		}
		for _, kind := range []account.KeyKind{account.KindHMAC, account.KindEd25519} {
			if account.Proves(kind, account.Secret(v.Secret), public, &r, [16]byte{1}) {
				t.Errorf("%q is a signature by %s", signature, kind)
			}
		}
		if parsed, err := account.ParsePublicKey(key); err == nil && len(parsed) != ed25519.PublicKeySize {
			t.Errorf("%q is a key of %d bytes", key, len(parsed))
		}
	})
}
