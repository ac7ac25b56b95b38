package account_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// TestMismatch opens accounts beside a journal that is not theirs.
func TestMismatch(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"a journal without the account": func(r *rig) { r.journal = r.journal[:1] },
		"a journal without the key":     func(r *rig) { r.journal = r.journal[:2] },
		"the account of somebody else":  func(r *rig) { r.journal[1].Token[0]++ },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.createKey(r.create("ada@example.com"), account.NewKey{})
			r.stop()
			change(r)
			r.assemble()
			if err := r.Open(t.Context()); !errors.Is(err, account.ErrMismatch) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// TestBehind opens the accounts beside a journal that lost its end with the machine that wrote
// it: what nobody can use is removed, and what another journal allotted is still refused.
func TestBehind(t *testing.T) {
	r := newRig(t)
	ada := r.create("ada@example.com")
	_, kept := r.createKey(ada, account.NewKey{})
	length := len(r.journal)
	_, lost := r.createKey(ada, account.NewKey{})
	r.createKey(r.create("bob@example.com"), account.NewKey{})
	r.stop()

	r.journal = r.journal[:length]
	r.assemble()
	r.Behind = true
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Authenticate(t.Context(), kept, anywhere); err != nil {
		t.Errorf("the key that the journal knows: %v", err)
	}
	_, err := r.Authenticate(t.Context(), lost, anywhere)
	wantCode(t, err, bourse.CodeUnauthorized)
	if again := r.create("bob@example.com"); again != ada+1 {
		t.Errorf("the address of the lost account gets account %d", again)
	}
	r.createKey(ada+1, account.NewKey{})
	r.restart()

	r.stop()
	r.journal[1].Token[0]++
	r.assemble()
	r.Behind = true
	if err := r.Open(t.Context()); !errors.Is(err, account.ErrMismatch) {
		t.Errorf("the account of somebody else: %v", err)
	}
}

// TestStrangers starts beside a journal that knows more accounts than the store.
func TestStrangers(t *testing.T) {
	r := newRig(t)
	o, err := r.submit(t.Context(), &bourse.Command{Kind: bourse.CommandCreateAccount})
	if err != nil {
		t.Fatal(err)
	}
	r.restart()
	a, ok, err := r.ByID(t.Context(), bourse.AccountID(o.ID))
	if err != nil || !ok || a.ID != bourse.AccountID(o.ID) || a.Email != "" {
		t.Errorf("a stranger is %+v %v %v", a, ok, err)
	}
}

// TestSnapshot replaces what a running service knows by a snapshot in which a
// key has been revoked meanwhile.
func TestSnapshot(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	gone, goneSecret := r.createKey(id, account.NewKey{})
	_, goodSecret := r.createKey(id, account.NewKey{})
	snapshot := r.ahead(
		bourse.Command{Kind: bourse.CommandRevokeKey, Key: gone},
		bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: true})

	r.Begin()
	if err := r.Reset(nil); err != nil {
		t.Fatal(err)
	}
	var cmd bourse.Command
	_, err := engine.Restore(snapshot, func(ev *bourse.Events) {
		r.Observe(&cmd, ev)
		if _, err := r.Authenticate(t.Context(), goneSecret, anywhere); err != nil {
			t.Errorf("half a snapshot is seen: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.End()
	if len(r.ended) != 1 || r.ended[0] != gone {
		t.Errorf("told of %v, want %d", r.ended, gone)
	}
	_, err = r.Authenticate(t.Context(), goneSecret, anywhere)
	wantCode(t, err, bourse.CodeUnauthorized)
	if _, err := r.Authenticate(t.Context(), goodSecret, anywhere); err != nil {
		t.Error(err)
	}
	if a, _, _ := r.ByID(t.Context(), id); !a.Frozen {
		t.Error("the account is not frozen")
	}
}

// TestBackup restores a copy that was taken while somebody was at work, beside
// the journal of a later moment.
func TestBackup(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	_, secret := r.createKey(id, account.NewKey{})
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := accounts.Backup(t.Context(), r.path, copied); err != nil {
		t.Fatal(err)
	}
	if err := accounts.Backup(t.Context(), r.path, copied); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second copy over the first one: %v", err)
	}
	_, later := r.createKey(id, account.NewKey{})
	r.stop()
	r.path = copied
	r.start()
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
	_, err := r.Authenticate(t.Context(), later, anywhere)
	wantCode(t, err, bourse.CodeUnauthorized)
}

// TestNoSecretAtRest looks for secrets in the files.
func TestNoSecretAtRest(t *testing.T) {
	r := newRig(t)
	of := r.create("ada@example.com")
	_, secret := r.createKey(of, account.NewKey{})
	secrets := []account.Secret{secret}
	for _, k := range r.signingKeys(of, account.NewKey{}) {
		secrets = append(secrets, k.shown.APIKey)
		if k.shown.Secret != "" {
			secrets = append(secrets, k.shown.Secret)
		}
	}
	for _, name := range []string{r.path, r.path + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range secrets {
			raw, err := hex.DecodeString(string(s))
			if err != nil || bytes.Contains(b, []byte(string(s))) || bytes.Contains(b, raw) {
				t.Errorf("%s holds secret %d (%v)", name, i, err)
			}
		}
	}
}

// TestDamaged opens a store whose file was changed.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Open(t.Context(), path); err == nil {
		t.Error("text was opened")
	}
}

// TestKeysOutliveTheStoreForAWhile lets time pass while the store is not reached.
func TestKeysOutliveTheStoreForAWhile(t *testing.T) {
	r := newRig(t)
	_, secret := r.createKey(r.create("ada@example.com"), account.NewKey{})
	r.now = r.now.Add(grace)
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
	r.now = r.now.Add(time.Second)
	_, err := r.Authenticate(t.Context(), secret, anywhere)
	wantCode(t, err, bourse.CodeUnavailable)
	r.Reached()
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
}
