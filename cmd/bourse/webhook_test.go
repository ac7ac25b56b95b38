package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/needs"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// hook is a receiver of webhooks that holds deliveries against the contract.
type hook struct {
	t *testing.T
	*httptest.Server
	secret atomic.Value

	mu     sync.Mutex
	rng    *rand.Rand
	bodies map[string]string
	// list are the deliveries without repetitions.
	list     []bulletin
	repeated int
	more     chan struct{}
}

// bulletin is a delivery.
type bulletin struct {
	ID       string
	Sequence int
	Kind     string
	Data     json.RawMessage
}

func newHook(t *testing.T, seed uint64) *hook {
	t.Helper()
	h := &hook{t: t, rng: rand.New(rand.NewPCG(seed, 9)), bodies: map[string]string{}, more: make(chan struct{})}
	h.secret.Store("")
	h.Server = httptest.NewServer(http.HandlerFunc(h.take))
	t.Cleanup(h.Close)
	return h
}

// take notes a delivery. One in forty is refused after it was noted, and some end without an
// answer, as when a receiver dies.
func (h *hook) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the exchange was killed
	}
	id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(h.secret.Load().(string), "whsec_"))
	if err != nil {
		h.t.Error(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "." + string(body)))
	if "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) != r.Header.Get("webhook-signature") {
		h.t.Errorf("%s is signed by %s", body, r.Header.Get("webhook-signature"))
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	var d bulletin
	if err := json.Unmarshal(body, &d); err != nil || d.ID != id {
		h.t.Errorf("%s: %v", body, err)
	}
	first, repeated := h.bodies[id]
	switch {
	case !repeated:
		if d.Sequence != len(h.list)+1 {
			h.t.Errorf("%s comes behind %d others", body, len(h.list))
		}
		h.bodies[id], h.list = string(body), append(h.list, d)
		close(h.more)
		h.more = make(chan struct{})
	case first != string(body) || d.ID != h.list[len(h.list)-1].ID:
		h.t.Errorf("%s came before as %s, and the last one is %s", body, first, h.list[len(h.list)-1].ID)
	default:
		h.repeated++
	}
	if h.rng.IntN(40) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// until waits for a delivery with a kind and data, and returns all up to it.
func (h *hook) until(kind, data string) []bulletin {
	h.t.Helper()
	timeout := time.After(patience)
	for seen := 0; ; {
		h.mu.Lock()
		list, more := h.list, h.more
		h.mu.Unlock()
		for ; seen < len(list); seen++ {
			if list[seen].Kind == kind && string(list[seen].Data) == data {
				return list[:seen+1]
			}
		}
		select {
		case <-more:
		case <-timeout:
			h.t.Fatalf("%s %s did not come; there are %d deliveries", kind, data, len(list))
		}
	}
}

// hookAdded is the answer of `webhook add`.
type hookAdded struct {
	Webhook int
	Secret  string
}

// operating asks for acts of an operator until the exchange dies, and keeps those that were
// acknowledged.
type operating struct {
	*server
	rng   *rand.Rand
	acked []string
	// accounts is the number of accounts that were opened.
	accounts int
}

// act does one thing that webhooks tell of.
func (o *operating) act(ctx context.Context) (string, error) {
	ask := func(verb string, args map[string]any) ([]byte, error) { return admin.Call(ctx, o.data, verb, args) }
	switch account := 1 + o.rng.IntN(max(o.accounts, 1)); {
	case o.accounts == 0 || o.rng.IntN(3) == 0:
		answer, err := ask("account/create", map[string]any{"email": fmt.Sprintf("a%d@example.org", o.rng.Uint64())})
		if err == nil {
			o.accounts++
		}
		return "account.created " + string(answer), err
	case o.rng.IntN(2) == 0:
		_, err := ask("account/freeze", map[string]any{"account": account})
		return fmt.Sprintf(`account.frozen {"account":%d}`, account), err
	default:
		_, err := ask("account/unfreeze", map[string]any{"account": account})
		return fmt.Sprintf(`account.unfrozen {"account":%d}`, account), err
	}
}

// life acts so many times, then goes on until the exchange is killed.
func (o *operating) life(ctx context.Context, acts int) {
	enough, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			if n == acts {
				close(enough)
			}
			what, err := o.act(ctx)
			if err != nil {
				if n < acts {
					close(enough)
					o.t.Error(err)
				}
				return
			}
			o.acked = append(o.acked, what)
		}
	}()
	<-enough
	o.kill()
	<-ended
}

// TestWebhooksSurviveKills kills the exchange again and again while operators act, deletes its
// history once, and has an endpoint that refuses some deliveries: every event arrives, in order,
// signed, with sequences without gaps, and is the journal's.
func TestWebhooksSurviveKills(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -crash.seed=%d", seed)
	h := newHook(t, seed)
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--segment-size=256KiB", "--snapshot-every=100", "--log-level=debug")
	added := operate[hookAdded](s, "webhook", "add", h.URL+"/path-of-ours", "--kinds", "account")
	h.secret.Store(added.Secret)

	o := &operating{server: s, rng: rand.New(rand.NewPCG(seed, 1))}
	var logs bytes.Buffer
	for n := range *crashCycles {
		o.life(t.Context(), o.rng.IntN(30))
		logs.Write(s.log.Bytes())
		if n == *crashCycles/2 {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				must(t, os.RemoveAll(filepath.Join(s.data, "history.db"+suffix)))
			}
		}
		s.start()
	}
	last := operate[struct{ Account int }](s, "account", "create", "last@example.org").Account
	list := h.until("account.created", fmt.Sprintf(`{"account":%d}`, last))
	t.Logf("%d kills: %d acts acknowledged, %d deliveries, %d repeated", *crashCycles, len(o.acked), len(list), h.repeated)

	next := 0
	for _, d := range list {
		if next < len(o.acked) && d.Kind+" "+string(d.Data) == o.acked[next] {
			next++
		}
	}
	if next < len(o.acked) {
		t.Errorf("%s was acknowledged and not bulletin", o.acked[next])
	}
	stopped, _ := s.stop()
	logs.Write(s.log.Bytes())
	if stopped != 0 {
		t.Fatalf("exit %d", stopped)
	}
	compareTold(t, s, list)

	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(added.Secret, "whsec_"))
	must(t, err)
	for _, text := range append(s.left(), logs.Bytes()) {
		if bytes.Contains(text, raw) || bytes.Contains(text, []byte(added.Secret[6:])) {
			t.Error("the secret can be read where it should not")
		}
	}
	if bytes.Contains(logs.Bytes(), []byte("path-of-ours")) {
		t.Error("the log has the URL's path")
	}
}

// compareTold compares deliveries with the history's rows behind the registration.
func compareTold(t *testing.T, s *server, list []bulletin) {
	t.Helper()
	store, err := sqlhistory.Open(t.Context(), filepath.Join(s.data, "history.db"))
	must(t, err)
	rows, err := store.Bulletins(t.Context(), history.BulletinPlace{}, 1<<20)
	must(t, errors.Join(err, store.Close()))
	next := 0
	for _, b := range rows {
		switch id := fmt.Sprintf("evt_%d_%d", b.Seq, b.Place); {
		case !strings.HasPrefix(b.Kind.String(), "account."):
		case next == 0 && id != list[0].ID: // before the registration
		case next == len(list):
			t.Errorf("%s was not bulletin", id)
		case id != list[next].ID || b.Kind.String() != list[next].Kind || b.Data != string(list[next].Data):
			t.Fatalf("%+v was bulletin as %+v", b, list[next])
		default:
			next++
		}
	}
	if next != len(list) {
		t.Errorf("%d of %d deliveries are in the history", next, len(list))
	}
}

// TestWebhookVerbs adds, lists, tests and removes a webhook; what changes something is noted,
// without the path.
func TestWebhookVerbs(t *testing.T) {
	h := newHook(t, 1)
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	added := operate[hookAdded](s, "webhook", "add", h.URL+"/secret-path")
	h.secret.Store(added.Secret)
	account, _ := s.customer("someone")
	h.until("account.created", fmt.Sprintf(`{"account":%d}`, account))
	operate[any](s, "market", "halt", "BTC/USDT")
	h.until("market.state", `{"market":"BTC/USDT","state":"halted"}`)
	operate[any](s, "withdrawals", "pause", "BTC")
	h.until("network.paused", `{"network":"BTC"}`)

	list := operate[struct{ Webhooks []map[string]any }](s, "webhook", "list").Webhooks
	text := fmt.Sprint(list)
	if len(list) != 1 || list[0]["url"] != h.URL+"/secret-path" || strings.Contains(text, added.Secret) || strings.Contains(text, "secret:") {
		t.Errorf("%v", list)
	}
	notes, _, _ := run(t, "admin", "--data", s.data, "log")
	if !strings.Contains(notes, "webhook add account,deposit,withdrawal,network,market of 127.0.0.1") ||
		strings.Contains(notes, "secret-path") {
		t.Errorf("notes are %s", notes)
	}

	h.Close()
	_, stderr, code := run(t, "admin", "--data", s.data, "webhook", "test", "1")
	if code != exitFailed || !strings.Contains(stderr, "connection refused") || strings.Contains(stderr, "secret-path") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	operate[any](s, "webhook", "remove", "1")
	if list := operate[struct{ Webhooks []any }](s, "webhook", "list").Webhooks; len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// TestWebhooksOfProduction wants https, and only public addresses unless the settings permit
// others: also of a name that has one.
func TestWebhooksOfProduction(t *testing.T) {
	var taken atomic.Int32
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { taken.Add(1) }))
	defer receiver.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	write(t, trusted, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})))
	t.Setenv("SSL_CERT_FILE", trusted)
	port := receiver.URL[strings.LastIndex(receiver.URL, ":"):]

	refused := func(s *server, says string, args ...string) {
		t.Helper()
		_, stderr, code := run(t, append([]string{"admin", "--data", s.data, "webhook"}, args...)...)
		if code != exitFailed || !strings.Contains(stderr, says) {
			t.Errorf("%q: exit %d: %s, want %s", args, code, stderr, says)
		}
	}
	s := &server{t: t, data: t.TempDir(), args: []string{"--min-free=0"}}
	s.startAs("serve")
	t.Cleanup(func() { s.kill() })
	refused(s, "must begin with https://", "add", "http://example.com/")
	refused(s, "127.0.0.1 is not a public address", "add", receiver.URL)
	refused(s, "unknown kind", "add", "https://example.com/", "--kinds=toast")
	operate[any](s, "webhook", "add", "https://localhost"+port)
	refused(s, "is not a public address", "test", "1")
	if taken.Load() != 0 {
		t.Error("it was connected to")
	}

	s.kill()
	s.args = append(s.args, "--webhook-private")
	s.startAs("serve")
	operate[any](s, "webhook", "add", receiver.URL)
	operate[any](s, "webhook", "test", "2")
	if taken.Load() != 1 {
		t.Errorf("%d deliveries", taken.Load())
	}
	refused(s, "must begin with https://", "add", "http://127.0.0.1/")
}

// fenced matches the programs of a page, with their languages.
var fenced = regexp.MustCompile("(?s)```(python|go)\n(.*?)```")

// TestWebhookPrograms runs the receivers of docs/webhooks.md: they take a delivery of a sandbox,
// and refuse what is forged.
func TestWebhookPrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	must(t, err)
	programs := fenced.FindAllStringSubmatch(string(page), -1)
	if len(programs) != 2 {
		t.Fatalf("the page has %d programs", len(programs))
	}
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	for _, p := range programs {
		t.Run(p[1], func(t *testing.T) {
			address := freeAddress(t)
			added := operate[hookAdded](s, "webhook", "add", "http://"+address+"/")
			file := filepath.Join(t.TempDir(), "receiver."+map[string]string{"python": "py", "go": "go"}[p[1]])
			write(t, file, p[2])
			receive(t, s, receiverCommand(t, p[1], file), address, &added)
		})
	}
}

func receiverCommand(t *testing.T, language, file string) *exec.Cmd {
	t.Helper()
	if language == "python" {
		needs.Program(t, "python3")
		return exec.Command("python3", "-u", file)
	}
	program := filepath.Join(t.TempDir(), "receiver")
	out, err := exec.Command("go", "build", "-o", program, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exec.Command(program)
}

// receive runs a receiver, lets the exchange deliver to it, and forges a delivery.
func receive(t *testing.T, s *server, cmd *exec.Cmd, address string, added *hookAdded) {
	t.Helper()
	cmd.Env = append(os.Environ(), "SECRET="+added.Secret, "LISTEN="+address)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	id := fmt.Sprint(added.Webhook)
	within(t, patience, "taken", func() bool {
		_, _, code := run(t, "admin", "--data", s.data, "webhook", "test", id)
		return code == 0
	})
	text := make([]byte, 256)
	n, err := out.Read(text)
	if err != nil || !strings.HasPrefix(string(text[:n]), "0 test ") {
		t.Errorf("it printed %q (%v): %s", text[:n], err, &problems)
	}

	forged, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/", strings.NewReader("{}"))
	must(t, err)
	forged.Header.Set("webhook-id", "evt_1_0")
	forged.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
	forged.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	answer, err := http.DefaultClient.Do(forged)
	must(t, err)
	must(t, answer.Body.Close())
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a forged delivery: %s", answer.Status)
	}
	operate[any](s, "webhook", "remove", id)
}
