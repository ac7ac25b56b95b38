package accounts_test

import (
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
