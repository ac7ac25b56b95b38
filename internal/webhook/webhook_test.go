package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

func wantCode(t *testing.T, err error, code bourse.Code) {
	t.Helper()
	var known *bourse.Error
	if !errors.As(err, &known) || known.Code != code {
		t.Errorf("error %v, want code %v", err, code)
	}
}

// TestDeliveries wants what an endpoint selected, of commands after it was added, in order and
// signed; and a test between them that counts for nothing.
func TestDeliveries(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	r.say(history.BulletinAccountCreated)
	r.open()
	r.run()
	kinds, _ := webhook.ParseKinds("account.tier,withdrawal")
	_, secret, err := r.Add(t.Context(), to.URL+"/hook", kinds)
	if err != nil {
		t.Fatal(err)
	}
	to.trust(secret)
	r.say(history.BulletinAccountTier, history.BulletinAccountFrozen, history.BulletinWithdrawalWaiting)
	r.say()
	r.say(history.BulletinMarketState)
	r.say(history.BulletinWithdrawalDone)
	if err := r.Test(t.Context(), 1); err != nil {
		t.Error(err)
	}

	var got []string
	for _, d := range to.wait(3) {
		got = append(got, fmt.Sprint(d.Sequence, d.ID, d.Kind, d.Data.Account, d.Time.Unix()))
	}
	want := []string{
		"1evt_2_0account.tier2 1700000000", "2evt_2_2withdrawal.waiting2 1700000000", "3evt_5_0withdrawal.done5 1700000000",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	_, err = r.Enable(t.Context(), 1)
	wantCode(t, err, bourse.CodeRefused)
	wantCode(t, r.Test(t.Context(), 2), bourse.CodeNotFound)
}

// TestFailuresAreRepeated answers every other delivery wrongly, and cuts the connection now and
// then: all arrive, in order, and pauses grow to an hour.
func TestFailuresAreRepeated(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	var tries atomic.Int32
	to.answer = func(w http.ResponseWriter, _ *http.Request) {
		switch n := tries.Add(1); {
		case n > 40:
		case n > 30 && n%3 > 0:
			w.WriteHeader(http.StatusInternalServerError)
		case n > 20 && n <= 30, n%2 > 0:
			hijacked, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = hijacked.Close()
		}
	}
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	for range 30 {
		r.say(history.BulletinAccountCreated)
	}
	to.wait(30)
	if to.repeated < 15 {
		t.Errorf("%d repetitions", to.repeated)
	}

	// Fifteen failures follow each other: pauses of 1, 2, 4, … 2,048 s and three of an hour, each
	// shorter by up to a half.
	passed := r.clock().Sub(time.Unix(1_700_000_000, 0))
	if _, failures := r.Counts(); failures != 29 || passed < 7400*time.Second || passed > 15_000*time.Second {
		t.Errorf("%d failures in %s", failures, passed)
	}
}

// dying is a store that writes so many times, and from then on fails as if the process had ended.
type dying struct {
	webhook.Store
	left *atomic.Int32
	// after is true if the last write is done, and not told of.
	after bool
	died  context.CancelFunc
}

var errDied = errors.New("the process has ended")

func (d dying) MoveWebhook(ctx context.Context, id webhook.ID, p *webhook.Progress) error {
	left := d.left.Add(-1)
	if left < 0 || left == 0 && !d.after {
		d.died()
		return errDied
	}
	err := d.Store.MoveWebhook(ctx, id, p)
	if left == 0 {
		d.died()
		return errDied
	}
	return err
}

// TestRestartAnywhere ends a service at each of its writes, before it and after it, and during
// each delivery, and lets another one go on: every bulletin arrives, in order.
func TestRestartAnywhere(t *testing.T) {
	const said = 6
	for _, where := range []string{"before a write", "after a write", "during a delivery"} {
		for at := int32(1); at <= said; at++ {
			t.Run(fmt.Sprintf("%s/%d", where, at), func(t *testing.T) {
				r, to := newRig(t), newReceiver(t)
				died, die := context.WithCancel(t.Context())
				var left, tries atomic.Int32
				left.Store(at)
				switch where {
				case "during a delivery":
					to.answer = func(_ http.ResponseWriter, request *http.Request) {
						if tries.Add(1) == at {
							die()
							<-request.Context().Done()
						}
					}
				default:
					r.over = func(s webhook.Store) webhook.Store { return dying{s, &left, where == "after a write", die} }
				}
				r.open()
				r.run()
				to.trust(r.add(to.URL))
				for range said {
					r.say(history.BulletinDepositCredited)
				}
				<-died.Done()
				r.stop()

				r.over = nil
				r.open()
				r.run()
				r.say(history.BulletinMarketState)
				if list := to.wait(said + 1); len(list) != said+1 {
					t.Errorf("%d deliveries", len(list))
				}
			})
		}
	}
}

// TestPassedBulletinsAreNotReadAgain passes over more bulletins than a start rereads.
func TestPassedBulletinsAreNotReadAgain(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	r.open()
	r.run()
	kinds, _ := webhook.ParseKinds("market")
	_, secret, err := r.Add(t.Context(), to.URL, kinds)
	if err != nil {
		t.Fatal(err)
	}
	to.trust(secret)
	for range 2100 {
		r.say(history.BulletinAccountCreated)
	}
	r.until(func() bool {
		rows, err := r.store.Webhooks(t.Context())
		return err == nil && rows[0].After.Seq >= 2000 && rows[0].Delivered == 0
	})
	r.say(history.BulletinMarketState)
	to.wait(1)
}

// TestSlowEndpointHoldsUpNobody has an endpoint that never answers: another one gets all, and
// the slow one is told again.
func TestSlowEndpointHoldsUpNobody(t *testing.T) {
	r, slow, quick := newRig(t), newReceiver(t), newReceiver(t)
	slow.answer = func(w http.ResponseWriter, request *http.Request) { <-request.Context().Done() }
	r.open()
	r.run()
	slow.trust(r.add(slow.URL))
	r.say(history.BulletinDepositParked)
	slow.wait(1)
	quick.trust(r.add(quick.URL))
	for range 50 {
		r.say(history.BulletinDepositParked)
	}
	quick.wait(50)
	if state := r.All()[0]; state.Failure != "" {
		t.Errorf("%+v", state)
	}
	r.tooLong(0)
	r.until(func() bool { return r.All()[0].Failure == "the endpoint did not answer in time" })
	if state := r.All()[0]; state.Delivered != 0 || state.Failing == 0 {
		t.Errorf("%+v", state)
	}
	if err := r.Remove(t.Context(), 1); err != nil || len(r.All()) != 1 {
		t.Error(err)
	}
	wantCode(t, r.Remove(t.Context(), 1), bourse.CodeNotFound)
}

// TestHostileAnswers wants redirects not followed, and neither long answers nor long headers read.
func TestHostileAnswers(t *testing.T) {
	followed := newReceiver(t)
	r := newRig(t)
	r.open()
	r.run()
	for want, answer := range map[string]http.HandlerFunc{
		"the endpoint answered 302; redirects are not followed": func(w http.ResponseWriter, request *http.Request) {
			http.Redirect(w, request, followed.URL, http.StatusFound)
		},
		"the endpoint answered 307; redirects are not followed": func(w http.ResponseWriter, request *http.Request) {
			http.Redirect(w, request, followed.URL, http.StatusTemporaryRedirect)
		},
		"the endpoint answered 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"server response headers exceeded": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		},
		"": func(w http.ResponseWriter, request *http.Request) { // endless, until the client has enough
			for request.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
	} {
		to := newReceiver(t)
		to.answer = answer
		to.trust(r.add(to.URL))
		states := r.All()
		err := r.Test(t.Context(), states[len(states)-1].ID)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(followed.bodies) != 0 {
		t.Errorf("a redirect was followed: %v", followed.bodies)
	}
}

// TestPrivateAddressIsRefused resolves a name to an address that is not public: nothing connects.
func TestPrivateAddressIsRefused(t *testing.T) {
	to := newReceiver(t)
	to.answer = func(http.ResponseWriter, *http.Request) { t.Error("it was connected to") }
	r := newRig(t)
	r.rules = webhook.Rules{Plain: true}
	r.open()
	r.run()
	_, _, err := r.Add(t.Context(), to.URL, webhook.Kinds{"account"})
	wantCode(t, err, bourse.CodeInvalid)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(to.URL, "http://"))
	r.add("http://localhost:" + port + "/")
	if err := r.Test(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "is not a public address") {
		t.Fatal(err)
	}
	r.say(history.BulletinAccountCreated)
	r.until(func() bool { return strings.Contains(r.All()[0].Failure, "is not a public address") })
}

// TestFailingEndpointIsDisabled lets an endpoint fail for five days, with a restart between
// them: it is disabled, in the log too, stays so after a restart, and gets what it missed once
// it is enabled.
func TestFailingEndpointIsDisabled(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	var good atomic.Bool
	to.answer = func(w http.ResponseWriter, _ *http.Request) {
		if !good.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	r.say(history.BulletinAccountCreated)
	began := r.clock()
	r.until(func() bool { return r.clock().Sub(began) > 48*time.Hour })
	if lag, _ := r.Lag(); lag < 48*bourse.Hour {
		t.Errorf("lag %d", lag)
	}
	r.stop()
	r.open()
	r.run()
	r.until(func() bool { return r.All()[0].Disabled != 0 })
	if took := r.clock().Sub(began); took < 5*24*time.Hour || took > 5*24*time.Hour+2*time.Hour {
		t.Errorf("disabled after %s", took)
	}
	r.stop()
	if !strings.Contains(r.log.String(), "level=ERROR msg=\"a webhook is disabled") {
		t.Error(r.log)
	}

	r.open()
	r.run()
	r.say(history.BulletinAccountFrozen)
	if state := r.All()[0]; state.Disabled == 0 || state.Cause != "the endpoint answered 503" {
		t.Errorf("%+v", state)
	}
	if lag, disabled := r.Lag(); lag != 0 || disabled != 1 {
		t.Errorf("lag %d, %d disabled", lag, disabled)
	}
	good.Store(true)
	if state, err := r.Enable(t.Context(), 1); err != nil || state.Disabled != 0 {
		t.Errorf("%+v %v", state, err)
	}
	to.wait(2)
}

// TestGoneEndpointIsDisabled answers 410, which ends the deliveries at once.
func TestGoneEndpointIsDisabled(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	to.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	r.say(history.BulletinAccountCreated)
	r.until(func() bool { return r.All()[0].Disabled != 0 })
	if state := r.All()[0]; state.Cause != "the endpoint answered 410" {
		t.Errorf("%+v", state)
	}
}

// late is a store whose writes of disabled endpoints take until the courier is stopped.
type late struct {
	webhook.Store
	rig *rig
}

func (l late) MoveWebhook(ctx context.Context, id webhook.ID, p *webhook.Progress) error {
	if p.Disabled != 0 {
		l.rig.mu.Lock()
		l.rig.tell()
		l.rig.mu.Unlock()
		<-ctx.Done()
	}
	return l.Store.MoveWebhook(context.WithoutCancel(ctx), id, p)
}

// TestEnabledWhileItIsBeingDisabled enables an endpoint whose courier has yet to store that it is
// disabled. It stays enabled after a start.
func TestEnabledWhileItIsBeingDisabled(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	var tries atomic.Int32
	second := make(chan struct{})
	to.answer = func(w http.ResponseWriter, r *http.Request) {
		switch tries.Add(1) {
		case 1:
			w.WriteHeader(http.StatusGone)
		case 2: // the new courier stores nothing before the stop
			close(second)
			<-r.Context().Done()
		}
	}
	r.over = func(s webhook.Store) webhook.Store { return late{s, r} }
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	r.say(history.BulletinAccountCreated)
	r.until(func() bool { return r.All()[0].Disabled != 0 })
	if _, err := r.Enable(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	<-second
	r.stop()
	r.open()
	r.run()
	if state := r.All()[0]; state.Disabled != 0 || state.Cause != "" {
		t.Fatalf("after a start: %+v", state)
	}
	r.say(history.BulletinAccountFrozen)
	to.wait(2)
}

// TestSecretIsShownOnce looks for the secret, and for the path of the URL, where they must not be;
// and wants no delivery to a URL that somebody wrote into the store.
func TestSecretIsShownOnce(t *testing.T) {
	r, to, thief := newRig(t), newReceiver(t), newReceiver(t)
	var tries atomic.Int32
	to.answer = func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	r.open()
	r.run()
	secret := r.add(to.URL + "/private-path")
	to.trust(secret)
	r.say(history.BulletinAccountCreated)
	r.until(func() bool { return r.All()[0].Delivered == 1 })
	r.stop()

	rows, err := r.store.Webhooks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := fmt.Sprintf("%+v %#v", r.All(), r.All())
	for _, text := range []string{states, string(rows[0].Sealed), r.log.String()} {
		if strings.Contains(text, string(secret)) || strings.Contains(text, string(secret)[6:]) {
			t.Errorf("the secret is in %s", text)
		}
	}
	if strings.Contains(r.log.String(), "private-path") || !strings.Contains(r.log.String(), "a webhook failed") {
		t.Errorf("the log is %s", r.log)
	}

	e := rows[0]
	e.URL = thief.URL
	thief.answer = func(http.ResponseWriter, *http.Request) { t.Error("a changed row was delivered to") }
	if err := r.store.RemoveWebhook(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := r.store.AddWebhook(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.run()
	r.say(history.BulletinAccountCreated)
	if state := r.All()[0]; state.Disabled == 0 || !strings.Contains(state.Cause, "its row was changed") {
		t.Errorf("%+v", state)
	}
	wantCode(t, r.Test(t.Context(), e.ID), bourse.CodeRefused)
	_, err = r.Enable(t.Context(), e.ID)
	wantCode(t, err, bourse.CodeRefused)
}

// TestEndpointsAreBounded adds as many endpoints as there may be, then makes room.
func TestEndpointsAreBounded(t *testing.T) {
	r := newRig(t)
	r.open()
	for range 16 {
		r.add("http://127.0.0.1:1/")
	}
	_, _, err := r.Add(t.Context(), "http://127.0.0.1:1/", webhook.Kinds{"account"})
	wantCode(t, err, bourse.CodeRefused)
	if err := r.Remove(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	r.add("http://127.0.0.1:1/")
}

// TestJournalThatWentBack has an endpoint beyond the journal's end, as after a restore: it gets
// what comes then.
func TestJournalThatWentBack(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	for range 9 {
		r.say()
	}
	r.open()
	to.trust(r.add(to.URL))
	r.history, r.last = newRig(t).history, 0
	r.say(history.BulletinAccountCreated)
	r.open()
	r.run()
	r.say(history.BulletinMarketState)
	if list := to.wait(1); list[0].Kind != "market.state" {
		t.Errorf("%+v", list)
	}
}

// TestStoreAway lets the store of accounts fail for some time: nothing is lost.
func TestStoreAway(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	var away atomic.Int32
	away.Store(3)
	r.over = func(s webhook.Store) webhook.Store { return absent{s, &away} }
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	r.say(history.BulletinAccountCreated, history.BulletinAccountFrozen)
	to.wait(2)
	if to.repeated != 0 || away.Load() > 0 {
		t.Errorf("%d repetitions, away for %d more", to.repeated, away.Load())
	}
}

// TestAnotherProcessIsTheExchange delivers nothing while the exchange is another process: neither bulletins
// nor tests, and the endpoint is not counted as failing.
func TestAnotherProcessIsTheExchange(t *testing.T) {
	r, to := newRig(t), newReceiver(t)
	var fenced atomic.Bool
	var asked atomic.Int32
	fenced.Store(true)
	r.fence = func() error {
		if asked.Add(1); fenced.Load() {
			return accounts.ErrFenced
		}
		return nil
	}
	r.open()
	r.run()
	to.trust(r.add(to.URL))
	r.say(history.BulletinAccountCreated)
	r.until(func() bool { return asked.Load() >= 3 || len(to.wait(0)) > 0 })
	if err := r.Test(t.Context(), 1); !errors.Is(err, accounts.ErrFenced) {
		t.Errorf("a test: %v", err)
	}
	if s := r.All()[0]; s.Failing != 0 || s.Delivered != 0 || len(to.wait(0)) > 0 {
		t.Errorf("delivered behind the fence: %+v", s)
	}

	fenced.Store(false)
	to.wait(1)
}

// absent is a store that fails so many times.
type absent struct {
	webhook.Store
	left *atomic.Int32
}

func (a absent) MoveWebhook(ctx context.Context, id webhook.ID, p *webhook.Progress) error {
	if a.left.Add(-1) >= 0 {
		return errors.New("away")
	}
	return a.Store.MoveWebhook(ctx, id, p)
}
