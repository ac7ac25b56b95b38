package accounts_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// places are where a store can be, by the kind of database.
var places = postgrestest.Places(func(t testing.TB) string { return filepath.Join(t.TempDir(), "accounts.db") })

// TestContract holds each kind of store against the contract.
func TestContract(t *testing.T) {
	for kind, place := range places {
		for _, c := range []struct {
			name string
			test func(*testing.T, *accounts.Store)
		}{
			{"a pending address is taken", testPendingAddressIsTaken},
			{"confirm", testConfirm},
			{"yield", testYield},
			{"names", testNames},
			{"change person", testChangePerson},
			{"dropped change", testDroppedChange},
			{"key once", testKeyOnce},
			{"sessions", testSessions},
			{"uses of passkeys", testPasskeyUses},
			{"activity", testActivity},
			{"log-ins", testLogIns},
			{"accounts by address", testAccountsLike},
			{"undos", testUndos},
			{"trimmed activity", testTrimmedActivity},
			{"notices", testNotices},
			{"tellings", testTellings},
			{"accepted terms", testAcceptedTerms},
			{"operators", testOperators},
			{"keys of operators", testOperatorKeys},
			{"fence", testFence},
			{"webhooks", testWebhooks},
		} {
			t.Run(kind+"/"+c.name, func(t *testing.T) { c.test(t, open(t, place(t))) })
		}
	}
}

func open(t *testing.T, place string) *accounts.Store {
	t.Helper()
	s, err := accounts.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newAccount(token byte, email string) *account.AccountRow {
	return &account.AccountRow{Account: account.Account{Email: email, Created: 5}, Token: bourse.Token{token}}
}

func newKey(token byte, of bourse.AccountID) *account.KeyRow {
	return &account.KeyRow{
		Key: account.Key{Account: of, Name: "k", Kind: account.KindHMAC, Scopes: account.ScopeRead, Created: 6}, Token: bourse.Token{token},
		Hash: account.Hash{token}, Material: []byte{token, 7},
	}
}

func testPendingAddressIsTaken(t *testing.T, s *accounts.Store) {
	if err := s.AddAccount(t.Context(), newAccount(1, "a@b")); err != nil {
		t.Fatal(err)
	}
	if err := s.AddAccount(t.Context(), newAccount(2, "a@b")); !errors.Is(err, account.ErrTaken) {
		t.Errorf("a second row: %v", err)
	}
	if _, ok, err := s.AccountOf(t.Context(), "a@b"); ok || err != nil {
		t.Errorf("a pending account is shown: %v %v", ok, err)
	}
	if err := s.Confirm(t.Context(), &account.Decisions{Dropped: []bourse.Token{{1}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddAccount(t.Context(), newAccount(2, "a@b")); err != nil {
		t.Errorf("after the first one was dropped: %v", err)
	}
}

// testConfirm confirms the same work twice, and wants the second time to change
// nothing.
func testConfirm(t *testing.T, s *accounts.Store) {
	if err := errors.Join(
		s.AddAccount(t.Context(), newAccount(1, "a@b")), s.AddKey(t.Context(), newKey(2, 7)), s.AddKey(t.Context(), newKey(3, 7)),
	); err != nil {
		t.Fatal(err)
	}
	work := &account.Decisions{
		Accounts: map[bourse.Token]bourse.AccountID{{1}: 7, {9}: 9},
		Keys:     map[bourse.Token]bourse.KeyID{{2}: 4, {3}: 3},
		Revoked:  map[bourse.KeyID]bourse.Time{4: 40},
	}
	again := &account.Decisions{
		Accounts: map[bourse.Token]bourse.AccountID{{1}: 8},
		Keys:     map[bourse.Token]bourse.KeyID{{2}: 5},
		Revoked:  map[bourse.KeyID]bourse.Time{4: 50},
		Dropped:  []bourse.Token{{1}, {2}, {3}},
	}
	wantAccount := *newAccount(1, "a@b")
	wantAccount.ID = 7
	wantKeys := []account.KeyRow{*newKey(3, 7), *newKey(2, 7)}
	wantKeys[0].ID, wantKeys[1].ID, wantKeys[1].Revoked = 3, 4, 40
	for _, w := range []*account.Decisions{work, again} {
		if err := s.Confirm(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Account(t.Context(), 7); err != nil || !ok || !reflect.DeepEqual(got, wantAccount) {
			t.Errorf("account %+v %v %v, want %+v", got, ok, err, wantAccount)
		}
		if got, err := s.KeysOf(t.Context(), 7); err != nil || !reflect.DeepEqual(got, wantKeys) {
			t.Errorf("keys %+v %v, want %+v", got, err, wantKeys)
		}
	}
}

// testYield wants the rows to end with the first error.
func testYield(t *testing.T, s *accounts.Store) {
	if err := errors.Join(s.AddKey(t.Context(), newKey(2, 7)), s.AddKey(t.Context(), newKey(3, 7))); err != nil {
		t.Fatal(err)
	}
	enough, seen := errors.New("enough"), 0
	err := s.Keys(t.Context(), func(*account.KeyRow) error {
		seen++
		return enough
	})
	if !errors.Is(err, enough) || seen != 1 {
		t.Errorf("%d rows were seen, %v", seen, err)
	}
}

// testNames confirms, renames and forgets names, and wants each to be there once
// for an account and network.
func testNames(t *testing.T, s *accounts.Store) {
	row := func(token byte, id bourse.AddressID, of bourse.AccountID, network bourse.NetworkID, name string) *account.NameRow {
		return &account.NameRow{ID: id, Token: bourse.Token{token}, Account: of, Network: network, Name: name}
	}
	if err := errors.Join(
		s.AddName(t.Context(), row(1, 0, 7, 1, "a")), s.AddName(t.Context(), row(2, 0, 7, 2, "a")),
		s.AddName(t.Context(), row(3, 0, 8, 1, "a")), s.AddName(t.Context(), row(4, 0, 7, 1, "b")),
	); err != nil {
		t.Fatal(err)
	}
	if err := s.AddName(t.Context(), row(5, 0, 7, 1, "a")); !errors.Is(err, account.ErrTaken) {
		t.Errorf("a second row: %v", err)
	}
	if got, err := s.NamesOf(t.Context(), 7); err != nil || len(got) != 0 {
		t.Errorf("pending names are shown: %+v %v", got, err)
	}
	work := &account.Decisions{
		Addresses: map[bourse.Token]bourse.AddressID{{1}: 11, {2}: 12, {9}: 19},
		Forgotten: []bourse.AddressID{12, 99}, Dropped: []bourse.Token{{1}, {4}},
	}
	for range 2 {
		if err := s.Confirm(t.Context(), work); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetName(t.Context(), row(6, 16, 7, 1, "a")); !errors.Is(err, account.ErrTaken) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := errors.Join(s.SetName(t.Context(), row(1, 11, 7, 1, "c")), s.SetName(t.Context(), row(6, 16, 7, 1, "a"))); err != nil {
		t.Fatal(err)
	}
	want := []account.NameRow{*row(1, 11, 7, 1, "c"), *row(6, 16, 7, 1, "a")}
	if got, err := s.NamesOf(t.Context(), 7); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("names %+v %v, want %+v", got, err, want)
	}
	all := 0
	if err := s.Names(t.Context(), func(*account.NameRow) error { all++; return nil }); err != nil || all != 3 {
		t.Errorf("%d rows (%v), want 3", all, err)
	}
}

// testNotices lists live and ended notices.
func testNotices(t *testing.T, s *accounts.Store) {
	var all []notice.Notice
	for _, kind := range []notice.Kind{notice.Banner, notice.Popup, notice.Announcement} {
		n := notice.Notice{Kind: kind, Title: "t", Body: "b\n\n<é>", Created: 5}
		if err := s.AddNotice(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
		all = append([]notice.Notice{n}, all...)
	}
	if all[0].ID <= all[1].ID || all[1].ID <= all[2].ID || all[2].ID == 0 {
		t.Errorf("ids %d, %d, %d", all[2].ID, all[1].ID, all[0].ID)
	}
	for range 2 { // the first end stays
		if err := s.EndNotice(t.Context(), all[1].ID, 7+all[1].Ended); err != nil {
			t.Fatal(err)
		}
		all[1].Ended = 7
	}

	if got, err := s.LiveNotices(t.Context()); err != nil || !reflect.DeepEqual(got, []notice.Notice{all[0], all[2]}) {
		t.Errorf("live %+v %v", got, err)
	}
	if got, err := s.Notices(t.Context(), 0, 10); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("all %+v %v, want %+v", got, err, all)
	}
	if got, err := s.Notices(t.Context(), all[0].ID, 1); err != nil || !reflect.DeepEqual(got, all[1:2]) {
		t.Errorf("a page %+v %v, want %+v", got, err, all[1:2])
	}
}

// testFence lets the highest incarnation write alone.
func testFence(t *testing.T, s *accounts.Store) {
	add := func(email string) error {
		return s.AddAccount(t.Context(), &account.AccountRow{Token: bourse.Token{email[0]}, Account: account.Account{Email: email}})
	}
	fenced := 0
	if err := errors.Join(s.Enter(t.Context(), accounts.Tenure{Incarnation: 1}, func(error) { fenced++ }), add("a@example.com")); err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context(), accounts.Tenure{Incarnation: 1}, func(error) { fenced++ }); err != nil || fenced != 0 {
		t.Fatalf("the same again: %v", err)
	}

	higher, lower := accounts.Beside(s), accounts.Beside(s)
	if err := higher.Enter(t.Context(), accounts.Tenure{Incarnation: 3, Term: 7}, nil); err != nil {
		t.Fatal(err)
	}
	if err := add("b@example.com"); !errors.Is(err, accounts.ErrFenced) || fenced != 1 {
		t.Errorf("a write of the first incarnation: %v, told %d times", err, fenced)
	}
	if err := lower.Enter(t.Context(), accounts.Tenure{Incarnation: 2, Term: 9}, nil); !errors.Is(err, accounts.ErrFenced) {
		t.Errorf("the second one enters after the third: %v", err)
	}
	row := account.AccountRow{Token: bourse.Token{9}, Account: account.Account{Email: "c@example.com"}}
	if err := higher.AddAccount(t.Context(), &row); err != nil {
		t.Errorf("the third one writes: %v", err)
	}
	testTerms(t, s, higher)
}

// testTerms lets the highest term of an incarnation write alone. leads has entered in the incarnation 3 and the term 7.
func testTerms(t *testing.T, s, leads *accounts.Store) {
	next, late := accounts.Beside(s), accounts.Beside(s)
	if err := errors.Join(leads.Holds(t.Context()), next.Enter(t.Context(), accounts.Tenure{Incarnation: 3, Term: 8}, nil)); err != nil {
		t.Fatal(err)
	}
	row := account.AccountRow{Token: bourse.Token{10}, Account: account.Account{Email: "d@example.com"}}
	if err := leads.AddAccount(t.Context(), &row); !errors.Is(err, accounts.ErrDeposed) {
		t.Errorf("a write of a lower term: %v", err)
	}
	if err := leads.Holds(t.Context()); !errors.Is(err, accounts.ErrDeposed) || !errors.Is(err, accounts.ErrFenced) {
		t.Errorf("a lower term holds the accounts: %v", err)
	}
	if err := s.Holds(t.Context()); !errors.Is(err, accounts.ErrFenced) || errors.Is(err, accounts.ErrDeposed) {
		t.Errorf("a lower incarnation holds the accounts: %v", err)
	}
	if err := late.Enter(t.Context(), accounts.Tenure{Incarnation: 3, Term: 7}, nil); !errors.Is(err, accounts.ErrDeposed) {
		t.Errorf("a lower term enters: %v", err)
	}
	if err := errors.Join(next.Holds(t.Context()), next.AddAccount(t.Context(), &row)); err != nil {
		t.Errorf("the highest term writes: %v", err)
	}
}
