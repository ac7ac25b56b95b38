package accounts_test

import (
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// testWebhooks adds, moves and removes endpoints.
func testWebhooks(t *testing.T, s *accounts.Store) {
	want := func(want ...webhook.Endpoint) {
		t.Helper()
		list, err := s.Webhooks(t.Context())
		if err != nil || len(list) != len(want) || len(want) > 0 && !reflect.DeepEqual(list, want) {
			t.Errorf("%+v (%v), want %+v", list, err, want)
		}
	}
	want()

	one := webhook.Endpoint{
		URL: "https://example.com/\u00e9", Kinds: webhook.Kinds{"account", "market.state"}, Created: 7, Sealed: []byte{0, 255},
		Progress: webhook.Progress{After: history.AfterCommand(1<<62 - 1)},
	}
	two := one
	two.URL = "https://example.org"
	for _, e := range []*webhook.Endpoint{&one, &two} {
		if err := s.AddWebhook(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if one.ID == 0 || two.ID <= one.ID {
		t.Errorf("ids %d and %d", one.ID, two.ID)
	}
	want(one, two)

	two.Progress = webhook.Progress{
		After: history.BulletinPlace{Seq: 9, Place: 3}, Delivered: 1<<62 - 1, Failing: 5, Disabled: 6, Cause: "it's \"gone\"",
	}
	if err := s.MoveWebhook(t.Context(), two.ID, &two.Progress); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveWebhook(t.Context(), two.ID+1, &two.Progress); err != nil {
		t.Fatal(err)
	}
	want(one, two)
	if err := s.RemoveWebhook(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	want(two)
}
