package live_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"go.uber.org/goleak"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/journal/memlog"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Customers.
const (
	alice bourse.AccountID = iota + 1
	bob
)

// Ids of keys that sign with themselves as the secret.
const (
	aliceKey = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	bobKey   = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	readKey  = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
)

// keyring knows some keys that sign, and the texts that were taken.
type keyring struct {
	mu    sync.Mutex
	keys  map[account.Secret]account.Identity
	taken map[string]bool
	// elsewhere are keys that may be used from another address alone.
	elsewhere map[bourse.KeyID]bool
}

func newKeyring() *keyring {
	both := account.ScopeRead | account.ScopeTrade
	return &keyring{taken: map[string]bool{}, elsewhere: map[bourse.KeyID]bool{}, keys: map[account.Secret]account.Identity{
		aliceKey: {Account: alice, Key: 1, Scopes: both},
		bobKey:   {Account: bob, Key: 2, Scopes: both},
		readKey:  {Account: alice, Key: 3, Scopes: account.ScopeRead},
	}}
}

func (k *keyring) Signer(_ context.Context, s account.Secret, _ netip.Addr) (account.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	who, known := k.keys[s]
	if !known || k.elsewhere[who.Key] {
		return account.Identity{}, account.ErrUnauthorized
	}
	return who, nil
}

func (k *keyring) VerifySigned(
	ctx context.Context, r *account.Signed, from netip.Addr, once bool,
) (account.Identity, error) {
	who, err := k.Signer(ctx, r.Key, from)
	if err != nil {
		return who, err
	}
	if sign(string(r.Key), string(r.Payload)) != r.Signature {
		return account.Identity{}, account.ErrSignature
	}
	if at := time.UnixMilli(r.Timestamp); time.Since(at) > time.Duration(r.Window)*time.Millisecond {
		return account.Identity{}, account.ErrClock
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if once && k.taken[string(r.Payload)] {
		return account.Identity{}, account.ErrRepeated
	}
	k.taken[string(r.Payload)] = k.taken[string(r.Payload)] || once
	return who, nil
}

func (k *keyring) Holder(id bourse.KeyID, _ netip.Addr) (account.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, who := range k.keys {
		if who.Key == id && !k.elsewhere[id] {
			return who, nil
		}
	}
	return account.Identity{}, account.ErrUnauthorized
}

func (k *keyring) revoke(s account.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, s)
}

func sign(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, text)
	return hex.EncodeToString(mac.Sum(nil))
}

// exchange is an exchange whose journal is in memory, and the interface before it.
type exchange struct {
	*testing.T

	sequencer *sequencer.Sequencer
	log       *memlog.Log
	view      *view.View
	feed      *feed.Feed
	publisher *live.Publisher
	pulse     *live.Pulse
	server    *stream.Server
	live      *live.Live
	listens   *binance.ListenKeys
	keys      *keyring
	limits    *api.Limiter
	url       string
	offset    atomic.Int64 // of the clock
	// frozen stops the clock where it is first read.
	frozen atomic.Bool
	stood  atomic.Int64
	// lastTrade is the message of the last trade.
	lastTrade string
	// ahead is the offset of the engine's time, which begins ten seconds after a minute has, so that
	// no candle ends by chance.
	ahead atomic.Int64
}

// newExchange opens an exchange with BTC/USDT, ETH/USDT and two customers with money. Nothing
// beats but the test.
func newExchange(t *testing.T, change ...func(*binance.Options)) *exchange {
	x := &exchange{T: t, view: view.New(), feed: feed.New(), keys: newKeyring()}
	x.log = memlog.NewStore().Open(1)
	began := time.Now()
	x.ahead.Store(int64(began.Truncate(time.Minute).Add(time.Minute + 10*time.Second).Sub(began)))
	tail, store := history.NewTail(100_000), historytest.NewMemory()
	reader := history.NewReader(store, tail, x.view)
	x.publisher = live.NewPublisher(x.feed, x.view, reader)
	x.pulse = live.NewPulse(x.publisher)
	x.sequencer = sequencer.New(sequencer.Options{
		Log: x.log, Engine: engine.New(), Observers: []sequencer.Observer{tail, x.view, x.publisher},
		Voided: func(bourse.Seq) bool { return false },
	})
	clock := func() time.Time {
		now := time.Now().Add(time.Duration(x.offset.Load()))
		if !x.frozen.Load() {
			return now
		}
		x.stood.CompareAndSwap(0, now.UnixNano())
		return time.Unix(0, x.stood.Load())
	}
	var err error
	if x.listens, err = binance.NewListenKeys(x.keys, rand.Reader, clock); err != nil {
		t.Fatal(err)
	}

	local := func(*http.Request) netip.Addr { return netip.IPv6Loopback() }
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	o := binance.Options{
		View: x.view, History: reader, Sequencer: live.NewSequencer(x.sequencer), Signed: x.keys,
		Turn: func(*api.Limiter, bourse.AccountID, *bourse.NewOrder) (func(), error) { return func() {}, nil },
		Now:  func() bourse.Time { return bourse.TimeOf(clock()) },
		From: local, Observe: func(string, int, bool, time.Duration) {}, Clock: clock, Log: log,
		Encoder: coding.NewEncoder(1), Patience: time.Minute, Listens: x.listens, MaxOpen: engine.MaxOpenOrders,
	}
	for _, c := range change {
		c(&o)
	}
	x.limits = o.Limits
	facade := binance.New(o)
	x.server = stream.NewServer(stream.Options{
		Feed: feed.New(), View: x.view, Clock: clock, Log: log, From: local, Limits: o.Limits,
	})
	x.live = live.New(live.Options{
		Facade: facade, Feed: x.feed, Server: x.server, Publisher: x.publisher,
	})
	mux := http.NewServeMux()
	facade.Handle(mux, "/binance")
	x.live.Handle(mux, "/binance")
	h := httptest.NewServer(mux)
	x.url = h.URL + "/binance"
	stop := x.run()
	t.Cleanup(func() {
		x.log.Release()
		x.server.Close(context.Background())
		x.live.Close()
		h.Close()
		stop()
	})
	x.found()
	return x
}

// run runs the line and the feed.
func (x *exchange) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	loop := func(ready <-chan struct{}, step func() bool) {
		running.Go(func() {
			for ctx.Err() == nil {
				if step() {
					continue
				}
				select {
				case <-ctx.Done():
				case <-ready:
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	loop(x.sequencer.Wake(), func() bool {
		now := bourse.TimeOf(time.Now().Add(time.Duration(x.ahead.Load())))
		sleep, err := x.sequencer.Write(now)
		if err != nil {
			x.Error(err)
		}
		return sleep == 0
	})
	loop(x.log.Ready(), func() bool {
		more, err := x.sequencer.Apply()
		if err != nil {
			x.Error(err)
		}
		return more
	})
	loop(x.feed.Ready(), x.feed.Deliver)
	loop(x.feed.Slow(), x.feed.Encode)
	return func() {
		cancel()
		running.Wait()
	}
}

func (x *exchange) found() {
	asset := func(symbol bourse.Symbol) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: symbol, Name: string(symbol), Scale: 12, Enabled: true,
		}}
	}
	market := func(base bourse.AssetID) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: base, Quote: 2, BasePrecision: 6, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			MinOrder: bourse.Units(5_000_000_000_000), InitialPrice: 6_000_000, MaxPrice: 100_000_000, Maker: 1000, Taker: 2000,
		}}
	}
	x.do(
		bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		asset("BTC"), asset("USDT"), asset("ETH"), market(1), market(3),
		bourse.Command{Kind: bourse.CommandCreateAccount}, bourse.Command{Kind: bourse.CommandCreateAccount},
	)
	for _, who := range []bourse.AccountID{alice, bob} {
		for _, asset := range []bourse.AssetID{1, 2, 3} {
			x.do(bourse.Command{Kind: bourse.CommandCredit, Account: who, AssetID: asset, Amount: bourse.Amount{Hi: 1}})
		}
	}
}

// do carries out commands, which must succeed, and returns the last one's id.
func (x *exchange) do(commands ...bourse.Command) (id uint64) {
	x.Helper()
	for _, r := range x.outcomes(commands...) {
		id = r.Outcome.ID
	}
	return id
}

// outcomes carries out commands, which must succeed.
func (x *exchange) outcomes(commands ...bourse.Command) []sequencer.Result {
	x.Helper()
	list := x.sequencer.DoAll(x.Context(), commands)
	for _, r := range list {
		if err := r.Refusal(); err != nil {
			x.Fatal(err)
		}
	}
	return list
}

// place places a LIMIT order: the price is in cents, the amount in 10^-6.
func (x *exchange) place(who bourse.AccountID, side bourse.Side, price bourse.Price, lots bourse.Lots) bourse.OrderID {
	x.Helper()
	return bourse.OrderID(x.do(bourse.Command{Kind: bourse.CommandPlace, Account: who, NewOrder: bourse.NewOrder{
		Market: 1, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: lots,
	}}))
}

func (x *exchange) cancel(who bourse.AccountID, id bourse.OrderID) {
	x.Helper()
	x.do(bourse.Command{Kind: bourse.CommandCancel, Account: who, Order: id})
}

// slow beats until the slow messages are posted.
func (x *exchange) slow() {
	for range 10 {
		x.pulse.Beat()
	}
}

// request sends a REST request with a key, and returns the status and the answer.
func (x *exchange) request(method, path, key string) (int, string) {
	x.Helper()
	r, err := http.NewRequestWithContext(x.Context(), method, x.url+path, nil)
	if err != nil {
		x.Fatal(err)
	}
	r.Header.Set("X-MBX-APIKEY", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		x.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		x.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// patience is the time for an expected message.
const patience = 20 * time.Second

// client is a WebSocket client.
type client struct {
	*testing.T

	conn net.Conn
	in   io.Reader
	// events are the events that came before an answer, and fields are those of all events
	// that the test took, by the event's name.
	events []string
	fields map[string]map[string]bool
	next   int
}

// dial connects to a path.
func (x *exchange) dial(path string) *client {
	x.Helper()
	conn, br, _, err := ws.Dial(x.Context(), "ws"+strings.TrimPrefix(x.url, "http")+path)
	if err != nil {
		x.Fatalf("%s: %v", path, err)
	}
	x.Cleanup(func() { _ = conn.Close() })
	c := &client{T: x.T, conn: conn, in: conn}
	if br != nil {
		c.in = io.MultiReader(io.LimitReader(br, int64(br.Buffered())), conn)
	}
	return c
}

// refused expects a path not to be upgraded.
func (x *exchange) refused(path, want string) {
	x.Helper()
	if status, body := x.request("GET", path, ""); status != http.StatusBadRequest || body != want {
		x.Errorf("%s: %d %s, want %s", path, status, body, want)
	}
}

func (c *client) send(text string) {
	c.Helper()
	c.write(ws.NewTextFrame([]byte(text)))
}

// frame returns the next frame but pings.
func (c *client) frame() (ws.Frame, error) {
	for {
		_ = c.conn.SetReadDeadline(time.Now().Add(patience))
		h, err := ws.ReadHeader(c.in)
		if err != nil {
			return ws.Frame{}, err
		}
		f := ws.Frame{Header: h, Payload: make([]byte, h.Length)}
		if _, err := io.ReadFull(c.in, f.Payload); err != nil || h.OpCode != ws.OpPing {
			return f, err
		}
	}
}

// receive returns the next message.
func (c *client) receive() string {
	c.Helper()
	f, err := c.frame()
	if err != nil || f.Header.OpCode != ws.OpText {
		c.Fatalf("no message: %+v %q %v", f.Header, f.Payload, err)
	}
	return string(f.Payload)
}

// want expects the next messages.
func (c *client) want(texts ...string) {
	c.Helper()
	for _, text := range texts {
		if got := c.receive(); got != text {
			c.Fatalf("got  %s\nwant %s", got, text)
		}
	}
}

// ask sends a request and expects an answer.
func (c *client) ask(request, answer string) {
	c.Helper()
	c.send(request)
	c.want(answer)
}

// ended expects the connection to be closed with a code.
func (c *client) ended(code ws.StatusCode) {
	c.Helper()
	for {
		f, err := c.frame()
		if err != nil {
			c.Fatalf("no close frame: %v", err)
		}
		if f.Header.OpCode != ws.OpClose {
			continue
		}
		if got, _ := ws.ParseCloseFrameData(f.Payload); got != code {
			c.Errorf("closed with %d, want %d", got, code)
		}
		return
	}
}

// params are those of a request.
type params map[string]any

// with returns the parameters and others.
func (p params) with(more params) params {
	all := params{}
	for k, v := range p {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

// distinct makes the timestamps of signed requests differ.
var distinct atomic.Int64

// signed returns the parameters with those of a signature.
func (p params) signed(key string) params {
	all := p.with(params{"apiKey": key, "timestamp": time.Now().UnixMilli() - distinct.Add(1)%1000, "recvWindow": 60000})
	var pairs []string
	for k, v := range all {
		pairs = append(pairs, fmt.Sprint(k, "=", v))
	}
	slices.Sort(pairs)
	all["signature"] = sign(key, strings.Join(pairs, "&"))
	return all
}

// request sends a request to enter orders, and returns its id.
func (c *client) request(method string, p params) int {
	c.Helper()
	c.next++
	text, err := json.Marshal(map[string]any{"id": c.next, "method": method, "params": p})
	if err != nil {
		c.Fatal(err)
	}
	c.send(string(text))
	return c.next
}

// answer is an answer to a request.
type answer struct {
	ID     any
	Status int
	Result json.RawMessage
	Error  struct {
		Code int
		Msg  string
		Data json.RawMessage
	}
	RateLimits []struct {
		RateLimitType string
		Count         int
	}
	Event json.RawMessage
}

// answered returns the next answer, and keeps the events before it.
func (c *client) answered() (a answer) {
	c.Helper()
	for {
		text := c.receive()
		a = answer{}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			c.Fatalf("%s: %v", text, err)
		}
		if a.Status != 0 {
			return a
		}
		c.events = append(c.events, string(a.Event))
	}
}

// call sends a request and returns its answer.
func (c *client) call(method string, p params) answer {
	c.Helper()
	id := c.request(method, p)
	a := c.answered()
	if a.ID != float64(id) {
		c.Fatalf("%s: an answer to %v came", method, a.ID)
	}
	return a
}

// ok sends a request that must succeed, and returns its result.
func (c *client) ok(method string, p params) string {
	c.Helper()
	a := c.call(method, p)
	if a.Status != http.StatusOK {
		c.Fatalf("%s %v: %d %+v", method, p, a.Status, a.Error)
	}
	return string(a.Result)
}

// fails sends a request that must fail with a status and code.
func (c *client) fails(status, code int, method string, p params) {
	c.Helper()
	if a := c.call(method, p); a.Status != status || a.Error.Code != code {
		c.Errorf("%s %v: %d %+v, want %d %d", method, p, a.Status, a.Error, status, code)
	}
}

// event returns the next event, or one that came before.
func (c *client) event() string {
	c.Helper()
	if len(c.events) > 0 {
		e := c.events[0]
		c.events = c.events[1:]
		return c.noted(e)
	}
	var a answer
	if text := c.receive(); json.Unmarshal([]byte(text), &a) != nil || a.Event == nil {
		c.Fatalf("no event: %s", text)
	}
	return c.noted(string(a.Event))
}

// noted notes the fields of an event and returns it.
func (c *client) noted(event string) string {
	c.Helper()
	var m struct {
		Name string `json:"e"`
		Time int64  `json:"E"` // encoding/json folds cases
	}
	if err := json.Unmarshal([]byte(event), &m); err != nil {
		c.Fatalf("%s: %v", event, err)
	}
	if c.fields == nil {
		c.fields = map[string]map[string]bool{}
	}
	if c.fields[m.Name] == nil {
		c.fields[m.Name] = map[string]bool{}
	}
	addFields(c.T, []byte(event), c.fields[m.Name])
	return event
}

// limit returns the parameters of a limit order.
func limit(side, price, quantity string) params {
	return params{
		"symbol": "BTCUSDT", "side": side, "type": "LIMIT", "timeInForce": "GTC", "price": price, "quantity": quantity,
	}
}
