package account_test

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// rig is an engine with a service behind it, and a store on disk. Its journal is
// what was applied.
type rig struct {
	t    testing.TB
	path string

	mu      sync.Mutex
	journal []bourse.Command
	engine  *engine.Engine
	store   *accounts.Store
	*account.Service
	now time.Time
	// breaks is what becomes of the next command.
	breaks breakage
	ended  []bourse.KeyID
	box    *mail.Box
	// forged are the alarms about rows that somebody else wrote.
	forged []error
	limits account.Limits
}

// breakage is how a command fails to be answered.
type breakage int

const (
	// lost: it never reaches the journal.
	lost breakage = iota + 1
	// unanswered: it reaches the journal, and nobody hears of it.
	unanswered
	// late: it reaches the journal after its sender has given up.
	late
)

// origin is that of the pages that may use passkeys.
const origin = "http://localhost:8080"

// addressFailures is how many wrong passwords an address may send in an hour.
const addressFailures = 15

func newRig(t testing.TB) *rig { return newLimitedRig(t, account.Limits{}) }

// newLimitedRig returns a rig with limits of what clients share.
func newLimitedRig(t testing.TB, limits account.Limits) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "accounts.db"), now: time.Unix(1_700_000_000, 0), limits: limits}
	r.box = mail.NewBox(func() bourse.Time { return bourse.TimeOf(r.now) })
	if limits == (account.Limits{}) {
		r.limits.WrongPasswords = addressFailures
	}
	r.journal = []bourse.Command{{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}}}
	r.start()
	t.Cleanup(r.stop)
	return r
}

// start opens the store, replays the journal and opens the service.
func (r *rig) start() {
	r.t.Helper()
	r.assemble()
	if err := r.Open(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// grace is for how long the rig's keys outlive its store.
const grace = 365 * 24 * time.Hour

func (r *rig) assemble() {
	r.t.Helper()
	var err error
	if r.store, err = accounts.Open(r.t.Context(), r.path); err != nil {
		r.t.Fatal(err)
	}
	r.ended, r.forged = nil, nil
	r.Service = account.NewService(account.Options{
		Store: r.store, Random: rand.Reader, Grace: grace,
		Clock:    func() time.Time { return r.now },
		OnRevoke: func(k bourse.KeyID) { r.ended = append(r.ended, k) },
		Mailer:   r.box, Issuer: "Test", Hold: time.Hour, Limits: r.limits,
		OnForged:  func(_ string, err error) { r.forged = append(r.forged, err) },
		OnFailure: func(what string, err error) { r.t.Error(what, err) },
	})
	r.Bind(r.submit)
	party, err := account.NewParty("localhost", origin)
	if err != nil {
		r.t.Fatal(err)
	}
	r.SetParty(party)
	r.engine = engine.New()
	for i := range r.journal {
		r.apply(&r.journal[i])
	}
}

func (r *rig) stop() {
	if err := r.store.Close(); err != nil {
		r.t.Error(err)
	}
}

// restart is a stop, or a crash: the store is durable anyway.
func (r *rig) restart() {
	r.t.Helper()
	r.stop()
	r.start()
}

// apply takes a command through the engine and the service.
func (r *rig) apply(cmd *bourse.Command) bourse.Outcome {
	cmd.Seq, cmd.Time = r.engine.Seq()+1, bourse.TimeOf(r.now)
	var ev bourse.Events
	r.Begin()
	r.engine.Apply(cmd, &ev)
	r.Observe(cmd, &ev)
	r.End()
	return ev.Outcome
}

var errUnknown = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")

// submit stands for the sequencer.
func (r *rig) submit(_ context.Context, c *bourse.Command) (bourse.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := record.Check(c); err != nil {
		return bourse.Outcome{}, err
	}
	how := r.breaks
	r.breaks = 0
	if how == lost {
		return bourse.Outcome{}, errUnknown
	}
	r.journal = append(r.journal, *c)
	if how == late {
		return bourse.Outcome{}, errUnknown
	}
	outcome := r.apply(&r.journal[len(r.journal)-1])
	if how == unanswered {
		return bourse.Outcome{}, errUnknown
	}
	return outcome, nil
}

// arrive applies what was late.
func (r *rig) arrive() {
	for i := int(r.engine.Seq()); i < len(r.journal); i++ {
		r.apply(&r.journal[i])
	}
}

// ahead returns the snapshot of an engine that has applied the journal and more.
func (r *rig) ahead(more ...bourse.Command) (snapshot []byte) {
	e := engine.New()
	for _, cmd := range slices.Concat(r.journal, more) {
		cmd.Seq, cmd.Time = e.Seq()+1, bourse.TimeOf(r.now)
		e.Apply(&cmd, new(bourse.Events))
	}
	e.Snapshot(func(b []byte) { snapshot = append(snapshot, b...) })
	return snapshot
}

func (r *rig) create(email string) bourse.AccountID {
	r.t.Helper()
	id, err := r.Create(r.t.Context(), email)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) createKey(id bourse.AccountID, k account.NewKey) (bourse.KeyID, account.Secret) {
	r.t.Helper()
	key, shown, err := r.CreateKey(r.t.Context(), id, k)
	if err != nil {
		r.t.Fatal(err)
	}
	return key, shown.APIKey
}

// wantCode fails unless an error is an *bourse.Error with a code.
func wantCode(t *testing.T, err error, code bourse.Code) {
	t.Helper()
	var e *bourse.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want one with code %d", err, code)
	}
}

// forge writes the row of an account, and lets the journal know it: what the exchange
// itself would do if it were wrong.
func (r *rig) forge(id bourse.AccountID, change func(*account.AccountRow)) {
	r.t.Helper()
	if err := r.ForgePerson(r.t.Context(), id, change); err != nil {
		r.t.Fatal(err)
	}
}
