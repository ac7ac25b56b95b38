package client_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// signing returns the options of a key of each kind that signs, each of an account of its own: orders that
// are canceled as a stream closes would be the next kind's.
func (x *exchange) signing(t *testing.T) map[string]client.Options {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKIXPublicKey(public)
	must(t, err)
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))

	config := ok(ok(client.New(x.url(), client.Options{}))(t).Config(soon(t)))(t)
	list := map[string]client.Options{}
	for kind, publicKey := range map[string]string{"hmac": "", "ed25519": text} {
		email := fmt.Sprintf("s%d@example.org", mathrand.Uint64())
		must(t, outside.Operate(x.socket, "account/create", map[string]any{"email": email}, nil))
		must(t, outside.Operate(x.socket, "credit", map[string]any{"account": email, "asset": "BTC", "amount": "10"}, nil))
		must(t, outside.Operate(x.socket, "credit", map[string]any{"account": email, "asset": "USDT", "amount": "100000"}, nil))
		var made struct {
			Key    string `json:"api_key"`
			Secret string
		}
		must(t, outside.Operate(x.socket, "key/create", map[string]any{
			"account": email, "name": kind, "scopes": "read,trade", "kind": kind, "public_key": publicKey,
		}, &made))
		o := client.Options{Key: made.Key, Exchange: config.Exchange, Dial: x.dial, Sign: client.SignEd25519(private)}
		if kind == "hmac" {
			o.Sign = client.SignHMAC(made.Secret)
		}
		list[kind] = o
		awaitFresh(t, ok(client.New(x.url(), o))(t))
	}
	return list
}

// awaitFresh waits for the first second of an exchange to pass, in which it takes no signed change.
func awaitFresh(t *testing.T, c *client.Client) {
	t.Helper()
	defer c.Close()
	for {
		err := c.Cancel(soon(t), 1)
		var refused *client.Error
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if refused.Code != "REQUEST_EXPIRED" {
			return
		}
	}
}

// TestSignedAcrossAStart follows with a key that signs while the exchange is killed and started: it
// logs in again by itself, though the exchange takes no signature in its first second.
func TestSignedAcrossAStart(t *testing.T) {
	x := another(t)
	c := ok(client.New(x.url(), x.signing(t)["ed25519"]))(t)
	defer c.Close()
	ctx := soon(t)
	starts := 0
	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyOrders}}) {
		must(t, err)
		switch event.Message.(type) {
		case *client.Current:
			if starts++; starts == 2 {
				ok(c.Place(ctx, limit("BTC/USDT", client.Buy, "1", "10")))(t)
				continue
			}
			x.kill()
			must(t, x.start())
		case *client.OrderEvent:
			return
		}
	}
}

// TestSigned reads, trades and follows its own orders with keys that sign.
func TestSigned(t *testing.T) {
	for kind, o := range sandbox.signing(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := soon(t)
			c := ok(client.New(sandbox.url(), o))(t)
			t.Cleanup(c.Close)

			placed := ok(c.Place(ctx, limit("BTC/USDT", client.Buy, "1", "10")))(t)
			open := collect(t, c.OpenOrders(ctx, "BTC/USDT"))
			if len(open) != 1 || open[0].OrderID != placed.OrderID {
				t.Errorf("open orders %+v, want %d", open, placed.OrderID)
			}
			once := ok(c.PlaceOnce(ctx, limit("BTC/USDT", client.Buy, "2", "10")))(t)
			for range 3 { // in one millisecond, perhaps
				ok(c.CancelAll(ctx, "BTC/USDT"))(t)
			}
			if limits := ok(c.Limits(ctx))(t); len(limits) > 0 && limits[0].Scope != "account" {
				t.Errorf("limits %+v", limits)
			}

			canceled := false
			for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyOrders}, CancelOnClose: true}) {
				must(t, err)
				switch m := event.Message.(type) {
				case *client.Current:
					placed = ok(c.Place(ctx, limit("BTC/USDT", client.Buy, "3", "10")))(t)
					must(t, c.Cancel(ctx, placed.OrderID))
				case *client.OrderEvent:
					canceled = m.OrderID == placed.OrderID && m.Status == client.Canceled
				}
				if canceled {
					break
				}
			}
			if !canceled || once.OrderID == 0 {
				t.Errorf("no cancel was seen; once %+v", once)
			}
		})
	}
}

// TestSignedForAnother checks that a request for another exchange is refused, and that a
// client without an exchange's id is none.
func TestSignedForAnother(t *testing.T) {
	for kind, o := range sandbox.signing(t) {
		for _, bad := range []string{"", "x", strings.Repeat("0", 31), strings.Repeat("g", 32), strings.ToUpper(o.Exchange)} {
			without := o
			without.Exchange = bad
			if _, err := client.New(sandbox.url(), without); err == nil {
				t.Errorf("%q is the id of an exchange", bad)
			}
		}

		o.Exchange = strings.Repeat("0", 32)
		c := ok(client.New(sandbox.url(), o))(t)
		_, err := c.Place(soon(t), limit("BTC/USDT", client.Buy, "1", "10"))
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != "INVALID_SIGNATURE" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestSignedVectors compares signatures with those of other programs.
func TestSignedVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/signed-requests.json")
	must(t, err)
	var v struct {
		Secret, Private string
		Requests        []struct{ Text, HMAC, Ed25519 string }
	}
	must(t, json.Unmarshal(text, &v))
	block, _ := pem.Decode([]byte(v.Private))
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(t, err)

	for _, r := range v.Requests {
		shared := hex.EncodeToString(client.SignHMAC(v.Secret)([]byte(r.Text)))
		paired := hex.EncodeToString(client.SignEd25519(private.(ed25519.PrivateKey))([]byte(r.Text)))
		if shared != r.HMAC || paired != r.Ed25519 {
			t.Errorf("%q is signed %s and %s", r.Text, shared, paired)
		}
	}
	if len(v.Requests) == 0 {
		t.Error("no vectors")
	}
}
