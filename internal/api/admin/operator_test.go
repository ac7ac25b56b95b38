package admin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/operator"
)

const (
	operatorsOnly = `{"error":"OPERATORS_ONLY: the exchange has owners, and its operators order this in the console; ` +
		`--break-glass REASON orders it from here, to be carried out in 24 hours"}`
	// printed is the fingerprint of passkey, the beginning of SHA-256 of "key".
	printed   = `,"fingerprint":"2C70 E12B 7A06 46F9 2279"`
	closedNow = `{"error":"OPERATORS_ONLY: the exchange has owners, and this is not done from here any more"}`
)

// ask returns the answer of a verb.
func (o *office) ask(verb, args string, into any) {
	o.Helper()
	w := httptest.NewRecorder()
	o.Handler().ServeHTTP(w, httptest.NewRequestWithContext(o.Context(), "POST", "/"+verb, strings.NewReader(args)))
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
		o.Fatalf("%s %s: %d %s", verb, args, w.Code, w.Body)
	}
}

// invite invites a person and returns the code.
func (o *office) invite(args string) account.Secret {
	o.Helper()
	var got struct {
		Code    string `json:"code"`
		Expires string `json:"expires"`
	}
	o.ask("operator/invite", args, &got)
	if len(got.Code) != 64 || got.Expires == "" {
		o.Fatalf("%+v", got)
	}
	return account.Secret(got.Code)
}

var passkey = account.Passkey{Credential: []byte("credential"), PublicKey: []byte("key")}

func (o *office) accept(code account.Secret) {
	o.Helper()
	if _, err := o.Operators.Accept(o.Context(), code, passkey); err != nil {
		o.Fatal(err)
	}
}

// owned returns a production exchange with one owner.
func owned(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	o.fund()
	o.withdraw()
	o.do(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{{Name: "basic"}}}})
	o.accept(o.invite(`{"email":"Ann@example.org","name":"Ann","role":"owner"}`))
	return o
}

// TestInvitations makes the first owner over the socket, and nobody else.
func TestInvitations(t *testing.T) {
	o := newOffice(t)
	o.answers("operator/invite", `{"email":"a@example.org","role":"viewer"}`, `{"error":"OWNER_FIRST"}`)
	o.answers("operator/invite", `{"email":"a@example.org","role":"boss"}`, `{"error":"unknown role \"boss\""}`)
	o.answers("operator/invite", `{"email":"a@example.org","role":"owner","break_glass":"x"}`,
		`{"error":"the exchange has no owner: there is no glass to break"}`)
	old := o.invite(`{"email":"ann@example.org","role":"owner"}`)
	code := o.invite(`{"email":"ann@example.org","name":"Ann","role":"owner"}`)
	other := o.invite(`{"email":"bob@example.org","role":"owner"}`)
	for what, bad := range map[string]account.Secret{"replaced": old, "none": "zz", "unknown": account.Secret(strings.Repeat("0", 64))} {
		if _, err := o.Operators.Accept(t.Context(), bad, passkey); err == nil || !strings.Contains(err.Error(), "no such invitation") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := o.Operators.Accept(t.Context(), code, account.Passkey{}); err == nil || !strings.Contains(err.Error(), "passkey") {
		t.Error(err)
	}
	o.answers("operator/list", `{}`, `{"operators":[]}`)
	o.accept(code)
	o.answers("operator/list", `{}`,
		`{"operators":[{"operator":1,"role":"owner","enabled":true,"email":"ann@example.org","name":"Ann"`+printed+`}]}`)
	if _, err := o.Operators.Accept(t.Context(), code, passkey); err == nil {
		t.Error("an invitation is good twice")
	}
	if _, err := o.Operators.Accept(t.Context(), other, passkey); err == nil || err.Error() != "OPERATORS_ONLY" {
		t.Errorf("a second owner came by the socket: %v", err)
	}
	o.answers("operator/invite", `{"email":"c@example.org","role":"owner"}`, `{"error":"OPERATORS_ONLY: owners invite operators in the console"}`)
	if len(o.forged) != 0 {
		t.Error(o.forged)
	}

	o = newOffice(t)
	code = o.invite(`{"email":"ann@example.org","role":"owner"}`)
	o.now += bourse.Day
	if _, err := o.Operators.Accept(t.Context(), code, passkey); err == nil {
		t.Error("an invitation is good for ever")
	}
}

// TestSocketOfAnOwnedExchange calls each verb that changes something where there is an owner.
func TestSocketOfAnOwnedExchange(t *testing.T) {
	o := owned(t)
	for verb, args := range map[string]string{
		"account/unfreeze": `{"account":1}`, "account/fees": `{"account":1}`, "account/level": `{"account":1}`,
		"market/state": `{"pair":"BTC/USDT","state":"open"}`, "fees/collect": `{}`, "rules/adopt": `{}`,
		"withdrawal/approve": `{"xid":3}`, "withdrawal/deny": `{"xid":3}`, "withdrawal/replace": `{"xid":3}`,
		"withdrawal/release": `{"xid":3}`, "withdrawals/pause": `{"network":"ATOM","paused":false}`,
		"withdrawals/limit": `{"asset":"ATOM","amount":"1"}`, "account/tier": `{"account":1,"tier":"basic","reason":"r"}`, "deposit/assign": `{"deposit":2,"account":1}`,
		"operator/change": `{"operator":1,"enabled":true}`,
		"network/follow":  `{"network":"ATOM","height":1,"hash":"` + hashOf9 + `"}`,
	} {
		o.answers(verb, args, operatorsOnly)
	}
	const document = `{"document":"assets:\n- {symbol: NEW, name: New, scale: 8, enabled: true}\n"}`
	o.answers("catalogue/apply", document, `{"error":"add asset NEW: `+operatorsOnly[len(`{"error":"`):])
	for verb, args := range map[string]string{
		"account/create": `{"email":"a@example.org"}`, "key/create": `{"account":1,"name":"k","scopes":"read"}`,
		"factor/reset": `{"account":1,"reason":"r"}`, "factor/stolen": `{"account":1,"reason":"r"}`,
		"notice/add": `{"kind":"banner","title":"t","body":"b"}`, "notice/end": `{"id":1}`,
	} {
		o.answers(verb, args, closedNow)
	}

	o.answers("account/freeze", `{"account":1}`, `{"account":1,"frozen":true}`)
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":true}`, `{"network":"ATOM","paused":true}`)
	for _, state := range []string{"halted", "cancel_only"} {
		args := fmt.Sprintf(`{"pair":"BTC/USDT","state":%q}`, state)
		o.answers("market/state", args, args)
	}
	for _, glass := range []string{"", `,"break_glass":"r"`} {
		o.answers("credit", `{"account":1,"asset":"ATOM","amount":"1"`+glass+`}`, `{"error":"SANDBOX_ONLY: only a sandbox hands out money; `+
			`here money arrives as a deposit, and deposit assign gives a parked one to an account"}`)
	}
	o.answers("operator/acts", `{}`, `{"acts":[]}`)
	o.answers("deposit/assign", `{"deposit":2,"account":1,"break_glass":""}`, `{"error":"break_glass: must be a reason of at most 500 bytes"}`)
}

// TestSandboxTakesAllFromItsSocket has an owner in a sandbox.
func TestSandboxTakesAllFromItsSocket(t *testing.T) {
	o := openOffice(t, true)
	o.accept(o.invite(`{"email":"ann@example.org","role":"viewer"}`))
	o.accept(o.invite(`{"email":"bob@example.org","role":"owner"}`))
	o.answers("account/freeze", `{"account":1}`, `{"account":1,"frozen":true}`)
	o.answers("account/unfreeze", `{"account":1}`, `{"account":1,"frozen":false}`)
	o.answers("withdrawals/limit", `{"asset":"ATOM","amount":"1.5"}`, `{"asset":"ATOM","amount":"1.5"}`)
	o.answers("withdrawals/limit", `{"asset":"NONE","amount":"1.5"}`, `{"error":"unknown asset \"NONE\""}`)
	o.answers("operator/change", `{"operator":1,"role":"operator","enabled":true}`, `{"operator":1,"role":"operator","enabled":true}`)
	o.answers("operator/change", `{"operator":2,"enabled":false}`, `{"error":"LAST_OWNER"}`)
	o.answers("operator/change", `{"operator":3,"enabled":false}`, `{"error":"unknown operator 3"}`)
	o.answers("operator/change", `{"operator":1,"role":"x","enabled":false}`, `{"error":"unknown role \"x\""}`)
	o.answers("operator/list", `{}`, `{"operators":[{"operator":1,"role":"operator","enabled":true,"email":"ann@example.org"`+printed+`},`+
		`{"operator":2,"role":"owner","enabled":true,"email":"bob@example.org"`+printed+`}]}`)
}

// TestSocketEndsAccess wants who has the machine to end keys and sessions where there is an owner, and to make
// no key.
func TestSocketEndsAccess(t *testing.T) {
	o := owned(t)
	o.answers("operator/make-key", `{"name":"x","scope":"read"}`, `{"error":"operators make their keys in the console"}`)
	var keys []operator.Key
	for range 2 {
		k := operator.Key{Operator: 1, Name: "monitor", Scope: operator.KeyReads}
		if _, err := o.Operators.MakeKey(t.Context(), &k, 90, func(*operator.Key) error { return nil }); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	shown := fmt.Sprintf(`{"key":2,"operator":1,"name":"monitor","scope":"read","created":%d,"expires":%d}`,
		keys[1].Created.Seconds(), keys[1].Expires.Seconds())
	o.answers("operator/end-key", `{"key":1}`, `{"key":1}`)
	o.answers("operator/end-key", `{"key":1}`, `{"error":"there is no key 1 of an operator"}`)
	o.answers("operator/keys", `{}`, `{"keys":[`+shown+`]}`)
	o.answers("operator/log-out", `{"operator":1}`, `{"operator":1}`)
	o.answers("operator/log-out", `{"operator":2}`, `{"error":"unknown operator 2"}`)
	o.answers("operator/keys", `{}`, `{"keys":[]}`)
	o.wantNotes("operator log-out 1", "operator end-key 1")
}

// TestBreakGlass orders what only operators may, which waits for a day and is told to the owner.
func TestBreakGlass(t *testing.T) {
	o := owned(t)
	type answer struct {
		Acts []struct {
			Act    bourse.Seq `json:"act"`
			What   string     `json:"command"`
			Digest string     `json:"digest"`
			Due    string     `json:"due"`
		} `json:"acts"`
	}
	var got, listed, second answer
	o.ask("deposit/assign", `{"deposit":2,"account":1,"break_glass":"passkeys are lost"}`, &got)
	if len(got.Acts) != 1 || got.Acts[0].What != "assign-deposit account=1 deposit=2" {
		t.Fatalf("%+v", got)
	}
	letter, found := o.letters.Last("ann@example.org")
	if !found || !strings.Contains(letter.Text, "passkeys are lost") || !strings.Contains(letter.Text, got.Acts[0].What) {
		t.Errorf("the owner's letter: %+v", letter)
	}
	o.ask("withdrawal/deny", `{"xid":3,"break_glass":"again"}`, &second)
	o.ask("operator/acts", `{}`, &listed)
	if len(listed.Acts) != 2 || listed.Acts[0] != got.Acts[0] || listed.Acts[1] != second.Acts[0] {
		t.Errorf("%+v", listed)
	}
	later := mail.NewBox(func() bourse.Time { return o.now })
	o.Operators.Mailer = later
	o.Operators.Remind(t.Context()) // as a start does
	if letter, _ := later.Last("ann@example.org"); !strings.Contains(letter.Text, "again") {
		t.Errorf("after a start: %+v", letter)
	}

	drop := bourse.Command{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{1}, Act: second.Acts[0].Act,
	}}
	digest, _ := hex.DecodeString(second.Acts[0].Digest)
	copy(drop.Operators.Digest[:], digest)
	o.do(drop)
	o.now += bourse.Day
	o.do(bourse.Command{Kind: bourse.CommandTick})
	o.do(bourse.Command{Kind: bourse.CommandTick})
	if parked := o.View.Parked(); len(parked) != 1 || parked[0].Number == 2 {
		t.Errorf("the deposit was not assigned: %+v", parked)
	}
	if leaving := o.View.Leaving(); len(leaving) != 1 {
		t.Errorf("what was dropped was carried out: %+v", leaving)
	}
	o.answers("operator/acts", `{}`, `{"acts":[]}`)
	o.wantNotes(
		fmt.Sprintf("act %d of nobody done: assign-deposit account=1 deposit=2: passkeys are lost", got.Acts[0].Act),
		fmt.Sprintf("act %d of nobody dropped by operator 1: decide-withdrawal xid=3 approve=false: again", second.Acts[0].Act),
		"withdrawal deny 3",
		fmt.Sprintf("act %d of nobody waits: assign-deposit account=1 deposit=2: passkeys are lost", got.Acts[0].Act),
	)
}

// TestLongReasonOfBrokenGlass wants the owner's letter to say the longest reason whole, and one that is longer to be
// refused.
func TestLongReasonOfBrokenGlass(t *testing.T) {
	o := owned(t)
	reason := strings.Repeat("é", bourse.MaxActReason/2-2) + "end."
	o.ask("deposit/assign", `{"deposit":2,"account":1,"break_glass":"`+reason+`"}`, new(any))
	if letter, _ := o.letters.Last("ann@example.org"); !strings.Contains(letter.Text, "Reason: "+reason+"\n") {
		t.Errorf("the owner's letter: %q", letter.Text)
	}
	o.answers("deposit/assign", `{"deposit":2,"account":1,"break_glass":"`+reason+`x"}`,
		`{"error":"break_glass: must be a reason of at most 500 bytes"}`)
}

// TestOutdatedGlass outdates an act of nobody by what an operator stops meanwhile: a day later it is not carried out.
func TestOutdatedGlass(t *testing.T) {
	o := owned(t)
	var got struct {
		Acts []struct {
			Act bourse.Seq `json:"act"`
		} `json:"acts"`
	}
	o.ask("withdrawals/pause", `{"network":"ATOM","paused":false,"break_glass":"nobody is here"}`, &got)
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":true}`, `{"network":"ATOM","paused":true}`)
	var listed struct {
		Acts []struct {
			Outdated bourse.Seq `json:"outdated"`
		} `json:"acts"`
	}
	o.ask("operator/acts", `{}`, &listed)
	by := o.engine.Seq()
	if len(listed.Acts) != 1 || listed.Acts[0].Outdated != by {
		t.Errorf("%+v, outdated by %d", listed, by)
	}
	o.now += bourse.Day
	o.do(bourse.Command{Kind: bourse.CommandTick})
	network := o.View.Catalogue().Network("ATOM").ID
	if n := o.View.NetworkState(network); !n.Paused {
		t.Errorf("carried out: %+v", n)
	}
	o.wantNotes(
		fmt.Sprintf("act %d of nobody refused, outdated by command %d: pause-withdrawals network=%d on=false: nobody is here",
			got.Acts[0].Act, by, network),
		"withdrawals pause ATOM",
	)
}

// TestBrokenGlassLetsOwnersIn adds an owner to an exchange whose owner lost the passkey.
func TestBrokenGlassLetsOwnersIn(t *testing.T) {
	o := owned(t)
	o.accept(o.invite(`{"email":"bob@example.org","role":"owner","break_glass":"lost"}`))
	if n := len(o.View.Operators()); n != 1 {
		t.Errorf("%d operators at once", n)
	}
	if _, found := o.letters.Last("ann@example.org"); !found {
		t.Error("the owner was not told")
	}
	o.now += bourse.Day
	o.do(bourse.Command{Kind: bourse.CommandTick})
	o.answers("operator/list", `{}`, `{"operators":[{"operator":1,"role":"owner","enabled":true,"email":"ann@example.org","name":"Ann"`+printed+`},`+
		`{"operator":2,"role":"owner","enabled":true,"email":"bob@example.org"`+printed+`}]}`)
}

// TestGlassOfACatalogue orders the changes of a catalogue that can be told before any is made.
func TestGlassOfACatalogue(t *testing.T) {
	o := owned(t)
	var got struct {
		Acts []struct {
			What string `json:"command"`
		} `json:"acts"`
	}
	o.ask("catalogue/apply", `{"document":"assets:\n- {symbol: NEW, name: New, scale: 8, enabled: true}\n- `+
		`{symbol: NEWER, name: Newer, scale: 8, enabled: true}\n","break_glass":"listing"}`, &got)
	if len(got.Acts) != 2 || !strings.Contains(got.Acts[1].What, "NEWER") {
		t.Errorf("%+v", got)
	}
}

// insider is a store in which somebody else put another address into each row.
type insider struct{ operator.Store }

func (i insider) Operators(ctx context.Context) ([]operator.Row, error) {
	rows, err := i.Store.Operators(ctx)
	for at := range rows {
		rows[at].Email = "thief@example.org"
	}
	return rows, err
}

// TestForgedOperators wants rows that are not the journal's to be nobody's.
func TestForgedOperators(t *testing.T) {
	o := owned(t)
	o.Operators.Store = insider{o.Operators.Store}
	o.answers("operator/list", `{}`, `{"operators":[{"operator":1,"role":"owner","enabled":true}]}`)
	if len(o.forged) != 1 || o.forged[0] != "operator 1 has no row, or not the journal's" {
		t.Error(o.forged)
	}
	var got struct{ Acts []any }
	o.ask("account/unfreeze", `{"account":1,"break_glass":"why"}`, &got)
	if _, found := o.letters.Last("thief@example.org"); found || len(got.Acts) != 1 {
		t.Error("a forged address gets the owners' letters")
	}
}

// inviting is a store whose invitations an insider changes.
type inviting struct {
	operator.Store
	change func(*operator.Invitation)
}

func (i inviting) TakeInvitation(ctx context.Context, code [32]byte) (operator.Invitation, bool, error) {
	invitation, found, err := i.Store.TakeInvitation(ctx, code)
	i.change(&invitation)
	return invitation, found, err
}

// TestForgedInvitations wants an invitation to be what it was made as, and one that only the store
// knows to be of nobody.
func TestForgedInvitations(t *testing.T) {
	o := owned(t)
	store := o.Operators.Store
	for what, change := range map[string]func(*operator.Invitation){
		"role": func(i *operator.Invitation) { i.Role = bourse.RoleOwner }, "inviter": func(i *operator.Invitation) { i.By = 1 },
		"reason": func(i *operator.Invitation) { i.Reason = "" }, "e-mail": func(i *operator.Invitation) { i.Email = "thief@example.org" },
		"name": func(i *operator.Invitation) { i.Name = "Ann" }, "end": func(i *operator.Invitation) { i.Expires += bourse.Day },
	} {
		code := o.invite(`{"email":"bob@example.org","role":"viewer","break_glass":"no one is here"}`)
		o.Operators.Store, o.forged = inviting{store, change}, nil
		if _, err := o.Operators.Accept(t.Context(), code, passkey); err == nil || !strings.Contains(err.Error(), "no such invitation") {
			t.Errorf("with another %s: %v", what, err)
		}
		if len(o.forged) != 1 {
			t.Errorf("with another %s the operators hear %q", what, o.forged)
		}
		o.Operators.Store = store
	}

	invented := bytes.Repeat([]byte{7}, 32)
	if err := store.AddInvitation(t.Context(), &operator.Invitation{
		Code: sha256.Sum256(invented), Email: "thief@example.org", Role: bourse.RoleOwner, By: 1, Reason: "why not", Expires: o.now + bourse.Hour,
	}, o.now); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Operators.Accept(t.Context(), account.Secret(hex.EncodeToString(invented)), passkey); err == nil {
		t.Error("an insider invites himself in an owner's name")
	}

	code := o.invite(`{"email":"bob@example.org","role":"viewer","break_glass":"no one is here"}`)
	if accepted, err := o.Operators.Accept(t.Context(), code, passkey); err != nil || !accepted.Waits() {
		t.Errorf("the unchanged invitation: %+v, %v", accepted, err)
	}
}
