package account_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// behind writes to the store behind the exchange's back, while it is stopped, and
// starts it again.
func (r *rig) behind(statement string, args ...any) {
	r.t.Helper()
	r.stop()
	if n := r.beside(statement, args...); n == 0 && !strings.HasPrefix(statement, "CREATE") {
		r.t.Fatalf("%s: changed no row", statement)
	}
	r.start()
}

// beside writes to the store by a connection of its own, and returns the number of changed rows.
func (r *rig) beside(statement string, args ...any) int64 {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	result, err := db.ExecContext(r.t.Context(), statement, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	n, err := result.RowsAffected()
	if err := errors.Join(err, db.Close()); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// stolen is a secret that an insider knows.
var stolen = account.Secret(bytes.Repeat([]byte("0a"), 32))

// TestInsiderOnKeys changes rows of keys with SQL. The key is refused, whatever it
// was changed to, with an alarm; the others are good, and a start goes on.
func TestInsiderOnKeys(t *testing.T) {
	hash := sha256.Sum256([]byte(string(stolen)))
	for what, change := range map[string]struct {
		statement string
		args      []any
	}{
		"another hash":       {"UPDATE keys SET hash = ? WHERE name = 'victim'", []any{hash[:]}},
		"one more scope":     {"UPDATE keys SET scopes = 'read,trade,withdraw' WHERE name = 'victim'", nil},
		"no addresses":       {"UPDATE keys SET addresses = '' WHERE name = 'victim'", nil},
		"other addresses":    {"UPDATE keys SET addresses = '0.0.0.0/0' WHERE name = 'victim'", nil},
		"a later expiry":     {"UPDATE keys SET expires = expires + 1 WHERE name = 'victim'", nil},
		"no expiry":          {"UPDATE keys SET expires = 0 WHERE name = 'victim'", nil},
		"another account":    {"UPDATE keys SET account = account + 1 WHERE name = 'victim'", nil},
		"an account beyond":  {"UPDATE keys SET account = -1 WHERE name = 'victim'", nil},
		"another token":      {"UPDATE keys SET token = randomblob(16) WHERE name = 'victim'", nil},
		"malformed scopes":   {"UPDATE keys SET scopes = 'read,everything' WHERE name = 'victim'", nil},
		"malformed networks": {"UPDATE keys SET addresses = '192.0.2.0/99' WHERE name = 'victim'", nil},
		"another salt":       {"UPDATE keys SET salt = randomblob(16) WHERE name = 'victim'", nil},
		"a change of itself": {"INSERT INTO key_changes SELECT randomblob(16), id, name, 'read,trade,withdraw', '', 0 FROM keys", nil},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			id := r.create("ada@example.com")
			r.create("mallory@example.com")
			here := netip.MustParsePrefix("192.0.2.0/24")
			_, victim := r.createKey(id, account.NewKey{
				Name: "victim", Addresses: []netip.Prefix{here}, Expires: bourse.TimeOf(r.now) + bourse.Hour,
			})
			_, other := r.createKey(id, account.NewKey{Name: "other"})
			r.behind(change.statement, change.args...)

			if _, err := r.Authenticate(t.Context(), stolen, anywhere); err == nil {
				t.Error("the insider's secret is good")
			}
			if who, err := r.Authenticate(t.Context(), victim, netip.MustParseAddr("203.0.113.1")); err == nil {
				t.Errorf("the key may be used from elsewhere as %+v", who)
			}
			who, err := r.Authenticate(t.Context(), victim, anywhere)
			if harmless := what == "a change of itself"; harmless {
				if err != nil || who.Scopes != account.DefaultScopes || len(r.forged) != 0 {
					t.Errorf("a change without a command: %+v %v %v", who, err, r.forged)
				}
			} else if err == nil || len(r.forged) != 1 {
				t.Errorf("the key is good as %+v, with alarms %v", who, r.forged)
			}
			if _, err := r.Authenticate(t.Context(), other, anywhere); err != nil {
				t.Errorf("another key: %v", err)
			}
		})
	}
}

// TestInsiderHidesKeys marks the row of a live key as revoked, gives it to somebody else or
// removes it. The owner's list shows the key, nobody else's does, and what ends a stolen
// account's access ends it.
func TestInsiderHidesKeys(t *testing.T) {
	for what, statement := range map[string]string{
		"revoked":   "UPDATE keys SET revoked = 1",
		"another's": "UPDATE keys SET account = account + 1",
		"removed":   "DELETE FROM keys",
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.join(ada)
			r.join(mallory)
			who, _ := r.session(ada)
			other, _ := r.session(mallory)
			id, secret := r.createKey(who.Account, account.NewKey{Name: "victim"})
			r.beside(statement)

			r.who(secret)
			keys, err := r.Keys(t.Context(), who.Account)
			if err != nil || len(keys) != 1 || keys[0].ID != id || keys[0].Revoked != 0 || keys[0].Scopes != account.DefaultScopes {
				t.Errorf("keys %+v %v", keys, err)
			}
			if keys, err := r.Keys(t.Context(), other.Account); err != nil || len(keys) != 0 {
				t.Errorf("keys of somebody else %+v %v", keys, err)
			}
			if err := r.EndAccess(t.Context(), who.Account, ""); err != nil {
				t.Fatal(err)
			}
			r.gone("the key", secret)
			r.restart()
			r.gone("the key after a restart", secret)
		})
	}
}

// TestInsiderOnARunningExchange changes a row while the exchange runs. The owner's
// next change of the key must not make the insider's row the journal's.
func TestInsiderOnARunningExchange(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	key, secret := r.createKey(id, account.NewKey{Name: "victim"})
	hash := sha256.Sum256([]byte(string(stolen)))
	r.beside("UPDATE keys SET hash = ?, scopes = 'read,trade,withdraw'", hash[:])

	k, err := r.Key(t.Context(), id, key)
	if err != nil || k.Scopes != account.DefaultScopes {
		t.Errorf("the key is shown as %+v, %v", k, err)
	}
	k.Name, k.Scopes = "new", account.ScopeRead
	if err := r.ChangeKey(t.Context(), account.Identity{Account: id, Key: key}, &k, visit); err != nil {
		t.Fatal(err)
	}
	if who, err := r.Authenticate(t.Context(), secret, anywhere); err != nil || who.Scopes != account.ScopeRead {
		t.Errorf("the owner's key is %+v, %v", who, err)
	}
	r.restart()
	if _, err := r.Authenticate(t.Context(), stolen, anywhere); err == nil || len(r.forged) != 1 {
		t.Errorf("the insider's secret is good (%v), with alarms %v", err, r.forged)
	}
}

// TestNewNameIsNotJournaled names a key anew, also behind a change that the store has not
// been told of, and wants no command for it and nothing else of the key to change.
func TestNewNameIsNotJournaled(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	key, secret := r.createKey(id, account.NewKey{Name: "one"})
	who := account.Identity{Account: id, Key: key}
	r.breaks = unanswered
	k := account.Key{ID: key, Account: id, Name: "two", Scopes: account.ScopeRead}
	if err := r.ChangeKey(t.Context(), who, &k, visit); err == nil {
		t.Error("it was answered")
	}
	before := r.engine.Seq()
	r.ended = nil
	k.Name = "three"
	if err := r.ChangeKey(t.Context(), who, &k, visit); err != nil {
		t.Fatal(err)
	}
	if r.engine.Seq() != before || len(r.ended) != 0 {
		t.Errorf("%d commands, and connections of %v ended", r.engine.Seq()-before, r.ended)
	}
	for range 2 {
		if got, err := r.Key(t.Context(), id, key); err != nil || got.Name != "three" || got.Scopes != account.ScopeRead {
			t.Errorf("the key is %+v %v", got, err)
		}
		if who := r.who(secret); who.Scopes != account.ScopeRead || len(r.forged) != 0 {
			t.Errorf("the key is let in as %+v, alarms %v", who, r.forged)
		}
		r.restart()
	}
}

// TestChangeOfAKeySurvives changes keys, with commands that arrive, arrive unheard of
// and never arrive, and wants a restart to find what the journal decided.
func TestChangeOfAKeySurvives(t *testing.T) {
	for breaks, want := range map[breakage]account.Scopes{
		0: account.ScopeRead, unanswered: account.ScopeRead, late: account.ScopeRead, lost: account.DefaultScopes,
	} {
		r := newRig(t)
		id := r.create("ada@example.com")
		key, secret := r.createKey(id, account.NewKey{Name: "one"})
		r.breaks = breaks
		k := account.Key{ID: key, Account: id, Name: "two", Scopes: account.ScopeRead}
		if err := r.ChangeKey(t.Context(), account.Identity{Account: id, Key: key}, &k, visit); (err == nil) != (breaks == 0) {
			t.Errorf("%d: changed with %v", breaks, err)
		}
		if breaks == unanswered {
			if who, err := r.Authenticate(t.Context(), secret, anywhere); err != nil || who.Scopes != want {
				t.Errorf("%d: before a restart the key is %+v %v", breaks, who, err)
			}
		}
		for range 2 {
			r.restart()
			if err := r.store.KeyChanges(t.Context(), func(c *account.KeyChange) error {
				t.Errorf("%d: after a restart %+v waits", breaks, c)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			who, err := r.Authenticate(t.Context(), secret, anywhere)
			if err != nil || who.Scopes != want || len(r.forged) != 0 {
				t.Errorf("%d: after a restart the key is %+v %v %v", breaks, who, err, r.forged)
			}
		}
	}
}
