package account_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestSecretIsMasked prints a secret in every way.
func TestSecretIsMasked(t *testing.T) {
	const text = "5ec2e7"
	s := account.Secret(text)
	var out bytes.Buffer
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", struct{ Key account.Secret }{s})
		fmt.Fprintf(&out, verb+"\n", []account.Secret{s})
	}
	for _, v := range []any{s, struct{ Key account.Secret }{s}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("asked", slog.Any("key", s), slog.Any("request", struct{ Key account.Secret }{s}))
	}
	fmt.Fprint(&out, bourse.Errorf(bourse.CodeInvalid, "%s", s), s.String(), s.GoString())
	for _, leak := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text)} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q is in %s", leak, out.String())
		}
	}
}

func TestScopes(t *testing.T) {
	for list, want := range map[string]account.Scopes{
		"read": account.ScopeRead, "trade,read": account.DefaultScopes,
		"read, trade,withdraw": account.DefaultScopes | account.ScopeWithdraw,
		"":                     0, "read,": 0, "Read": 0, "admin": 0,
	} {
		got, err := account.ParseScopes(list)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %v (%v), want %v", list, got, err, want)
		}
		if again, _ := account.ParseScopes(got.String()); again != got {
			t.Errorf("%v is written %q and read %v", got, got.String(), again)
		}
	}
}

func TestNormalizeEmail(t *testing.T) {
	for s, want := range map[string]string{
		"a@b": "a@b", " Ada.Lovelace+x@Mail.Example.COM\n": "ada.lovelace+x@mail.example.com",
		"": "", "@": "", "a@": "", "@b": "", "a@b@c": "", "a b@c": "", "a@b.": "", ".a@b": "", "a..b@c": "",
		"a@b\r\nbcc: c@d": "", "<a@b>": "", "\"a\"@b": "", "ä@b": "", "a@bü": "", "a@b_c": "",
		strings.Repeat("a", 65) + "@b": "", "a@" + strings.Repeat("b", 253): "",
	} {
		got, err := account.NormalizeEmail(s)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q (%v), want %q", s, got, err, want)
		}
	}
}

func TestParseAddresses(t *testing.T) {
	got, err := account.ParseAddresses("192.0.2.7, 2001:db8::/32,::1")
	if err != nil || fmt.Sprint(got) != "[192.0.2.7/32 2001:db8::/32 ::1/128]" {
		t.Errorf("%v (%v)", got, err)
	}
	for _, s := range []string{"", "192.0.2", "192.0.2.7/33", "192.0.2.7,", "localhost", "192.0.2.7:80"} {
		if _, err := account.ParseAddresses(s); err == nil {
			t.Errorf("%q was read", s)
		}
	}
}
