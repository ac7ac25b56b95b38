package accounts_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// change writes what the row of account 7 is to become.
func change(t *testing.T, s *accounts.Store, salt byte, edit func(*account.AccountRow)) (account.AccountRow, error) {
	t.Helper()
	row, ok, err := s.Account(t.Context(), 7)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	row.Salt = account.Salt{salt}
	edit(&row)
	return row, s.AddPersonChange(t.Context(), &row)
}

func changes(t *testing.T, s *accounts.Store) (list []account.AccountRow) {
	t.Helper()
	err := s.PersonChanges(t.Context(), func(row *account.AccountRow) error {
		list = append(list, *row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func testChangePerson(t *testing.T, s *accounts.Store) {
	people(t, s)
	if first, err := s.UseStep(t.Context(), 7, 99); err != nil || !first {
		t.Error(first, err)
	}
	if again, err := s.UseStep(t.Context(), 7, 99); err != nil || again {
		t.Error("a step was taken twice", err)
	}
	passkeys := []account.Passkey{
		{Number: 1, Name: "phone", Credential: []byte{1}, PublicKey: []byte{2}, Synced: true, Created: 7},
		{Number: 3, Name: "stick", Credential: []byte{3}, PublicKey: []byte{4}, Counter: 1<<32 - 1, Created: 8},
	}
	undos := []account.Undo{
		{Email: "a@b", Code: account.Hash{1}, Expires: 5, TOTP: []byte{9}, TOTPUsed: true, Passkeys: passkeys[:1]},
		{Email: "o@p", Expires: 6},
	}
	row, err := change(t, s, 101, func(row *account.AccountRow) {
		row.Email, row.Password, row.TOTP, row.TOTPUsed = "e@f", "other", []byte{1, 2, 3}, true
		row.Cases, row.Undos, row.Passkeys = account.CaseLogin|account.CaseAPIKey, undos, passkeys
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := change(t, s, 102, func(row *account.AccountRow) { row.Email = "c@d" }); !errors.Is(err, account.ErrTaken) {
		t.Errorf("another account's address: %v", err)
	}
	if err := s.AddAccount(t.Context(), newAccount(3, "e@f")); !errors.Is(err, account.ErrTaken) {
		t.Errorf("an address that is reserved: %v", err)
	}
	if got, ok, err := s.AccountOf(t.Context(), "a@b"); err != nil || !ok || got.Password != "hash" {
		t.Errorf("before it is confirmed: %+v %v %v", got, ok, err)
	}
	waits := row
	waits.Token, waits.Created, waits.TOTPStep = bourse.Token{}, 0, 0
	if list := changes(t, s); len(list) != 1 || !reflect.DeepEqual(list[0], waits) {
		t.Errorf("%+v waits, want %+v", list, waits)
	}

	confirmed := &account.Decisions{People: map[bourse.AccountID]account.AccountRow{7: row}}
	for range 2 {
		if err := s.Confirm(t.Context(), confirmed); err != nil {
			t.Fatal(err)
		}
	}
	row.TOTPStep = 0
	if got, ok, err := s.AccountOf(t.Context(), "e@f"); err != nil || !ok || !reflect.DeepEqual(got, row) {
		t.Errorf("%+v %v %v, want %+v", got, ok, err, row)
	}
	if ids, err := s.UndosOf(t.Context(), "a@b"); err != nil || !slices.Equal(ids, []bourse.AccountID{7}) {
		t.Errorf("ways back: %v %v", ids, err)
	}
	if list := changes(t, s); len(list) != 0 {
		t.Errorf("%+v wait after a change", list)
	}
}

// testDroppedChange wants a change that never was to leave nothing, and the steps of a
// secret to outlive changes of other things.
func testDroppedChange(t *testing.T, s *accounts.Store) {
	people(t, s)
	if _, err := s.UseStep(t.Context(), 7, 99); err != nil {
		t.Fatal(err)
	}
	if _, err := change(t, s, 101, func(row *account.AccountRow) { row.Email = "e@f" }); err != nil {
		t.Fatal(err)
	}
	row, err := change(t, s, 102, func(row *account.AccountRow) { row.Password = "new" })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		s.Confirm(t.Context(), &account.Decisions{Dropped: []bourse.Token{{101}}}),
		s.AddAccount(t.Context(), newAccount(3, "e@f")),
		s.Confirm(t.Context(), &account.Decisions{
			People: map[bourse.AccountID]account.AccountRow{7: row}, Dropped: []bourse.Token{{102}},
		}),
	); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Account(t.Context(), 7)
	if err != nil || got.Password != "new" || got.TOTPStep != 99 || got.Salt != row.Salt || len(changes(t, s)) != 0 {
		t.Errorf("%+v %v", got, err)
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
	changed.Kind, changed.Created, changed.Used = account.KindHMAC, 6, 77
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
		return &account.SessionRow{Hash: account.Hash{byte(id)}, Salt: account.Salt{byte(id)}, Session: account.Session{
			ID: id, Account: of, Agent: "agent", Address: "2001:db8::7", Created: 1, Expires: 2, Used: 3,
		}}
	}
	if err := errors.Join(
		s.AddSession(t.Context(), row(1, 7)), s.AddSession(t.Context(), row(2, 7)), s.AddSession(t.Context(), row(3, 8)),
		s.Confirm(t.Context(), &account.Decisions{Ended: []account.SessionID{2, 9}}),
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

// testPasskeyUses counts signatures, and forgets them with the passkey.
func testPasskeyUses(t *testing.T, s *accounts.Store) {
	people(t, s)
	counts, silent := []byte("counts"), []byte("silent")
	for i, use := range []struct {
		of         bourse.AccountID
		credential []byte
		counter    uint32
		want       bool
	}{
		{7, counts, 5, true}, {7, counts, 5, false}, {7, counts, 4, false}, {7, counts, 0, false}, {7, counts, 1<<32 - 1, true},
		{7, silent, 0, true}, {7, silent, 0, true}, {7, silent, 1, true}, {7, silent, 0, false}, {8, counts, 1, true},
	} {
		if got, err := s.UsePasskey(t.Context(), use.of, use.credential, use.counter, bourse.Time(i)); err != nil || got != use.want {
			t.Errorf("use %d: %v %v", i, got, err)
		}
	}
	uses := map[string]bourse.Time{"counts": 4, "silent": 7}
	if got, err := s.PasskeyUses(t.Context(), 7); err != nil || !reflect.DeepEqual(got, uses) {
		t.Errorf("uses %v %v, want %v", got, err, uses)
	}

	row, err := change(t, s, 101, func(row *account.AccountRow) {
		row.Passkeys = []account.Passkey{{Number: 1, Credential: silent}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Confirm(t.Context(), &account.Decisions{People: map[bourse.AccountID]account.AccountRow{7: row}}); err != nil {
		t.Fatal(err)
	}
	delete(uses, "counts")
	if got, err := s.PasskeyUses(t.Context(), 7); err != nil || !reflect.DeepEqual(got, uses) {
		t.Errorf("uses of those that are left %v %v, want %v", got, err, uses)
	}
	if got, err := s.PasskeyUses(t.Context(), 8); err != nil || len(got) != 1 {
		t.Errorf("somebody else's %v %v", got, err)
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
	last := func(ids ...bourse.AccountID) []account.Activity {
		list, err := s.LastActivities(t.Context(), ids, "SIGNUP", "LOGIN")
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b account.Activity) int { return int(a.Account) - int(b.Account) })
		return list
	}
	if list := last(7); len(list) != 1 || list[0] != first[0] {
		t.Errorf("the last one is %+v", list)
	}
	if list := last(9, 8, 7); len(list) != 2 || list[0] != first[0] || list[1].Account != 8 || list[1].Time != 5 {
		t.Errorf("the last ones are %+v", list)
	}
	if list := last(); len(list) != 0 {
		t.Errorf("of nobody there is %+v", list)
	}
	if list, err := s.LastActivities(t.Context(), []bourse.AccountID{7}, "SIGNUP", "LOGIN_FAILED"); err != nil || len(list) != 0 {
		t.Errorf("of no kind there is %+v: %v", list, err)
	}

	rows, err := s.AccountsByID(t.Context(), []bourse.AccountID{8, 9, 7})
	if err != nil || len(rows) != 2 || rows[0].ID+rows[1].ID != 15 {
		t.Errorf("accounts by id: %+v %v", rows, err)
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

	for at := range bourse.Time(9) {
		kind := [...]string{"LOGIN_FAILED", "MFA_FAILED"}[at%2]
		if err := s.AddActivity(t.Context(), &account.Activity{Account: 7, Time: 10 + at, Kind: kind}, 2, 0); err != nil {
			t.Fatal(err)
		}
	}
	kept(7, 18, 17, 5, 4) // failures push out none but failures
	add(7, 20, 0)
	add(7, 21, 0)
	kept(7, 21, 20, 18, 17, 5)
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
	for limit, want := range map[int][]string{1: {"::1"}, 2: {"::1", "::5"}, 9: {"::1", "::5", "::4"}} {
		if got, err := s.LogIns(t.Context(), 7, limit); err != nil || !slices.Equal(got, want) {
			t.Errorf("of the newest %d: %v %v, want %v", limit, got, err, want)
		}
	}
	if got, err := s.LogIns(t.Context(), 0, 2); err != nil || len(got) != 0 {
		t.Errorf("nobody's: %v %v", got, err)
	}
}

// testAccountsLike wants the accounts with a beginning of an address, whatever characters follow it.
func testAccountsLike(t *testing.T, s *accounts.Store) {
	emails := []string{"al@b.c", "al~@b.c", "ak~@b.c", "am@b.c", "a%@b.c", "al@b.cd"}
	decided := &account.Decisions{Accounts: map[bourse.Token]bourse.AccountID{}}
	for i, email := range emails {
		row := newAccount(byte(i+1), email)
		if err := s.AddAccount(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		if email != "al@b.cd" { // that one is pending
			decided.Accounts[row.Token] = bourse.AccountID(10 - i)
		}
	}
	if err := s.Confirm(t.Context(), decided); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		begins string
		after  bourse.AccountID
		limit  int
		want   []string
	}{
		{"al", 0, 9, []string{"al~@b.c", "al@b.c"}}, {"al", 0, 1, []string{"al~@b.c"}}, {"al", 9, 9, []string{"al@b.c"}},
		{"al", 10, 9, nil}, {"al@b.c", 0, 9, []string{"al@b.c"}}, {"a%", 0, 9, []string{"a%@b.c"}}, {"%", 0, 9, nil}, {"é", 0, 9, nil},
		{"", 6, 3, []string{"am@b.c", "ak~@b.c", "al~@b.c"}},
	} {
		rows, err := s.AccountsLike(t.Context(), c.begins, c.after, c.limit)
		var got []string
		for i := range rows {
			got = append(got, rows[i].Email)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q after %d, at most %d: %q %v, want %q", c.begins, c.after, c.limit, got, err, c.want)
		}
	}
}

// TestAccountsLikeReadARange asks SQLite how it finds accounts by a beginning: by the index on addresses.
func TestAccountsLikeReadARange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	open(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var id, parent, unused int
	var step string
	err = db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+accounts.SelectLike, "a", "b", 0, 1).Scan(&id, &parent, &unused, &step)
	if err != nil || !strings.HasPrefix(step, "SEARCH accounts USING INDEX") || !strings.HasSuffix(step, "(email>? AND email<?)") {
		t.Errorf("accounts are found by %q: %v", step, err)
	}
}

func testUndos(t *testing.T, s *accounts.Store) {
	people(t, s)
	first := account.Undo{Email: "old@b", Code: account.Hash{1}, Expires: 5}
	second := account.Undo{Email: "older@b", Code: account.Hash{2}, Expires: 9, TOTP: []byte{3}, TOTPUsed: true}
	salt := byte(0)
	set := func(id bourse.AccountID, list ...account.Undo) {
		t.Helper()
		row, _, err := s.Account(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		salt++
		row.Salt, row.Undos = account.Salt{salt}, list
		if err := errors.Join(
			s.AddPersonChange(t.Context(), &row),
			s.Confirm(t.Context(), &account.Decisions{People: map[bourse.AccountID]account.AccountRow{id: row}}),
		); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Account(t.Context(), id); err != nil || !reflect.DeepEqual(got.Undos, list) {
			t.Errorf("account %d has %+v %v, want %+v", id, got.Undos, err, list)
		}
	}
	want := func(want ...bourse.AccountID) {
		t.Helper()
		got, err := s.UndosOf(t.Context(), "old@b")
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
	set(7, first, second)
	set(8, first)
	want(7, 8)
	set(7, second)
	want(8)
	set(7)
	set(8)
	want()
}

// testAcceptedTerms wants the first acceptance of a version to stay, and versions apart.
func testAcceptedTerms(t *testing.T, s *accounts.Store) {
	first := account.Acceptance{Account: 7, Version: "v1", Time: 5, Address: "192.0.2.1"}
	again := account.Acceptance{Account: 7, Version: "v1", Time: 9, Address: "192.0.2.2"}
	for _, a := range []account.Acceptance{first, again, {Account: 8, Version: "v2", Time: 6}} {
		if err := s.AcceptTerms(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
	}

	var list []account.Acceptance
	err := s.AcceptedTerms(t.Context(), "v1", func(a *account.Acceptance) error { list = append(list, *a); return nil })
	if err != nil || len(list) != 1 || list[0] != first {
		t.Errorf("v1 was accepted by %+v, %v", list, err)
	}
}

// testTellings wants the last wishes of each account.
func testTellings(t *testing.T, s *accounts.Store) {
	last := account.Telling{Page: account.NewsFills | account.NewsWithdrawals, Mail: account.NewsDeposits}
	for _, wishes := range []account.Telling{{Mail: account.NewsFills}, last} {
		if err := s.SetTelling(t.Context(), 7, wishes); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetTelling(t.Context(), 8, account.Telling{}); err != nil {
		t.Fatal(err)
	}

	list := map[bourse.AccountID]account.Telling{}
	err := s.Tellings(t.Context(), func(id bourse.AccountID, wishes account.Telling) error { list[id] = wishes; return nil })
	if err != nil || len(list) != 2 || list[7] != last || list[8] != (account.Telling{}) {
		t.Errorf("%+v, %v", list, err)
	}
}
