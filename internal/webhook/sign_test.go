package webhook

import (
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/history"
)

// TestSignature compares a signature with the one that Standard Webhooks publishes.
func TestSignature(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPublicAddresses wants every address refused that a public server cannot have.
func TestPublicAddresses(t *testing.T) {
	for text, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true, "198.17.0.1": true,
		"127.0.0.1": false, "127.8.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "192.0.0.8": false,
		"192.0.2.1": false, "198.18.0.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false,
		"ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false,
		"64:ff9b:1::1": false, "2002:7f00:1::1": false, "2001::1": false, "2001:db8::1": false, "fec0::1": false,
	} {
		if err := (Rules{}).admit(netip.MustParseAddr(text)); (err == nil) != public {
			t.Errorf("%s: %v", text, err)
		}
		if err := (Rules{Private: true}).admit(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s, permitted: %v", text, err)
		}
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/hook": "", "https://example.com:8443": "", "https://8.8.8.8/": "",
		"http://example.com/":                 "must begin with https://",
		"ftp://example.com/":                  "must begin with https://",
		"":                                    "must be as https://HOST/PATH",
		"https:///path":                       "must be as https://HOST/PATH",
		"https:example.com":                   "must be as https://HOST/PATH",
		"https://a b/":                        "must be as https://HOST/PATH",
		"https://u:p@example.com/":            "no user, query or fragment",
		"https://example.com/?token=1":        "no user, query or fragment",
		"https://example.com/?":               "no user, query or fragment",
		"https://example.com/#x":              "no user, query or fragment",
		"https://127.0.0.1/":                  "127.0.0.1 is not a public address",
		"https://[::1]:443/":                  "::1 is not a public address",
		"https://[::ffff:10.0.0.1]/":          "is not a public address",
		"https://" + strings.Repeat("a", 512): "must be as https://HOST/PATH",
	} {
		err := Rules{}.check(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := (Rules{Plain: true, Private: true}).check("http://127.0.0.1:80/x"); err != nil {
		t.Error(err)
	}
}

func TestKinds(t *testing.T) {
	kinds, err := ParseKinds("account, withdrawal.waiting,account,market")
	if err != nil || kinds.String() != "account,withdrawal.waiting,market" {
		t.Fatalf("%v %v", kinds, err)
	}
	for kind, want := range map[history.BulletinKind]bool{
		history.BulletinAccountTier: true, history.BulletinWithdrawalWaiting: true, history.BulletinMarketState: true,
		history.BulletinWithdrawalDone: false, history.BulletinDepositCredited: false, 0: false, history.LastBulletinKind + 1: false,
	} {
		if kinds.Has(kind) != want {
			t.Errorf("%s: %v", kind, !want)
		}
	}
	for _, bad := range []string{"", "account,", "Account", "account.", "account.creat", "deposit.credited.x", "a", "."} {
		if _, err := ParseKinds(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
