package accounts_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// people writes two confirmed accounts, 7 and 8.
func people(t *testing.T, s *accounts.Store) {
	t.Helper()
	first := newAccount(1, "a@b")
	first.Password = "hash"
	if err := errors.Join(
		s.AddAccount(t.Context(), first), s.AddAccount(t.Context(), newAccount(2, "c@d")),
		s.Confirm(t.Context(), &account.Decisions{Accounts: map[bourse.Token]bourse.AccountID{{1}: 7, {2}: 8}}),
	); err != nil {
		t.Fatal(err)
	}
}

func testChangePerson(t *testing.T, s *accounts.Store) {
	people(t, s)
	person := account.Person{
		Password: "other", TOTP: []byte{1, 2, 3}, TOTPUsed: true, TOTPStep: 99,
		Cases: account.CaseLogin | account.CaseAPIKey,
	}
	err := s.ChangePerson(t.Context(), 7, func(row *account.AccountRow) error {
		if row.Password != "hash" {
			t.Errorf("the password was %q", row.Password)
		}
		row.Person, row.Email = person, "e@f"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	for want, change := range map[error]func(*account.AccountRow) error{
		enough:           func(row *account.AccountRow) error { row.Email = "x@y"; return enough },
		account.ErrTaken: func(row *account.AccountRow) error { row.Email, row.Password = "c@d", "lost"; return nil },
	} {
		if err := s.ChangePerson(t.Context(), 7, change); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if err := s.ChangePerson(t.Context(), 9, func(*account.AccountRow) error { return nil }); !errors.Is(err, account.ErrNone) {
		t.Errorf("nobody's account: %v", err)
	}
	got, ok, err := s.AccountOf(t.Context(), "e@f")
	if err != nil || !ok || got.ID != 7 || !reflect.DeepEqual(got.Person, person) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
}

func testKeyOnce(t *testing.T, s *accounts.Store) {
	people(t, s)
	once := func(token byte, of bourse.AccountID, name string) *account.KeyRow {
		row := newKey(token, of)
		copy(row.Once[:], name)
		row.Request = account.Digest{token}
		return row
	}
	if err := errors.Join(
		s.AddKey(t.Context(), once(3, 7, "x")), s.AddKey(t.Context(), once(4, 8, "x")), s.AddKey(t.Context(), once(5, 7, "y")),
		s.AddKey(t.Context(), once(6, 7, "")), s.AddKey(t.Context(), once(7, 7, "")),
		s.Confirm(t.Context(), &account.Decisions{Keys: map[bourse.Token]bourse.KeyID{{3}: 1, {6}: 2}}),
	); err != nil {
		t.Fatal(err)
	}
	if err := s.AddKey(t.Context(), once(8, 7, "x")); !errors.Is(err, account.ErrTaken) {
		t.Errorf("a second key of the name: %v", err)
	}
	want := *once(3, 7, "x")
	want.ID = 1
	got, ok, err := s.KeyOnce(t.Context(), 7, want.Once)
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v %v, want %+v", got, ok, err, want)
	}
	if _, ok, err := s.KeyOnce(t.Context(), 8, once(0, 0, "y").Once); ok || err != nil {
		t.Errorf("another account's name is known: %v %v", ok, err)
	}
	changed := account.Key{ID: 1, Account: 7, Name: "new", Scopes: account.ScopeWithdraw, Expires: 9}
	change, other := account.KeyChange{Key: changed, Salt: account.Salt{1}}, account.KeyChange{Key: changed, Salt: account.Salt{2}}
	dropped := account.KeyChange{Key: account.Key{ID: 2, Name: "dropped"}, Salt: account.Salt{3}}
	if err := errors.Join(
		s.AddKeyChange(t.Context(), &change), s.AddKeyChange(t.Context(), &other), s.AddKeyChange(t.Context(), &dropped),
		s.DropKeyChange(t.Context(), &dropped),
	); err != nil {
		t.Fatal(err)
	}
	if n := keyChanges(t, s); n != 2 {
		t.Errorf("%d changes wait, not 2", n)
	}
	confirmed := &account.Decisions{Changed: map[bourse.KeyID]account.KeyChange{1: change}}
	if err := errors.Join(s.Confirm(t.Context(), confirmed), s.Used(t.Context(), nil, map[bourse.KeyID]bourse.Time{1: 77})); err != nil {
		t.Fatal(err)
	}
	if n := keyChanges(t, s); n != 0 {
		t.Errorf("%d changes wait when one was confirmed", n)
	}
	changed.Created, changed.Used = 6, 77
	if list, err := s.KeysOf(t.Context(), 7); err != nil || len(list) != 2 || !reflect.DeepEqual(list[0].Key, changed) {
		t.Errorf("%+v %v, want %+v first", list, err, changed)
	}
}

func keyChanges(t *testing.T, s *accounts.Store) (n int) {
	err := s.KeyChanges(t.Context(), func(c *account.KeyChange) error {
		if n++; c.ID != 1 || c.Name != "new" || c.Scopes != account.ScopeWithdraw || c.Expires != 9 {
			t.Errorf("a change is %+v", c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func testSessions(t *testing.T, s *accounts.Store) {
	people(t, s)
	row := func(id account.SessionID, of bourse.AccountID) *account.SessionRow {
		return &account.SessionRow{Hash: account.Hash{byte(id)}, Session: account.Session{
			ID: id, Account: of, Agent: "agent", Created: 1, Expires: 2, Used: 3,
		}}
	}
	if err := errors.Join(
		s.AddSession(t.Context(), row(1, 7)), s.AddSession(t.Context(), row(2, 7)), s.AddSession(t.Context(), row(3, 8)),
		s.EndSessions(t.Context(), []account.SessionID{2, 9}),
		s.Used(t.Context(), map[account.SessionID]bourse.Time{3: 30, 2: 20}, nil),
	); err != nil {
		t.Fatal(err)
	}
	want := []account.SessionRow{*row(1, 7), *row(3, 8)}
	want[1].Used = 30
	var got []account.SessionRow
	if err := s.Sessions(t.Context(), func(r *account.SessionRow) error { got = append(got, *r); return nil }); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
}

func testActivity(t *testing.T, s *accounts.Store) {
	people(t, s)
	for i := range 6 {
		a := account.Activity{Account: bourse.AccountID(7 + i%2), Time: bourse.Time(i), Kind: "LOGIN", Address: "::1", Agent: "x", Detail: "d"}
		if err := s.AddActivity(t.Context(), &a, 10, 0); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.ActivityOf(t.Context(), 7, 0, 2)
	if err != nil || len(first) != 2 || first[0].Time != 4 || first[1].Time != 2 || first[0].Detail != "d" {
		t.Fatalf("%+v %v", first, err)
	}
	rest, err := s.ActivityOf(t.Context(), 7, first[1].ID, 2)
	if err != nil || len(rest) != 1 || rest[0].Time != 0 {
		t.Errorf("%+v %v", rest, err)
	}
}

func testTrimmedActivity(t *testing.T, s *accounts.Store) {
	people(t, s)
	add := func(id bourse.AccountID, at, since bourse.Time) {
		if err := s.AddActivity(t.Context(), &account.Activity{Account: id, Time: at, Kind: "LOGIN"}, 3, since); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(id bourse.AccountID, want ...bourse.Time) {
		t.Helper()
		list, err := s.ActivityOf(t.Context(), id, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []bourse.Time
		for _, a := range list {
			got = append(got, a.Time)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d are kept %v, want %v", id, got, want)
		}
	}
	add(8, 1, 0)
	for at := range bourse.Time(5) {
		add(7, at, 0)
	}
	kept(7, 4, 3, 2)
	kept(8, 1)
	add(7, 5, 4)
	kept(7, 5, 4)
	kept(8)
}

func testLogIns(t *testing.T, s *accounts.Store) {
	people(t, s)
	for i, a := range []account.Activity{
		{Account: 7, Kind: "LOGIN", Address: "::1"}, {Account: 7, Kind: "LOGIN_FAILED", Address: "::2"},
		{Account: 8, Kind: "LOGIN", Address: "::3"}, {Account: 7, Kind: "LOGIN", Address: "::4"},
		{Account: 7, Kind: "LOGIN", Address: "::5"}, {Account: 7, Kind: "LOGIN", Address: "::1"},
	} {
		a.Time = bourse.Time(i)
		if err := s.AddActivity(t.Context(), &a, 10, 0); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.LogIns(t.Context(), 7, 2)
	if want := []string{"::1", "::5"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	if got, err := s.LogIns(t.Context(), 0, 2); err != nil || len(got) != 0 {
		t.Errorf("nobody's: %v %v", got, err)
	}
}

func testUndos(t *testing.T, s *accounts.Store) {
	people(t, s)
	first := account.Undo{Email: "old@b", Code: account.Hash{1}, Expires: 5}
	second := account.Undo{Email: "older@b", Code: account.Hash{2}, Expires: 9, TOTP: []byte{3}, TOTPUsed: true}
	set := func(id bourse.AccountID, had []account.Undo, list ...account.Undo) {
		t.Helper()
		err := s.ChangePerson(t.Context(), id, func(row *account.AccountRow) error {
			if !reflect.DeepEqual(row.Undos, had) {
				t.Errorf("account %d had %+v, want %+v", id, row.Undos, had)
			}
			row.Undos = list
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	set(7, nil, first, second)
	set(8, nil, first)
	got, err := s.UndosOf(t.Context(), "old@b")
	if want := map[bourse.AccountID]account.Undo{7: first, 8: first}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	set(7, []account.Undo{first, second}, second)
	if got, err := s.UndosOf(t.Context(), "old@b"); err != nil || len(got) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	set(7, []account.Undo{second})
}
