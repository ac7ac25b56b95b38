package admin_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
)

// office is the operators' interface of an exchange without a journal. In production
// withdrawals need an approval.
type office struct {
	*testing.T
	admin.Server
	engine *engine.Engine
	tail   *history.Tail
	now    bourse.Time
	// letters are those to the owners, forged the alarms.
	letters *mail.Box
	forged  []string
}

func newOffice(t *testing.T) *office { return openOffice(t, false) }

func openOffice(t *testing.T, sandboxed bool) *office {
	t.Helper()
	store, err := accounts.Open(t.Context(), filepath.Join(t.TempDir(), "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	o := &office{T: t, engine: engine.New(), tail: history.NewTail(1000), now: 1_700_000_000 * bourse.Second}
	o.letters = mail.NewBox(func() bourse.Time { return o.now })
	v := view.New()
	o.Options = admin.Options{
		Condition: func() admin.Condition { return admin.Condition{} },
		View:      v, History: history.NewReader(historytest.NewMemory(), o.tail, v), Sequencer: o,
		Log: slog.New(slog.DiscardHandler),
	}
	if o.Operators, err = operator.NewService(operator.Options{
		Store: store, Sequencer: o, View: v, Mailer: o.letters, Clock: func() time.Time { return o.now.Std() },
		Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
		OnForged: func(_ string, err error) { o.forged = append(o.forged, err.Error()) },
	}); err != nil {
		t.Fatal(err)
	}
	o.do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: sandboxed, Rules: bourse.CurrentRules}})
	for _, cmd := range sandbox.Catalogue(true) {
		o.do(cmd)
	}
	o.do(bourse.Command{Kind: bourse.CommandCreateAccount})
	return o
}

// Do implements Sequencer.
func (o *office) Do(_ context.Context, c *bourse.Command) (sequencer.Result, error) {
	if err := record.Check(c); err != nil {
		return sequencer.Result{}, err
	}
	cmd := *c
	o.now += bourse.Second
	cmd.Seq, cmd.Time = o.engine.Seq()+1, o.now
	var ev bourse.Events
	o.tail.Begin()
	o.View.Begin()
	o.engine.Apply(&cmd, &ev)
	o.tail.Observe(&cmd, &ev)
	o.View.Observe(&cmd, &ev)
	o.tail.End()
	o.View.End()
	return sequencer.Result{Seq: cmd.Seq, Time: cmd.Time, Outcome: ev.Outcome}, nil
}

func (o *office) do(cmd bourse.Command) bourse.Outcome {
	o.Helper()
	r, err := o.Do(o.Context(), &cmd)
	if err != nil || r.Outcome.Reason != 0 {
		o.Fatalf("command %d: %v %v", cmd.Kind, r.Outcome.Reason, err)
	}
	return r.Outcome
}

// answers checks the answer of a verb.
func (o *office) answers(verb, args, want string) {
	o.Helper()
	w := httptest.NewRecorder()
	o.Handler().ServeHTTP(w, httptest.NewRequestWithContext(o.Context(), "POST", "/"+verb, strings.NewReader(args)))
	if got := w.Body.String(); got != want {
		o.Errorf("%s %s:\n got %s\nwant %s", verb, args, got, want)
	}
	if ok := !strings.HasPrefix(want, `{"error"`); (w.Code == 200) != ok || !json.Valid(w.Body.Bytes()) {
		o.Errorf("%s: status %d", verb, w.Code)
	}
}

// fund gives an account a deposit on ATOM.
func (o *office) fund() {
	o.Helper()
	c := o.View.Catalogue()
	atom := c.Asset("ATOM")
	ten, _ := bourse.ParseAmount("10", atom.Scale)
	crumb, _ := bourse.ParseAmount("0.001", atom.Scale)
	o.do(bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.BlockEffect{
		Network: c.Network("ATOM").ID, BlockRef: bourse.BlockRef{Height: 7, Hash: bourse.TxHash{7}},
		Txs: []bourse.TxEffect{
			{Hash: bourse.TxHash{1}, Inflows: []bourse.Inflow{{Asset: atom.ID, Amount: ten, Owner: 1}}},
			{Hash: bourse.TxHash{2}, Inflows: []bourse.Inflow{{Asset: atom.ID, Amount: ten, Memo: "who?\xff"}}},
			{Hash: bourse.TxHash{3}, Inflows: []bourse.Inflow{{Asset: atom.ID, Amount: crumb, Owner: 1}}},
		},
	}}})
}

func (o *office) withdraw() {
	o.Helper()
	c := o.View.Catalogue()
	atom := c.Asset("ATOM")
	one, _ := bourse.ParseAmount("1", atom.Scale)
	fee, _ := bourse.ParseAmount("0.01", atom.Scale)
	o.do(bourse.Command{Kind: bourse.CommandWithdraw, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
		Network: c.Network("ATOM").ID, Asset: atom.ID, Amount: one, Fee: fee, Address: "cosmos1", Memo: "m",
	}}})
}

const hashOf9 = "0900000000000000000000000000000000000000000000000000000000000000"

func TestWithdrawals(t *testing.T) {
	o := newOffice(t)
	o.fund()
	o.withdraw()
	o.withdraw()
	const head = `{"withdrawals":[{"xid":3,"account":1,"asset":"ATOM","network":"ATOM","amount":"1","fee":"0.01",` +
		`"address":"cosmos1","memo":"m",`
	o.answers("withdrawal/deny", `{"xid":4}`, `{"xid":4}`)
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":true}`, `{"network":"ATOM","paused":true}`)
	o.answers("withdrawal/approve", `{"xid":3}`, `{"xid":3}`)
	created := `"create_time":"` + (o.View.Leaving()[0].Created.Std().Format("2006-01-02T15:04:05Z")) + `"}]}`
	o.answers("withdrawal/list", `{}`, head+`"status":"PENDING","approved":true,"signed":false,`+created)
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":false}`, `{"network":"ATOM","paused":false}`)
	o.do(bourse.Command{Kind: bourse.CommandSigned, Wallet: &bourse.WalletCommand{Signed: &bourse.SignedTx{
		Network: o.View.Catalogue().Network("ATOM").ID, Kind: bourse.SignedWithdrawal, Wallet: 3, Tx: bourse.TxHash{9}, Raw: []byte{1},
	}}})
	const tx = `"txid":"0900000000000000000000000000000000000000000000000000000000000000",`
	o.answers("withdrawal/list", `{}`, head+`"status":"PROCESSING","approved":true,"signed":true,`+tx+created)
	o.answers("withdrawal/deny", `{"xid":3}`, `{"error":"WITHDRAWAL_SIGNED"}`)
	o.answers("withdrawal/replace", `{"xid":3}`, `{"xid":3}`)
	o.answers("withdrawal/replace", `{"xid":3}`, `{"error":"NOT_SIGNED"}`)
	o.answers("withdrawal/paid", `{"xid":3,"tx":"`+hashOf9+`"}`, `{"error":"NOT_PAID"}`)
	o.answers("withdrawal/paid", `{"xid":3,"tx":"09"}`, `{"error":"\"09\" is no hash of the network"}`)
	o.answers("withdrawal/paid", `{"xid":9,"tx":"`+hashOf9+`"}`, `{"error":"WITHDRAWAL_NOT_FOUND"}`)
	o.answers("network/follow", `{"network":"ATOM","height":1,"hash":"`+hashOf9+`"}`, `{"error":"CHAIN_STANDS"}`)
	o.answers("network/follow", `{"network":"ATOM","height":1,"hash":"`+hashOf9[2:]+`"}`,
		`{"error":"\"`+hashOf9[2:]+`\" is no hash of the network"}`)
	o.answers("withdrawal/release", `{"xid":3}`, `{"xid":3}`)
	o.answers("withdrawal/list", `{}`, `{"withdrawals":[]}`)
	for args, want := range map[string]string{
		`{"xid":0}`: "malformed withdrawal", `{"xid":99}`: "WITHDRAWAL_NOT_FOUND",
	} {
		o.answers("withdrawal/approve", args, `{"error":"`+want+`"}`)
	}
	o.answers("withdrawals/pause", `{"network":"XYZ","paused":true}`, `{"error":"unknown network \"XYZ\""}`)
	o.wantNotes("withdrawal release 3", "withdrawal replace 3", "withdrawals resume ATOM", "withdrawal approve 3",
		"withdrawals pause ATOM", "withdrawal deny 4")
}

// wantNotes checks the newest of the journal's notes, newest first.
func (o *office) wantNotes(want ...string) {
	o.Helper()
	notes, err := o.History.Notes(o.Context(), 0, 100)
	if err != nil {
		o.Fatal(err)
	}
	for i := range notes {
		if len(want) > 0 && notes[i].Text == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		o.Errorf("missing notes: %v", want)
	}
}

func TestDeposits(t *testing.T) {
	o := newOffice(t)
	o.fund()
	parked := o.View.Parked()
	if len(parked) != 2 {
		t.Fatalf("parked: %+v", parked)
	}
	created := parked[0].Created.Std().Format("2006-01-02T15:04:05Z")
	second := `{"deposit":3,"account":1,"xid":2,"asset":"ATOM","network":"ATOM","amount":"0.001",` +
		`"txid":"03` + strings.Repeat("0", 62) + `","index":0,"height":7,"confirms":1,"confirms_target":1,"create_time":"` + created + `"}`
	o.answers("deposits/parked", `{}`, `{"deposits":[{"deposit":2,"asset":"ATOM","network":"ATOM","amount":"10","memo":"who?`+"\uFFFD"+`",`+
		`"txid":"02`+strings.Repeat("0", 62)+`","index":0,"height":7,"confirms":1,"confirms_target":1,"create_time":"`+created+`"},`+second+`]}`)
	o.answers("deposit/assign", `{"deposit":2,"account":9}`, `{"error":"UNKNOWN_ACCOUNT"}`)
	o.answers("deposit/assign", `{"deposit":2,"account":1}`, `{"deposit":2,"account":1,"xid":3}`)
	o.answers("deposits/parked", `{}`, `{"deposits":[`+second+`]}`)
	o.answers("deposit/assign", `{"deposit":3,"account":1}`, `{"deposit":3,"account":1,"xid":2}`)
	o.answers("deposits/parked", `{}`, `{"deposits":[]}`)
	o.answers("deposit/assign", `{"deposit":3,"account":1}`, `{"error":"DEPOSIT_NOT_FOUND"}`)
	o.answers("deposit/assign", `{"deposit":0,"account":1}`, `{"error":"malformed deposit"}`)
	o.wantNotes("deposit assign 3 1", "deposit assign 2 1")
}
