package api

import (
	"encoding/base64"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Assertion returns a field with the assertion of a passkey; nil if it is absent.
func (f *Form) Assertion(name string) *account.Assertion {
	return object(f, name, account.ParseAssertion)
}

// Registration returns a field with a new passkey; nil if it is absent.
func (f *Form) Registration(name string) *account.Registration {
	return object(f, name, account.ParseRegistration)
}

// object parses a field that is an object; absent is nil.
func object[T any](f *Form, name string, parse func(field string, text []byte) (*T, error)) *T {
	v := f.value(name)
	switch {
	case v == nil:
		return nil
	case v.Kind() != '{':
		f.Fail(Invalid(name, "must be an object"))
		return nil
	}
	parsed, err := parse(name, v)
	f.Fail(err)
	return parsed
}

// WriteAssertion writes a member with a browser's options for asking a passkey, in the form of
// PublicKeyCredential.parseRequestOptionsFromJSON.
func WriteAssertion(out *wire.Writer, name string, a *account.AskedAssertion) {
	out.Name(name)
	out.Object()
	out.Word("challenge", base64url(a.Challenge))
	out.Text("rpId", a.Party)
	out.Word("userVerification", "required")
	writeWait(out, a)
	writeCredentials(out, "allowCredentials", a)
	out.EndObject()
}

// WritePasskey writes a member with a browser's options for making a passkey, in the form of
// PublicKeyCredential.parseCreationOptionsFromJSON.
func WritePasskey(out *wire.Writer, name string, a *account.AskedPasskey) {
	out.Name(name)
	out.Object()
	out.Word("challenge", base64url(a.Challenge))

	out.Name("rp")
	out.Object()
	out.Text("id", a.Party)
	out.Text("name", a.Issuer)
	out.EndObject()

	out.Name("user")
	out.Object()
	out.Word("id", base64url(a.Handle))
	out.Text("name", a.Email)
	out.Text("displayName", a.Email)
	out.EndObject()

	out.Name("pubKeyCredParams")
	out.Array()
	for _, alg := range account.PasskeyAlgorithms {
		out.Object()
		out.Word("type", publicKey)
		out.Int("alg", int64(alg))
		out.EndObject()
	}
	out.EndArray()

	out.Name("authenticatorSelection")
	out.Object()
	out.Word("residentKey", "required")
	out.Bool("requireResidentKey", true)
	out.Word("userVerification", "required")
	out.EndObject()

	out.Word("attestation", "none")
	writeWait(out, &a.AskedAssertion)
	writeCredentials(out, "excludeCredentials", &a.AskedAssertion)
	out.EndObject()
}

// publicKey is WebAuthn's only type of credentials.
const publicKey = "public-key"

func writeWait(out *wire.Writer, a *account.AskedAssertion) {
	out.Int("timeout", a.Wait.Std().UnixMilli())
}

func writeCredentials(out *wire.Writer, name string, a *account.AskedAssertion) {
	out.Name(name)
	out.Array()
	for _, id := range a.Credentials {
		out.Object()
		out.Word("type", publicKey)
		out.Word("id", base64url(id))
		out.EndObject()
	}
	out.EndArray()
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
