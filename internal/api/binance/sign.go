package binance

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse/internal/account"
)

// Payload returns the text that a client signs: the query and the form behind it, without the
// first parameter signature and the ampersand beside it. signature is as it was sent.
func Payload(query, form string) (payload []byte, signature string) {
	rest, signature, found := cutSignature(query)
	payload = append(payload, rest...)
	if found {
		return append(payload, form...), signature
	}
	rest, signature, _ = cutSignature(form)
	return append(payload, rest...), signature
}

// cutSignature returns a text without its parameter signature.
func cutSignature(text string) (rest, signature string, found bool) {
	const name = signatureName + "="
	if after, first := strings.CutPrefix(text, name); first {
		signature, rest, _ = strings.Cut(after, "&")
		return rest, signature, true
	}
	before, after, found := strings.Cut(text, "&"+name)
	if !found {
		return text, "", false
	}
	signature, after, more := strings.Cut(after, "&")
	if more {
		before += "&" + after
	}
	return before, signature, true
}

// maxWindow bounds recvWindow, usualWindow replaces it; in milliseconds.
const (
	maxWindow   = 60_000
	usualWindow = 5_000
)

// times reads timestamp and recvWindow, in milliseconds. A window may have three decimals,
// which are cut.
func (p *Params) times() (at, window int64) {
	if !p.Has(timestamp) {
		p.Fail(missing(timestamp))
	}
	at = int64(parsedTime(p.Long(timestamp, 0)) / millisecond)

	window = usualWindow
	if text := p.Text(recvWindow); text != "" {
		whole, fraction, _ := strings.Cut(text, ".")
		n, err := strconv.ParseUint(whole, 10, 32)
		_, bad := strconv.ParseUint("0"+fraction, 10, 32)
		switch {
		case err != nil || bad != nil || len(fraction) > 3:
			p.Fail(illegalIn(recvWindow, `^([0-9]{1,5})(\.[0-9]{1,3})?$`))
		case n > maxWindow || n == maxWindow && strings.Trim(fraction, "0") != "":
			p.Fail(Errorf(codeMandatory, "'recvWindow' contains unexpected value. Cannot be greater than %d.", maxWindow))
		default:
			window = int64(n)
		}
	}
	return at, window
}

// decoded returns a signature in hexadecimal digits: HMACs are sent so, Ed25519 signatures in
// base64. It returns the empty string for any other.
func decoded(signature string) string {
	const hmacDigits = 64
	if len(signature) == hmacDigits {
		return strings.ToLower(signature)
	}
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(raw)
}

// Claim returns the identity that a key claims in a signed request.
func (f *Facade) Claim(ctx context.Context, key string, r *Request) (account.Identity, error) {
	if key == "" {
		return account.Identity{}, errNoKey
	}
	return f.Signed.Signer(ctx, account.Secret(key), r.From)
}

// Verify sets r.Who to the identity that the signature of a text proves. A request that changes
// something is taken once, unless a parameter makes a repeat harmless.
func (f *Facade) Verify(ctx context.Context, key string, r *Request, e *Endpoint, payload []byte) error {
	signature := decoded(r.Text(signatureName))
	at, window := r.times()
	switch {
	case r.Err() != nil:
		return r.Err()
	case signature == "":
		return errSignature
	}

	signed := &account.Signed{
		Key: account.Secret(key), Timestamp: at, Window: window, Payload: payload, Signature: signature,
	}
	once := e.Security > UserData && !e.Harmless && (e.Repeatable == "" || !r.Has(e.Repeatable))
	who, err := f.Signed.VerifySigned(ctx, signed, r.From, once)
	r.Who = who
	return err
}
