package node

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// letterbox is a mail server: it passes letters on.
type letterbox chan account.Mail

func (b letterbox) Send(_ context.Context, m *account.Mail) error {
	b <- *m
	return nil
}

// produce runs a production exchange on a data directory until end is called.
func produce(t *testing.T, data string, box letterbox) (n *Node, end func()) {
	t.Helper()
	return serves(t, Options{
		Data: data, OpenLog: openLog, Listen: "127.0.0.1:0", SegmentSize: 256 << 10, Mail: box, Log: slog.New(slog.DiscardHandler),
	})
}

// serves runs an exchange until end is called.
func serves(t *testing.T, o Options) (n *Node, end func()) {
	t.Helper()
	serving, ended := make(chan string, 1), make(chan error, 1)
	o.Serving = func(address, _ string) { serving <- address }
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := assemble(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- n.serve(ctx) }()
	select {
	case <-serving:
	case err := <-ended:
		t.Fatal(err)
	}
	return n, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestOwnersHearOfBrokenGlass makes the first owner of a production exchange, breaks the glass by
// its socket, and starts it again: the act waits, and the owner gets a letter each time.
func TestOwnersHearOfBrokenGlass(t *testing.T) {
	data, box := t.TempDir(), make(letterbox, 8)
	n, end := produce(t, data, box)
	call := func(verb string, args map[string]any, into any) error {
		answer, err := admin.Call(t.Context(), data, verb, args)
		if err == nil {
			err = json.Unmarshal(answer, into)
		}
		return err
	}

	var invited struct{ Code string }
	if err := call("operator/invite", map[string]any{"email": "ann@example.org", "role": "owner"}, &invited); err != nil {
		t.Fatal(err)
	}
	passkey := account.Passkey{Credential: []byte("id"), PublicKey: []byte("key")}
	if _, err := n.office.Accept(t.Context(), account.Secret(invited.Code), passkey); err != nil {
		t.Fatal(err)
	}

	var ordered, waiting struct {
		Acts []struct {
			Act    uint64
			Digest string
		}
	}
	if err := call("fees/collect", map[string]any{}, &ordered); err == nil || !strings.Contains(err.Error(), "OPERATORS_ONLY") {
		t.Errorf("with an owner: %v", err)
	}
	if err := call("fees/collect", map[string]any{"break_glass": "the console is down"}, &ordered); err != nil {
		t.Fatal(err)
	}
	if m := <-box; m.To != "ann@example.org" || !strings.Contains(m.Text, "the console is down") {
		t.Errorf("the owner's letter: %+v", m)
	}
	end()

	_, end = produce(t, data, box)
	if m := <-box; !strings.Contains(m.Text, "the console is down") {
		t.Errorf("the owner's letter after a start: %+v", m)
	}
	if err := call("operator/acts", map[string]any{}, &waiting); err != nil || len(waiting.Acts) != 1 || waiting.Acts[0] != ordered.Acts[0] {
		t.Errorf("after a start %+v waits, not %+v: %v", waiting, ordered, err)
	}
	end()
}

// TestForeignAccountsKeepTheirKeys starts an exchange on accounts that are another's, and wants the keys of their
// operators to stay, although its own operator of that number is disabled: who mends the refused start needs them.
func TestForeignAccountsKeepTheirKeys(t *testing.T) {
	data, world := t.TempDir(), sandbox.New(sandbox.Options{})
	o := Options{
		Data: data, OpenLog: openLog, Listen: "127.0.0.1:0", Sandbox: world, Networks: world.Attachments(), SegmentSize: 256 << 10,
		Log: slog.New(slog.DiscardHandler),
	}
	n, end := serves(t, o)
	code, err := n.office.Invite(t.Context(), &operator.Invitation{Email: "cy@example.org", Role: bourse.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	passkey := account.Passkey{Credential: []byte("id"), PublicKey: []byte("key")}
	if _, err := n.office.Accept(t.Context(), code, passkey); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Call(t.Context(), data, "operator/change", map[string]any{"operator": 1, "enabled": false}); err != nil {
		t.Fatal(err)
	}
	end()

	keep, err := accounts.Open(t.Context(), filepath.Join(data, AccountsDB))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keep.Close() }()
	foreign := account.AccountRow{Account: account.Account{Email: "eve@example.org"}, Token: bourse.Token{9}}
	key := operator.Key{Operator: 1, Name: "monitor", Scope: operator.KeyReads, Expires: 1 << 60}
	err = errors.Join(keep.AddAccount(t.Context(), &foreign), keep.AddOperatorKey(t.Context(), &key),
		keep.Confirm(t.Context(), &account.Decisions{Accounts: map[bourse.Token]bourse.AccountID{foreign.Token: 9_999}}))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := assemble(t.Context(), o); !errors.Is(err, account.ErrMismatch) {
		t.Errorf("the start: %v", err)
	}
	if keys, err := keep.OperatorKeys(t.Context()); err != nil || len(keys) != 1 {
		t.Errorf("%d keys are left: %v", len(keys), err)
	}
}

// TestForeignAccountsAreNotEntered begins a cluster on accounts that are another exchange's. It does not start, and that one, whose
// incarnation is no lower and whose term is, is not kept from them.
func TestForeignAccountsAreNotEntered(t *testing.T) {
	data := t.TempDir()
	keep, err := accounts.Open(t.Context(), filepath.Join(data, AccountsDB))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keep.Close() }()
	row := account.AccountRow{Account: account.Account{Email: "eve@example.org"}, Token: bourse.Token{9}}
	err = errors.Join(keep.Enter(t.Context(), accounts.Tenure{Incarnation: 1}, func(error) {}), keep.AddAccount(t.Context(), &row),
		keep.Confirm(t.Context(), &account.Decisions{Accounts: map[bourse.Token]bourse.AccountID{row.Token: 1}}))
	if err != nil {
		t.Fatal(err)
	}

	o := Options{
		Data: data, OpenLog: openLog, Listen: "127.0.0.1:0", SegmentSize: 256 << 10, Log: slog.New(slog.DiscardHandler), Term: 2,
	}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := assemble(t.Context(), o); !errors.Is(err, account.ErrMismatch) {
		t.Errorf("the start: %v", err)
	}
	if err := keep.Holds(t.Context()); err != nil {
		t.Errorf("the exchange whose accounts they are: %v", err)
	}
}
