package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// rig is a service on a history with bulletins, in a time that passes only while it waits.
type rig struct {
	*testing.T
	*webhook.Service
	path    string
	store   *accounts.Store
	history *historytest.Memory
	rules   webhook.Rules
	// over wraps the store of a new service, if it is set.
	over func(webhook.Store) webhook.Store
	// fence is asked before deliveries, if it is set.
	fence func() error
	log   *buffer

	mu   sync.Mutex
	now  time.Time
	last bourse.Seq
	// deliveries end the time of each delivery, in the order of their beginnings.
	deliveries []chan time.Time
	// paused is closed and replaced when a courier waits or stores its progress.
	paused chan struct{}

	ended chan struct{}
	end   context.CancelFunc
}

// buffer is a log's text. Safe for concurrent use.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		T: t, path: filepath.Join(t.TempDir(), "accounts.db"), history: historytest.NewMemory(), log: new(buffer),
		rules: webhook.Rules{Plain: true, Private: true}, now: time.Unix(1_700_000_000, 0), paused: make(chan struct{}),
	}
	r.openStore()
	t.Cleanup(func() {
		r.stop()
		_ = r.store.Close()
	})
	return r
}

func (r *rig) openStore() {
	r.Helper()
	store, err := accounts.Open(context.Background(), r.path)
	if err != nil {
		r.Fatal(err)
	}
	r.store = store
}

// open makes a new service, which does not run yet.
func (r *rig) open() {
	r.Helper()
	var store webhook.Store = watched{r.store, r}
	if r.over != nil {
		store = r.over(store)
	}
	service, err := webhook.Open(context.Background(), webhook.Options{
		Store: store, Bulletins: r.history, Head: r.head, MayAct: r.mayAct, Seal: [32]byte{1}, Rules: r.rules, Random: rand.Reader,
		Clock: r.clock, After: r.after, Patience: patience,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		r.Fatal(err)
	}
	r.Service = service
}

func (r *rig) mayAct(context.Context) error {
	if r.fence == nil {
		return nil
	}
	return r.fence()
}

func (r *rig) run() {
	ctx, end := context.WithCancel(context.Background())
	r.end, r.ended = end, make(chan struct{})
	go func() {
		defer close(r.ended)
		r.Service.Run(ctx)
	}()
}

func (r *rig) stop() {
	if r.end != nil {
		r.end()
		<-r.ended
	}
}

func (r *rig) head() bourse.Seq {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// patience bounds a delivery. No pause is as long.
const patience = time.Minute + time.Nanosecond

// after lets the time pass at once, but that of a delivery, which tooLong ends.
func (r *rig) after(d time.Duration) <-chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan time.Time, 1)
	if d == patience {
		r.deliveries = append(r.deliveries, c)
		return c
	}
	r.now = r.now.Add(d)
	c <- r.now
	r.tell()
	return c
}

// tooLong lets the time of a delivery pass.
func (r *rig) tooLong(delivery int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(patience)
	r.deliveries[delivery] <- r.now
}

// tell ends the waits of until. The caller holds mu.
func (r *rig) tell() {
	close(r.paused)
	r.paused = make(chan struct{})
}

// until waits until a condition holds, which it asks whenever a courier paused.
func (r *rig) until(holds func() bool) {
	for {
		r.mu.Lock()
		paused := r.paused
		r.mu.Unlock()
		if holds() {
			return
		}
		<-paused
	}
}

// watched is a store that tells of its writes.
type watched struct {
	webhook.Store
	rig *rig
}

func (w watched) MoveWebhook(ctx context.Context, id webhook.ID, p *webhook.Progress) error {
	err := w.Store.MoveWebhook(ctx, id, p)
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	w.rig.tell()
	return err
}

// say writes a command with a bulletin of each kind, in one batch.
func (r *rig) say(kinds ...history.BulletinKind) {
	r.Helper()
	r.mu.Lock()
	r.last++
	b := &history.Batch{From: r.last, To: r.last, Time: bourse.TimeOf(r.now)}
	for i, k := range kinds {
		b.Bulletins = append(b.Bulletins, history.Bulletin{
			BulletinPlace: history.BulletinPlace{Seq: r.last, Place: uint32(i)}, Time: b.Time, Kind: k,
			Data: fmt.Sprintf(`{"account":%d}`, r.last),
		})
	}
	r.mu.Unlock()
	if err := r.history.Write(context.Background(), b); err != nil {
		r.Fatal(err)
	}
	if r.Service != nil {
		r.Wake()
	}
}

// add registers an endpoint for all kinds.
func (r *rig) add(url string) account.Secret {
	r.Helper()
	kinds, _ := webhook.ParseKinds("account,deposit,withdrawal,network,market")
	_, secret, err := r.Add(context.Background(), url, kinds)
	if err != nil {
		r.Fatal(err)
	}
	return secret
}

// delivery is the body of a delivery.
type delivery struct {
	ID       string
	Sequence uint64
	Time     time.Time
	Kind     string
	Data     struct{ Account int }
}

// receiver is an endpoint that holds deliveries against the contract.
type receiver struct {
	*testing.T
	*httptest.Server
	// answer answers after a delivery is noted, if it is set.
	answer func(w http.ResponseWriter, r *http.Request)

	mu     sync.Mutex
	secret string
	// bodies has the body of each id; list are the deliveries without repetitions, and repeated
	// counts those.
	bodies   map[string]string
	list     []delivery
	repeated int
	// more is closed and replaced at each delivery.
	more chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{T: t, bodies: map[string]string{}, more: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

// trust sets the secret that deliveries are signed with.
func (r *receiver) trust(secret account.Secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = string(secret)
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.Error(err)
	}
	r.note(request, body)
	if r.answer != nil {
		r.answer(w, request)
	}
}

func (r *receiver) note(request *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		close(r.more)
		r.more = make(chan struct{})
	}()
	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		r.Errorf("%s: %v", body, err)
	}
	id, at := request.Header.Get("webhook-id"), request.Header.Get("webhook-timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
	if err != nil {
		r.Error(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "." + string(body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); request.Header.Get("webhook-signature") != want {
		r.Errorf("%s is signed by %s, want %s", id, request.Header.Get("webhook-signature"), want)
	}
	if id != d.ID || request.Method != http.MethodPost || request.Header.Get("content-type") != "application/json" {
		r.Errorf("%s %s %v: %s", request.Method, id, request.Header, body)
	}

	first, repeated := r.bodies[id]
	r.bodies[id] = string(body)
	switch {
	case !repeated && d.Kind != "test":
		r.list = append(r.list, d)
	case first != string(body):
		if d.Kind != "test" {
			r.Errorf("%s came as %s and as %s", id, first, body)
		}
	case len(r.list) > 0 && d.ID != r.list[len(r.list)-1].ID:
		r.Errorf("%s was repeated behind %s", d.ID, r.list[len(r.list)-1].ID)
	default:
		r.repeated++
	}
}

// wait waits until there are n deliveries without repetitions, and checks their order.
func (r *receiver) wait(n int) []delivery {
	r.Helper()
	for {
		r.mu.Lock()
		list, more := r.list, r.more
		r.mu.Unlock()
		if len(list) >= n {
			for i, d := range list {
				if d.Sequence != uint64(i)+1 {
					r.Errorf("delivery %d has the sequence %d", i, d.Sequence)
				}
			}
			return list
		}
		<-more
	}
}
