package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Customers and their keys. Alice has two keys.
const (
	alice bourse.AccountID = iota + 1
	bob
)

const (
	aliceKey  account.Secret = "alice"
	aliceKey2 account.Secret = "alice again"
	bobKey    account.Secret = "bob"
	tradeKey  account.Secret = "alice trades"
)

// keyring is an authenticator with some keys.
type keyring struct {
	mu   sync.Mutex
	keys map[account.Secret]account.Identity
	// texts are the signed parts that were taken.
	texts map[string]struct{}
	// passed is called after each success, outside of the lock.
	passed func()
}

func newKeyring() *keyring {
	both := account.ScopeRead | account.ScopeTrade
	return &keyring{keys: map[account.Secret]account.Identity{
		aliceKey:  {Account: alice, Key: 1, Scopes: both},
		aliceKey2: {Account: alice, Key: 2, Scopes: account.ScopeRead},
		bobKey:    {Account: bob, Key: 3, Scopes: both},
		tradeKey:  {Account: alice, Key: 4, Scopes: account.ScopeTrade},
	}, texts: map[string]struct{}{}, passed: func() {}}
}

func (k *keyring) Authenticate(_ context.Context, s account.Secret, _ netip.Addr) (account.Identity, error) {
	k.mu.Lock()
	who, ok := k.keys[s]
	k.mu.Unlock()
	switch {
	case s == "broken":
		return who, io.ErrUnexpectedEOF
	case !ok:
		return who, account.ErrUnauthorized
	}
	k.passed()
	return who, nil
}

// Signer accepts the id of a key that signs; see VerifySigned.
func (k *keyring) Signer(_ context.Context, s account.Secret, _ netip.Addr) (account.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name, signs := strings.CutSuffix(string(s), " signs")
	who, ok := k.keys[account.Secret(name)]
	if !signs || !ok {
		return account.Identity{}, account.ErrUnauthorized
	}
	return who, nil
}

// VerifySigned lets "alice signs" sign by the parts of a request, and takes each a single time.
func (k *keyring) VerifySigned(
	ctx context.Context, r *account.Signed, from netip.Addr, once bool,
) (account.Identity, error) {
	who, err := k.Signer(ctx, r.Key, from)
	parts := fmt.Sprint(r.Method, " ", r.Path, " ", r.Query, " ", r.Timestamp, " ", r.Window, " ", string(r.Body), once)
	k.mu.Lock()
	_, used := k.texts[parts]
	k.mu.Unlock()
	switch {
	case err != nil:
		return who, err
	case r.Signature != parts:
		return account.Identity{}, account.ErrSignature
	case used:
		return account.Identity{}, account.ErrRepeated
	}

	k.mu.Lock()
	k.texts[parts] = struct{}{}
	k.mu.Unlock()
	k.passed()
	return who, nil
}

func (k *keyring) revoke(s account.Secret) {
	k.mu.Lock()
	delete(k.keys, s)
	k.mu.Unlock()
}

// exchange is the pipeline from the engine to the connections, stepped by the test.
type exchange struct {
	*testing.T

	engine    *engine.Engine
	view      *view.View
	feed      *feed.Feed
	publisher *stream.Publisher
	pulse     *stream.Pulse
	tail      *history.Tail
	store     *historytest.Memory
	spot      *spotv1.Spot
	wallet    *walletv1.Wallet
	server    *stream.Server
	keys      *keyring
	url       string
	log       *logBuffer
	// rows has the rows of commands that store has not.
	rows history.Batch
	// writeRow, if set, writes rows of transactions in place of wallet.
	writeRow func(w *wire.Writer, m *history.Movement) error
	// noState, while it is positive, is the number of next states that cannot be read.
	noState atomic.Int64

	// pauses, if set, gets a channel for each pause between readings of what a stream missed,
	// which ends the pause; otherwise there are no pauses.
	pauses chan chan time.Time

	// refusals is the number of next commands of connections that are refused as busy.
	refusals atomic.Int64
	// mu guards the rest: connections submit as well.
	mu    sync.Mutex
	seq   bourse.Seq
	now   bourse.Time
	ev    bourse.Events
	clock atomic.Int64 // offset of the server's clock
	// frozen, if set, is the time of the server's clock.
	frozen atomic.Pointer[time.Time]
}

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

const start = 1_700_000_000 * bourse.Second

// newExchange opens an exchange with BTC/USDT, and more markets if asked for.
func newExchange(t *testing.T, moreMarkets int) *exchange {
	return newTailedExchange(t, moreMarkets, 100_000)
}

// newTailedExchange opens an exchange whose tail of the history has at most some rows.
func newTailedExchange(t *testing.T, moreMarkets, rows int) *exchange {
	x := &exchange{
		T: t, engine: engine.New(), view: view.New(), feed: feed.New(), keys: newKeyring(), log: new(logBuffer), now: start,
	}
	x.publisher = stream.NewPublisher(x.feed, x.view, x.row)
	x.pulse = x.publisher.Pulse()
	x.tail, x.store = history.NewTail(rows), historytest.NewMemory()
	x.spot = &spotv1.Spot{View: x.view, History: history.NewReader(x.store, x.tail, x.view)}
	x.wallet = &walletv1.Wallet{Teller: teller.Teller{View: x.view, History: x.spot.History, Networks: unconnected{}}}
	x.server = stream.NewServer(stream.Options{
		Feed: x.feed, View: x.view, History: x.spot.History, State: x.state,
		Who: x.keys, Signed: x.keys, Submit: x.submit, Log: slog.New(slog.NewTextHandler(x.log, nil)),
		From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Clock: func() time.Time {
			if at := x.frozen.Load(); at != nil {
				return *at
			}
			return time.Now().Add(time.Duration(x.clock.Load()))
		},
		After: x.after,
	})
	h := httptest.NewServer(x.server)
	x.url = "ws" + h.URL[len("http"):]
	t.Cleanup(func() {
		x.server.Close(t.Context())
		h.Close()
	})
	x.found(moreMarkets)
	return x
}

func (x *exchange) found(moreMarkets int) {
	x.do(
		bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}},
		defineAsset("BTC"), defineAsset("USDT"), defineMarket(1),
		bourse.Command{Kind: bourse.CommandCreateAccount}, bourse.Command{Kind: bourse.CommandCreateAccount},
	)
	for i := range moreMarkets {
		x.do(defineAsset(bourse.Symbol(fmt.Sprintf("A%d", i))), defineMarket(bourse.AssetID(i+3)))
	}
	for _, who := range []bourse.AccountID{alice, bob} {
		for _, asset := range []bourse.AssetID{1, 2} {
			x.do(bourse.Command{
				Kind: bourse.CommandCredit, Account: who, AssetID: asset, Amount: units("10000000", 12),
			})
		}
	}
}

func defineAsset(symbol bourse.Symbol) bourse.Command {
	return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
		Symbol: symbol, Name: "Asset " + string(symbol), Scale: 12, Enabled: true,
	}}
}

// defineMarket lists an asset against USDT.
func defineMarket(base bourse.AssetID) bourse.Command {
	return bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: base, Quote: 2, BasePrecision: 6, QuotePrecision: 2, Enabled: true,
		SelfTrade: bourse.SelfTradeNone, MinOrder: units("5", 12), InitialPrice: 6000000, MaxPrice: 100000000,
		Maker: 1000, Taker: 2000,
	}}
}

func units(s string, scale uint8) bourse.Amount {
	a, err := bourse.ParseAmount(s, scale)
	if err != nil {
		panic(err)
	}
	return a
}

// unconnected has no networks.
type unconnected struct{}

// Network returns none.
func (unconnected) Network(bourse.NetworkID) (teller.Network, bool) { return nil, false }

// after returns a channel that receives when a pause ends.
func (x *exchange) after(time.Duration) <-chan time.Time {
	over := make(chan time.Time, 1)
	if x.pauses == nil {
		over <- time.Time{}
	} else {
		x.pauses <- over
	}
	return over
}

// row writes a transaction's row.
func (x *exchange) row(w *wire.Writer, m *history.Movement) error {
	if x.writeRow != nil {
		return x.writeRow(w, m)
	}
	return x.wallet.Row(x.Context(), w, m)
}

// errNoDatabase is the error of a database that does not answer.
var errNoDatabase = errors.New("no database")

// state returns the state of a stream.
func (x *exchange) state(ctx context.Context, t feed.Topic) (s stream.State, err error) {
	if x.noState.Add(-1) >= 0 {
		return s, errNoDatabase
	}
	switch t.Kind {
	case feed.Book, feed.PacedBook:
		s.Seq, s.Body = x.spot.BookState(t.Market)
	case feed.Trades:
		s.Seq, s.Body, err = x.spot.TradesState(ctx, t.Market)
	case feed.OwnOrders:
		s.Seq, s.Body = x.spot.OrdersState(t.Account)
	case feed.OwnTrades:
		s.Seq, s.Body, err = x.spot.FillsState(ctx, t.Account)
	case feed.OwnBalances:
		s.Seq, s.Body = x.wallet.BalancesState(t.Account)
	case feed.OwnTransfers:
		s.Seq, s.Body, err = x.wallet.TransfersState(ctx, t.Account)
	default:
		x.Errorf("the state of a topic of kind %d was asked for", t.Kind)
	}
	return s, err
}

// do carries out commands as one frame and delivers it.
func (x *exchange) do(commands ...bourse.Command) {
	x.Helper()
	x.apply(commands...)
	x.deliver()
}

// apply carries out commands as one frame.
func (x *exchange) apply(commands ...bourse.Command) {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frame(commands, func(r bourse.Reason) bool { return r < bourse.UnknownAccount || r == bourse.OrderNotFound })
}

// submit carries out the command of a connection.
func (x *exchange) submit(_ context.Context, c *bourse.Command) (bourse.Outcome, error) {
	if x.refusals.Add(-1) >= 0 {
		return bourse.Outcome{}, bourse.ErrBusy
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frame([]bourse.Command{*c}, func(bourse.Reason) bool { return true })
	x.deliver()
	return x.ev.Outcome, nil
}

func (x *exchange) deliver() {
	for x.feed.Deliver() {
	}
}

// between calls f with the engine, between two frames.
func (x *exchange) between(f func(*engine.Engine)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(x.engine)
}

func (x *exchange) frame(commands []bourse.Command, allowed func(bourse.Reason) bool) {
	x.Helper()
	x.tail.Begin()
	x.view.Begin()
	x.publisher.Begin()
	for i := range commands {
		cmd := &commands[i]
		cmd.Seq, cmd.Time = x.seq+1, x.now
		if err := record.Check(cmd); err != nil {
			x.Error(err) // not Fatal: the frame is open
			continue
		}
		x.seq++
		x.ev.Reset()
		x.engine.Apply(cmd, &x.ev)
		if r := x.ev.Outcome.Reason; !allowed(r) {
			x.Errorf("command %+v: %s", cmd, r)
		}
		x.tail.Observe(cmd, &x.ev)
		history.Project(cmd, &x.ev, &x.rows)
		x.view.Observe(cmd, &x.ev)
		x.publisher.Observe(cmd, &x.ev)
	}
	x.tail.End()
	x.view.End()
	x.publisher.End()
}

// follow stores the rows of all commands.
func (x *exchange) follow() {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.store.Write(x.Context(), &x.rows); err != nil {
		x.Fatal(err)
	}
	x.tail.Stored(history.Cursor{Seq: x.rows.To, Time: x.rows.Time})
	x.rows.Reset()
}

// place places an order of an account and returns its id.
func (x *exchange) place(who bourse.AccountID, p bourse.NewOrder) bourse.OrderID {
	x.Helper()
	x.do(order(who, p))
	return bourse.OrderID(x.ev.Outcome.ID)
}

func (x *exchange) cancel(who bourse.AccountID, id bourse.OrderID) {
	x.Helper()
	x.do(bourse.Command{Kind: bourse.CommandCancel, Account: who, Order: id})
}

func order(who bourse.AccountID, p bourse.NewOrder) bourse.Command {
	p.Market = 1
	return bourse.Command{Kind: bourse.CommandPlace, Account: who, NewOrder: p}
}

// limit returns a LIMIT GTC order; the price is in cents, the amount in 10^-6.
func limit(side bourse.Side, price bourse.Price, lots bourse.Lots) bourse.NewOrder {
	return bourse.NewOrder{Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: lots}
}
