package binance_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestListenKeysAreBounded creates listen keys again and again: each API key has one, and what
// has expired is forgotten.
func TestListenKeysAreBounded(t *testing.T) {
	d := open(t, api.Limits{})
	keys := d.facade.Listens
	for i := range bourse.KeyID(100) {
		for range 100 {
			keys.Create(account.Identity{Account: 2, Key: 10 + i%4})
		}
	}
	if n := keys.Len(); n != 4 {
		t.Errorf("%d listen keys of 4 keys", n)
	}
	d.Now += 2 * bourse.Hour
	keys.Create(account.Identity{Account: 1, Key: 1})
	if n := keys.Len(); n != 1 {
		t.Errorf("%d listen keys are left after two hours", n)
	}
}

// TestListenKeysAreTheirs extends and ends a listen key by another key: it is as if it did not
// exist. A listen key is no API key.
func TestListenKeysAreTheirs(t *testing.T) {
	const path = "/api/v3/userDataStream"
	d := open(t, api.Limits{})
	var got struct {
		ListenKey string `json:"listenKey"`
	}
	d.send("POST", path, "", d.alice.header()).into(d, &got)
	for _, method := range [...]string{"PUT", "DELETE"} {
		if a := d.send(method, path, "listenKey="+got.ListenKey, d.bob.header()); a.code() != -1125 {
			t.Errorf("%s by another key: %d %s", method, a.status, a.body)
		}
	}
	if a := d.send("PUT", path, "listenKey="+got.ListenKey, d.alice.header()); a.body != "{}" {
		t.Errorf("PUT: %d %s", a.status, a.body)
	}
	if a := d.send("POST", path, "", key{id: got.ListenKey}.header()); a.code() != -2015 {
		t.Errorf("a listen key in place of a key: %d %s", a.status, a.body)
	}
	if a := d.send("DELETE", path, "listenKey="+got.ListenKey, d.alice.header()); a.body != "{}" {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	if a := d.send("PUT", path, "listenKey="+got.ListenKey, d.alice.header()); a.code() != -1125 {
		t.Errorf("PUT of one that ended: %d %s", a.status, a.body)
	}
}
