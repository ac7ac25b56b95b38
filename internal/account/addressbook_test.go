package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// saver returns a rig with an account that can withdraw.
func saver(t *testing.T) (*rig, bourse.AccountID) {
	r := newRig(t)
	id := r.create("ada@example.com")
	for _, cmd := range []bourse.Command{
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: "Bitcoin", Scale: 8, Enabled: true}},
		{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{Symbol: "BTC", Name: "Bitcoin", Enabled: true}},
		{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &bourse.NetworkAsset{
			Asset: 1, Network: 1, Precision: 8, Confirms: 1, Enabled: true, FeeMax: bourse.Units(9),
		}},
		{Kind: bourse.CommandCredit, Account: id, AssetID: 1, Amount: bourse.Units(1000)},
	} {
		if o, err := r.submit(t.Context(), &cmd); err != nil || o.Reason != 0 {
			t.Fatal(o.Reason, err)
		}
	}
	return r, id
}

// withdraw asks for a withdrawal of an account that saves its address.
func (r *rig) withdraw(id bourse.AccountID, address, name string, amount uint64) (bourse.Outcome, error) {
	return r.Withdraw(r.t.Context(), &bourse.Command{
		Kind: bourse.CommandWithdraw, Account: id, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: 1, Asset: 1, Amount: bourse.Units(amount), Address: address,
		}},
	}, name)
}

// book tells an address book in short.
func (r *rig) book(id bourse.AccountID) string {
	r.t.Helper()
	list, err := r.AddressBook(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	var words []string
	for _, a := range list {
		words = append(words, fmt.Sprintf("%d %s=%s", a.ID, a.Name, a.Address))
	}
	return strings.Join(words, ", ")
}

func (r *rig) wantBook(id bourse.AccountID, want string) {
	r.t.Helper()
	if got := r.book(id); got != want {
		r.t.Errorf("address book %q, want %q", got, want)
	}
}

// names returns how many names the store has, pending ones too.
func (r *rig) names() (n int) {
	r.t.Helper()
	err := r.store.Names(r.t.Context(), func(*account.NameRow) error { n++; return nil })
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func TestAddressBook(t *testing.T) {
	r, id := saver(t)
	save := func(address, name string, code bourse.Code) {
		t.Helper()
		o, err := r.withdraw(id, address, name, 1)
		if code != 0 {
			wantCode(t, err, code)
		} else if err != nil || o.Reason != 0 {
			t.Error(o.Reason, err)
		}
	}
	save("a", "one", 0)
	save("a", "one", 0)
	save("a", "two", bourse.CodeConflict)
	save("b", "one", bourse.CodeConflict)
	save("b", "", 0)
	save("b", "two", 0)
	if o, err := r.withdraw(id, "c", "three", 5000); err != nil || o.Reason != bourse.InsufficientFunds {
		t.Errorf("too much: %v %v", o.Reason, err)
	}
	for range 2 {
		r.wantBook(id, "1 one=a, 2 two=b")
		if n := r.names(); n != 2 {
			t.Errorf("%d names", n)
		}
		r.restart()
	}
	wantCode(t, r.RenameAddress(t.Context(), id, 1, "two"), bourse.CodeConflict)
	wantCode(t, r.RenameAddress(t.Context(), id+1, 1, "x"), bourse.CodeNotFound)
	wantCode(t, r.RenameAddress(t.Context(), id, 3, "x"), bourse.CodeNotFound)
	wantCode(t, r.ForgetAddress(t.Context(), id+1, 1), bourse.CodeNotFound)
	wantCode(t, r.ForgetAddress(t.Context(), id, 0), bourse.CodeNotFound)
	if err := errors.Join(r.RenameAddress(t.Context(), id, 1, "uno"), r.ForgetAddress(t.Context(), id, 2)); err != nil {
		t.Fatal(err)
	}
	save("b", "two", 0)
	for range 2 {
		r.wantBook(id, "1 uno=a, 3 two=b")
		r.restart()
	}
}

func TestAddressNames(t *testing.T) {
	for name, valid := range map[string]bool{
		"a": true, "Cold wallet 7": true, " ": true, strings.Repeat("x", 255): true,
		"a_b": true, "<b>@[]": true, "é": true, "冷钱包": true, "کیف\u200cپول": true, "👨\u200d👩": true, strings.Repeat("é", 255): true,
		"": false, strings.Repeat("x", 256): false, strings.Repeat("é", 256): false, "a\x00": false, "a\nb": false, "\x7f": false,
		"a\u0085": false, "a\u2028": false, "a\u202eb": false, "\ufeff": false, "a\xff": false, "\ufffd": false,
	} {
		if account.ValidAddressName(name) != valid {
			t.Errorf("%q is valid: %v", name, !valid)
		}
	}
}

// TestAddressOutcomes breaks a withdrawal that saves its address off in every
// way, and wants the entry and its name to become what the journal says.
func TestAddressOutcomes(t *testing.T) {
	for how, name := range map[breakage]string{lost: "lost", unanswered: "unanswered", late: "late"} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", name, restart), func(t *testing.T) {
				r, id := saver(t)
				r.breaks = how
				_, err := r.withdraw(id, "a", "one", 1)
				wantCode(t, err, bourse.CodeUnknown)
				if restart {
					r.restart()
				} else {
					r.arrive()
				}
				want := "1 one=a"
				if how == lost {
					want = ""
				}
				if err := r.Confirm(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.wantBook(id, want)
				_, err = r.withdraw(id, "a", "one", 1)
				if how == lost && !restart { // the lost command may still arrive
					wantCode(t, err, bourse.CodeConflict)
					return
				}
				if err != nil {
					t.Error(err)
				}
				r.wantBook(id, "1 one=a")
			})
		}
	}
}

// TestAddressesOfAnotherJournal opens a store beside journals that do not know
// its names: an entry may have been forgotten, but not be somebody else's.
func TestAddressesOfAnotherJournal(t *testing.T) {
	r, id := saver(t)
	if _, err := r.withdraw(id, "a", "one", 1); err != nil {
		t.Fatal(err)
	}
	saved := &r.journal[len(r.journal)-1]
	r.stop()
	w := *saved.Wallet.Withdraw
	w.Save[0]++
	saved.Wallet = &bourse.WalletCommand{Withdraw: &w}
	r.assemble()
	if err := r.Open(t.Context()); !errors.Is(err, account.ErrMismatch) {
		t.Errorf("open: %v", err)
	}
	r.stop()
	r.journal = r.journal[:len(r.journal)-1]
	r.start()
	if n := r.names(); n != 0 {
		t.Errorf("%d names", n)
	}
	r.wantBook(id, "")
}

// TestLostNames starts with a store that is older than the journal.
func TestLostNames(t *testing.T) {
	r, id := saver(t)
	o, err := r.submit(t.Context(), &bourse.Command{
		Kind: bourse.CommandSaveAddress, Account: id, Token: bourse.Token{7},
		Wallet: &bourse.WalletCommand{Save: &bourse.SavedAddress{Network: 1, Asset: 1, Address: "a"}},
	})
	if err != nil || o.Reason != 0 {
		t.Fatal(o.Reason, err)
	}
	r.restart()
	r.wantBook(id, "1 Address 1=a")
	if err := r.RenameAddress(t.Context(), id, 1, "one"); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.wantBook(id, "1 one=a")
}

// TestAddressSnapshot replaces what a running service knows by a snapshot in
// which an entry was forgotten and another added meanwhile.
func TestAddressSnapshot(t *testing.T) {
	r, id := saver(t)
	for _, name := range []string{"a", "b"} {
		if _, err := r.withdraw(id, name, name, 1); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := r.ahead(
		bourse.Command{Kind: bourse.CommandForgetAddress, Account: id, Wallet: &bourse.WalletCommand{Address: 1}},
		bourse.Command{Kind: bourse.CommandSaveAddress, Account: id, Token: bourse.Token{7}, Wallet: &bourse.WalletCommand{
			Save: &bourse.SavedAddress{Network: 1, Asset: 1, Address: "c"},
		}})
	r.Begin()
	if err := r.Reset(nil); err != nil {
		t.Fatal(err)
	}
	var cmd bourse.Command
	if _, err := engine.Restore(snapshot, func(ev *bourse.Events) { r.Observe(&cmd, ev) }); err != nil {
		t.Fatal(err)
	}
	r.End()
	if err := r.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantBook(id, "2 b=b, 3 Address 3=c")
	if n := r.names(); n != 1 {
		t.Errorf("%d names", n)
	}
}
