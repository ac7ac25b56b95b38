package hostile

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

// The words of passkeys.txt:
//
//	assert, make           begin with what a good device sends: an assertion for a log-in, or
//	                       a new passkey that the exchange has asked for
//	send JSON              sends that in place of it
//	set NAME JSON          replaces a member; a name with a dot is one of a member's
//	unset NAME             takes one out
//	bytes NAME HEX         replaces the bytes of a member of the response
//	text NAME TEXT         the same, by text
//	patch NAME OFFSET HEX  changes some of them; an offset below zero counts from the end
//	append NAME HEX        adds some
//	attest FORMAT HEX      replaces the attestation by one of a format, with a statement
//	key HEX                replaces the new public key
//	id N                   makes the new passkey's id so long
//	refused STATUS CODE    sends it and wants that
//
// None of them begins a session or adds a passkey.

// TestPasskeys sends what no browser sends.
func TestPasskeys(t *testing.T) {
	h := &holder{x: attacked, session: attacked.logIn(t, "passkeys@example.com")}
	u, err := url.Parse(attacked.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	h.device = authenticator.New("http://localhost:" + u.Port())
	h.register(t, "passkeys@example.com")
	before := h.list(t)

	lay(t, "passkeys.txt", func(a *attack) {
		f := &forgery{attack: a, holder: h}
		a.each(f.do)
	})
	if now := h.list(t); now != before {
		t.Errorf("the passkeys are %s, were %s", now, before)
	}
}

// holder is a person with a passkey.
type holder struct {
	x       *exchange
	session string
	device  *authenticator.Device
}

// ask sends a request with the session, or without one.
func (h *holder) ask(t *testing.T, method, path, body string, guest bool) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.x.url("/account/v2"+path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !guest {
		req.Header.Set("Authorization", "Bearer "+h.session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out bytes.Buffer
	if _, err := out.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out.Bytes()
}

// options returns the options for a browser in an answer.
func options(t *testing.T, status int, body []byte) []byte {
	t.Helper()
	type holds struct {
		Passkey json.RawMessage `json:"passkey"`
	}
	var answer struct {
		holds
		Error holds `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Passkey)+len(answer.Error.Passkey) == 0 {
		t.Fatalf("no options: %d %s %v", status, body, err)
	}
	return append(answer.Passkey, answer.Error.Passkey...)
}

// register adds the holder's passkey, confirmed by mail.
func (h *holder) register(t *testing.T, email string) {
	t.Helper()
	h.ask(t, http.MethodPut, "/mfa/passkeys", `{}`, false)
	var letter struct{ Code string }
	if err := h.x.operate("mail/last", fields{"email": email}, &letter); err != nil {
		t.Fatal(err)
	}
	status, body := h.ask(t, http.MethodPut, "/mfa/passkeys", `{"code2FA":"`+letter.Code+`"}`, false)
	made, err := h.device.Create(options(t, status, body))
	if err != nil {
		t.Fatal(err)
	}
	if status, body := h.ask(t, http.MethodPost, "/mfa/passkeys", `{"name":"x","passkey":`+string(made)+`}`, false); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
}

func (h *holder) list(t *testing.T) string {
	t.Helper()
	_, body := h.ask(t, http.MethodGet, "/mfa/passkeys", "", false)
	var answer struct{ Passkeys []struct{ Number int } }
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Passkeys) != 1 {
		t.Fatalf("%s %v", body, err)
	}
	return fmt.Sprint(answer.Passkeys)
}

// forgery is a running case.
type forgery struct {
	*attack
	*holder
	making bool
	sent   map[string]any
	whole  string
}

func (f *forgery) do(word, text string) {
	f.Helper()
	first, rest, _ := strings.Cut(text, " ")
	switch word {
	case "assert":
		f.assert()
	case "make":
		f.create()
	case "send":
		f.whole = text
	case "set", "unset":
		f.set(word, first, rest)
	case "bytes":
		f.put(first, f.hex(rest))
	case "text":
		f.put(first, []byte(rest))
	case "append":
		f.put(first, append(f.bytes(first), f.hex(rest)...))
	case "patch":
		at, changed, _ := strings.Cut(rest, " ")
		f.patch(first, at, f.hex(changed))
	case "attest":
		f.attest(first, f.hex(rest), f.data(nil))
	case "key":
		f.attest("none", []byte{0xa0}, f.data(f.hex(text)))
	case "id":
		f.lengthen(text)
	case "refused":
		f.refused(first, rest)
	default:
		f.fail("no such word")
	}
}

func (f *forgery) assert() {
	status, body := f.ask(f.T, http.MethodPut, "/sessions/passkey", `{}`, true)
	f.begin(f.device.Get(options(f.T, status, body)))
}

func (f *forgery) create() {
	f.making = true
	status, body := f.ask(f.T, http.MethodPut, "/mfa/passkeys", `{}`, false)
	confirmed, err := f.device.Get(options(f.T, status, body))
	if err != nil {
		f.fail("%v", err)
	}
	status, body = f.ask(f.T, http.MethodPut, "/mfa/passkeys", `{"assertion2FA":`+string(confirmed)+`}`, false)
	f.begin(authenticator.New(f.device.Origin).Create(options(f.T, status, body)))
}

func (f *forgery) begin(good []byte, err error) {
	if err == nil {
		err = json.Unmarshal(good, &f.sent)
	}
	if err != nil {
		f.fail("%v", err)
	}
}

func (f *forgery) hex(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		f.fail("%v", err)
	}
	return b
}

func (f *forgery) set(word, name, value string) {
	in := f.sent
	if outer, inner, found := strings.Cut(name, "."); found {
		in, name = f.sent[outer].(map[string]any), inner //nolint:forcetypeassert // a case that is wrong fails
	}
	if word == "unset" {
		delete(in, name)
		return
	}
	in[name] = json.RawMessage(value)
}

func (f *forgery) response() map[string]any {
	return f.sent["response"].(map[string]any) //nolint:forcetypeassert // a case that is wrong fails
}

func (f *forgery) put(name string, b []byte) {
	f.response()[name] = base64.RawURLEncoding.EncodeToString(b)
}

func (f *forgery) bytes(name string) []byte {
	text, _ := f.response()[name].(string)
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		f.fail("%v", err)
	}
	return b
}

func (f *forgery) patch(name, offset string, changed []byte) {
	b := f.bytes(name)
	at, err := strconv.Atoi(offset)
	if err != nil {
		f.fail("%v", err)
	}
	if at < 0 {
		at += len(b)
	}
	copy(b[at:], changed)
	f.put(name, b)
}

// data returns the authenticator's data of a new passkey whose id is that of the case; a nil
// key is the good one.
func (f *forgery) data(key []byte) []byte {
	id, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(f.sent["id"]))
	if err != nil {
		f.fail("%v", err)
	}
	object := f.bytes("attestationObject")
	if at := bytes.Index(object, id); key == nil && at >= 0 {
		if key, _, err = cut(object[at+len(id):]); err != nil {
			f.fail("%v", err)
		}
	}
	hash := sha256.Sum256([]byte("localhost"))
	data := slices.Concat(hash[:], []byte{0x45, 0, 0, 0, 0}, make([]byte, 16))
	data = binary.BigEndian.AppendUint16(data, uint16(len(id)))
	return slices.Concat(data, id, key)
}

// cut returns the public key at the beginning of b: it is there, whatever map follows, because
// the device's attestation has it between its own members.
func cut(b []byte) (key, rest []byte, err error) {
	const size = 42 // {1: 1, 3: -8, -1: 6, -2: 32 bytes}
	if len(b) < size {
		return nil, nil, fmt.Errorf("%d bytes are no key", len(b))
	}
	return b[:size], b[size:], nil
}

// attest replaces the attestation.
func (f *forgery) attest(format string, statement, data []byte) {
	object := append([]byte("\xa3\x63fmt"), byte(0x60+len(format)))
	object = slices.Concat(object, []byte(format), []byte("\x67attStmt"), statement, []byte("\x68authData\x59"))
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	f.put("attestationObject", append(object, data...))
}

// lengthen gives the new passkey an id of a length.
func (f *forgery) lengthen(text string) {
	n, err := strconv.Atoi(text)
	if err != nil {
		f.fail("%v", err)
	}
	was, _ := base64.RawURLEncoding.DecodeString(fmt.Sprint(f.sent["id"]))
	object := f.bytes("attestationObject")
	key, _, err := cut(object[bytes.Index(object, was)+len(was):])
	if err != nil {
		f.fail("%v", err)
	}
	id := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, n))
	f.sent["id"], f.sent["rawId"] = id, id
	f.attest("none", []byte{0xa0}, f.data(key))
}

// refused sends the case and wants an error.
func (f *forgery) refused(status, code string) {
	f.Helper()
	text := f.whole
	if text == "" {
		b, err := json.Marshal(f.sent)
		if err != nil {
			f.fail("%v", err)
		}
		text = string(b)
	}
	method, path, body := http.MethodPost, "/sessions/passkey", `{"assertion":`+text+`}`
	if f.making {
		path, body = "/mfa/passkeys", `{"name":"x","passkey":`+text+`}`
	}
	got, answer := f.ask(f.T, method, path, body, !f.making)
	if err := f.unleaked(string(answer)); err != nil {
		f.fail("%v", err)
	}
	if strconv.Itoa(got) != status || !strings.Contains(string(answer), `"code":"`+code+`"`) {
		f.fail("answered was %d %.300s", got, answer)
	}
}
