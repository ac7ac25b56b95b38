package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestConfirm withholds answers on the socket of a node that may lead no more: what was read, and errors. The node
// tells of itself in any case.
func TestConfirm(t *testing.T) {
	o := newOffice(t)
	var confirmed error
	o.Confirm = func(context.Context) error { return confirmed }
	o.Status = func() any { return "here" }
	ask := func(verb, args string) (int, string) {
		w := httptest.NewRecorder()
		o.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+verb, strings.NewReader(args)))
		return w.Code, w.Body.String()
	}

	for verb, of := range map[string]struct {
		args string
		own  bool
	}{
		"catalogue/show": {args: "{}"}, "balances": {args: `{"account":77}`}, "status": {"{}", true}, "cluster/admit": {"{}", true},
		"cluster/transfer": {"{}", true}, "cluster/leave": {"{}", true},
		"cluster/token": {"{}", true}, "cluster/upgrade": {"{}", true},
	} {
		confirmed = nil
		status, good := ask(verb, of.args)
		confirmed = errors.New("no majority")
		again, old := ask(verb, of.args)
		withheld := again == http.StatusBadRequest && strings.Contains(old, "Another node may lead")
		if same := again == status && old == good; same != of.own || withheld == of.own {
			t.Errorf("%s: %d %s, and without a majority %d %s", verb, status, good, again, old)
		}
	}
}
