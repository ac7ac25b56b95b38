package accounts_test

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// testOperators keeps rows as they are, and gives each invitation out once.
func testOperators(t *testing.T, s *accounts.Store) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := operator.Row{
		Token: bourse.Token{1}, Email: "ann@example.org", Name: "Ann", Credential: []byte{0, 255}, PublicKey: []byte{3},
		Synced: true, Counter: 7, Salt: account.Salt{4}, Created: 5,
	}
	second := first
	second.Token, second.Created = bourse.Token{2}, 6 // one person may be two operators
	must(s.AddOperator(ctx, &second))
	must(s.AddOperator(ctx, &first))
	if rows, err := s.Operators(ctx); err != nil || !reflect.DeepEqual(rows, []operator.Row{first, second}) {
		t.Errorf("%+v %v", rows, err)
	}
	for _, use := range []struct {
		counter uint32
		want    bool
	}{{7, false}, {0, false}, {8, true}, {8, false}} { // a count that does not grow is a copy's
		if ok, err := s.UseOperator(ctx, first.Token, use.counter, 9); err != nil || ok != use.want {
			t.Errorf("count %d after 7: %t %v", use.counter, ok, err)
		}
	}
	second.Counter = 7
	if rows, err := s.Operators(ctx); err != nil || rows[0].Counter != 8 || rows[1].Counter != 7 {
		t.Errorf("%+v %v", rows, err)
	}
	must(s.DropOperator(ctx, first.Token))
	if rows, err := s.Operators(ctx); err != nil || !reflect.DeepEqual(rows, []operator.Row{second}) {
		t.Errorf("%+v %v", rows, err)
	}

	invite := func(code byte, email string, expires, now bourse.Time) operator.Invitation {
		i := operator.Invitation{
			Code: [32]byte{code}, Email: email, Name: "n", By: 3, Role: bourse.RoleViewer, Reason: "r", Expires: expires,
		}
		must(s.AddInvitation(ctx, &i, now))
		return i
	}
	invite(1, "a@b", 10, 1)
	invite(2, "a@b", 10, 1)
	invite(3, "c@d", 20, 5)
	stays := invite(4, "e@f", 30, 20) // the time of the third is over
	for code, want := range map[byte]*operator.Invitation{1: nil, 2: nil, 3: nil, 4: &stays} {
		for range 2 {
			seen, there, err := s.Invitation(ctx, [32]byte{code})
			if err != nil || there != (want != nil) || there && seen != *want {
				t.Errorf("invitation %d: %+v %t %v", code, seen, there, err)
			}
			got, found, err := s.TakeInvitation(ctx, [32]byte{code})
			if err != nil || found != (want != nil) || found && got != *want {
				t.Errorf("invitation %d: %+v %t %v", code, got, found, err)
			}
			want = nil // once
		}
	}
}

// testOperatorKeys keeps keys as they are, by ids that are never used again, and forgets ended ones.
func testOperatorKeys(t *testing.T, s *accounts.Store) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(want ...operator.Key) {
		t.Helper()
		if keys, err := s.OperatorKeys(ctx); err != nil || !reflect.DeepEqual(keys, want) {
			t.Errorf("%+v %v, want %+v", keys, err, want)
		}
	}
	key := func(of bourse.OperatorID, created, expires bourse.Time) operator.Key {
		k := operator.Key{
			Operator: of, Name: "n", Scope: operator.KeyOperates, Created: created, Expires: expires,
			Hash: [32]byte{byte(created), 255}, MAC: [32]byte{byte(created), 1},
			Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		}
		must(s.AddOperatorKey(ctx, &k))
		return k
	}
	list()
	first, second := key(7, 1, 10), key(8, 2, 20)
	if first.ID == 0 || second.ID <= first.ID {
		t.Errorf("ids %d, %d", first.ID, second.ID)
	}
	list(first, second)
	must(s.UseOperatorKey(ctx, second.ID, 5))
	second.Used = 5
	if k, found, err := s.OperatorKey(ctx, second.Hash); err != nil || !found || !reflect.DeepEqual(k, second) {
		t.Errorf("%+v %t %v", k, found, err)
	}
	if _, found, err := s.OperatorKey(ctx, [32]byte{9}); err != nil || found {
		t.Errorf("%t %v", found, err)
	}

	third := key(8, 10, 30) // the time of the first is over
	list(second, third)
	must(s.DropOperatorKey(ctx, third.ID))
	list(second)
	fourth := key(9, 11, 30)
	if fourth.ID <= third.ID {
		t.Errorf("id %d after %d", fourth.ID, third.ID)
	}
	must(s.DropOperatorKeys(ctx, 8))
	list(fourth)
}
