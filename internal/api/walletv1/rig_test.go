package walletv1_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
)

// desk is the interface of an exchange whose journal is what was applied, and
// whose networks do what the test says.
type desk struct {
	*testing.T
	mux *http.ServeMux

	mu       sync.Mutex
	engine   *engine.Engine
	view     *view.View
	tail     *history.Tail
	store    *historytest.Memory
	accounts *account.Service
	now      bourse.Time
	// behind is what the follower has not written.
	behind history.Batch
	// unknown makes the next command's outcome unknown.
	unknown bool

	networks map[bourse.NetworkID]*network
	// alice and bob are accounts 1 and 2, with keys of all scopes.
	alice, bob string
}

// network is a codec of a devnet, with the blocks that the test made.
type network struct {
	*devnet.Codec
	keys   *devnet.Keys
	silent bool
	blocks []bourse.BlockRef
	made   byte
}

func (n *network) Operating() bool { return !n.silent }

func (d *desk) Network(id bourse.NetworkID) (teller.Network, bool) {
	n, ok := d.networks[id]
	return n, ok
}

func newDesk(t *testing.T) *desk {
	store, err := accounts.Open(t.Context(), filepath.Join(t.TempDir(), "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{
		T: t, mux: http.NewServeMux(), engine: engine.New(), view: view.New(), tail: history.NewTail(10_000),
		store: historytest.NewMemory(), now: 1_700_000_000 * bourse.Second, networks: map[bourse.NetworkID]*network{},
	}
	clock := func() time.Time { return d.now.Std() }
	d.accounts = account.NewService(account.Options{Store: store, Random: rand.Reader, Clock: clock})
	d.accounts.Bind(func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error) {
		r, err := d.Do(ctx, c)
		return r.Outcome, err
	})
	d.do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}})
	for _, cmd := range sandbox.Catalogue() {
		d.do(cmd)
	}
	d.connect()
	d.alice, d.bob = d.newcomer("alice@example.com"), d.newcomer("bob@example.com")
	reader := history.NewReader(d.store, d.tail, d.view)
	wallet := &walletv1.Wallet{Teller: teller.Teller{
		View: d.view, History: reader, Accounts: d.accounts, Sequencer: d, Networks: d, PublicURL: "http://here",
	}}
	v1 := &api.V1{
		Who: d.accounts, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Clock: clock,
		Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Observe: func(*api.Endpoint, int, bool, time.Duration) {},
	}
	v1.Handle(d.mux, "", wallet.Endpoints())
	return d
}

// connect gives each network of the catalogue a codec.
func (d *desk) connect() {
	for _, n := range d.view.Catalogue().Networks[1:] {
		params := devnet.Lookup(n.Symbol)
		keys := devnet.NewKeys(params, [32]byte{byte(n.ID)})
		d.networks[n.ID] = &network{Codec: devnet.NewCodec(params, keys.Public()), keys: keys}
	}
}

// newcomer makes an account and a key that may do everything.
func (d *desk) newcomer(email string) string {
	d.Helper()
	id, err := d.accounts.Create(d.Context(), email)
	if err != nil {
		d.Fatal(err)
	}
	for _, n := range d.networks {
		n.Watch(uint32(id))
	}
	return d.key(id, account.ScopeRead|account.ScopeWithdraw)
}

func (d *desk) key(id bourse.AccountID, scopes account.Scopes) string {
	d.Helper()
	_, secret, err := d.accounts.CreateKey(d.Context(), id, account.NewKey{Scopes: scopes})
	if err != nil {
		d.Fatal(err)
	}
	return string(secret)
}

// Do stands for the sequencer.
func (d *desk) Do(_ context.Context, c *bourse.Command) (sequencer.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := c.Check(); err != nil {
		return sequencer.Result{}, err
	}
	cmd := *c
	cmd.Seq, cmd.Time = d.engine.Seq()+1, d.now
	var ev bourse.Events
	for _, o := range []sequencer.Observer{d.tail, d.view, d.accounts} {
		o.Begin()
	}
	d.engine.Apply(&cmd, &ev)
	d.tail.Observe(&cmd, &ev)
	d.view.Observe(&cmd, &ev)
	d.accounts.Observe(&cmd, &ev)
	history.Project(&cmd, &ev, &d.behind)
	d.tail.End()
	d.view.End()
	d.accounts.End()
	if err := d.engine.Check(); err != nil {
		d.Errorf("after %d: %v", cmd.Kind, err)
	}
	if d.unknown {
		d.unknown = false
		return sequencer.Result{}, bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
	}
	return sequencer.Result{Seq: cmd.Seq, Time: cmd.Time, Outcome: ev.Outcome}, nil
}

// do carries a command that must not be refused, a second after the one before.
func (d *desk) do(cmd bourse.Command) bourse.Outcome {
	d.Helper()
	d.now += bourse.Second
	r, err := d.Do(d.Context(), &cmd)
	if err != nil || r.Outcome.Reason != 0 {
		d.Fatalf("command %d: %v %v", cmd.Kind, r.Outcome.Reason, err)
	}
	return r.Outcome
}

// follow writes what is behind to the store.
func (d *desk) follow() {
	d.Helper()
	if err := d.store.Write(d.Context(), &d.behind); err != nil {
		d.Fatal(err)
	}
	d.tail.Stored(history.Cursor{Seq: d.behind.To, Time: d.behind.Time})
	d.behind = history.Batch{}
}

// post sends a request and returns the answer as it came.
func (d *desk) post(path, body string) string {
	d.Helper()
	w := httptest.NewRecorder()
	d.mux.ServeHTTP(w, httptest.NewRequestWithContext(d.Context(), http.MethodPost, path, bytes.NewReader([]byte(body))))
	if w.Code != http.StatusOK {
		d.Fatalf("%s: status %d", path, w.Code)
	}
	return w.Body.String()
}

type fields map[string]any

// ask sends a request with a key and returns the answer's fields.
func (d *desk) ask(key, path string, f fields) fields {
	d.Helper()
	body := fields{"api_key": key}
	for name, value := range f {
		body[name] = value
	}
	b, err := json.Marshal(body)
	if err != nil {
		d.Fatal(err)
	}
	var answer fields
	if err := json.Unmarshal([]byte(d.post(path, string(b))), &answer); err != nil {
		d.Fatal(err)
	}
	return answer
}

// refused wants an error that contains a text, or any if that is empty.
func (d *desk) refused(key, path string, f fields, text string) {
	d.Helper()
	got := d.ask(key, path, f)
	if message, _ := got["error"].(string); got["success"] != false || !bytes.Contains([]byte(message), []byte(text)) {
		d.Errorf("%s %v: %v, want an error with %q", path, f, got, text)
	}
}

// taken wants success and returns the answer.
func (d *desk) taken(key, path string, f fields) fields {
	d.Helper()
	got := d.ask(key, path, f)
	if got["success"] != true {
		d.Fatalf("%s %v: %v", path, f, got["error"])
	}
	return got
}

// rows returns transactions.
func (d *desk) rows(key string, f fields) []fields {
	d.Helper()
	if _, given := f["offset"]; !given {
		f["offset"] = 0
	}
	var list []fields
	for _, row := range d.taken(key, "/transactions", f)["transactions"].([]any) {
		list = append(list, row.(map[string]any))
	}
	return list
}

func (d *desk) symbols(asset, network bourse.Symbol) (*bourse.Asset, *bourse.Network, *network) {
	c := d.view.Catalogue()
	n := c.Network(network)
	return c.Asset(asset), n, d.networks[n.ID]
}

func (d *desk) units(amount string, asset *bourse.Asset) bourse.Amount {
	d.Helper()
	a, err := bourse.ParseAmount(amount, asset.Scale)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

// tx returns a transaction to somebody's address: owner is an account, or the
// treasury.
func (d *desk) tx(at bourse.Symbol, name byte, owner bourse.AccountID, asset bourse.Symbol, amount, memo string) bourse.Tx {
	d.Helper()
	a, _, n := d.symbols(asset, at)
	out := bourse.Output{Asset: a.ID, Amount: d.units(amount, a), Owner: owner, Memo: memo}
	if owner.IsCustomer() && n.Shape().MemoName == "" {
		out.Address = uint32(owner)
	}
	return bourse.Tx{Hash: bourse.TxHash{name}, Outputs: []bourse.Output{out}}
}

// mine puts a block on a network's chain.
func (d *desk) mine(at bourse.Symbol, txs ...bourse.Tx) {
	d.Helper()
	_, listed, n := d.symbols("BTC", at)
	n.made++
	b := &bourse.Block{
		Network: listed.ID, BlockRef: bourse.BlockRef{Height: 100, Hash: bourse.TxHash{0xb, n.made}}, Time: d.now,
		ByOutput: n.Shape().Outputs, Txs: txs,
	}
	if last := len(n.blocks) - 1; last >= 0 {
		b.Height, b.Parent = n.blocks[last].Height+1, n.blocks[last].Hash
	}
	n.blocks = append(n.blocks, b.BlockRef)
	d.do(bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: b}})
}

// rewind takes the last block from a network's chain.
func (d *desk) rewind(at bourse.Symbol) {
	d.Helper()
	_, listed, n := d.symbols("BTC", at)
	n.blocks = n.blocks[:len(n.blocks)-1]
	d.do(bourse.Command{Kind: bourse.CommandRewind, Wallet: &bourse.WalletCommand{
		Network: listed.ID, Height: n.blocks[len(n.blocks)-1].Height,
	}})
}

// credit hands out money.
func (d *desk) credit(id bourse.AccountID, asset bourse.Symbol, amount string) {
	d.Helper()
	a := d.view.Catalogue().Asset(asset)
	d.do(bourse.Command{Kind: bourse.CommandCredit, Account: id, AssetID: a.ID, Amount: d.units(amount, a)})
}

// pause stops a network's withdrawals, or resumes them.
func (d *desk) pause(at bourse.Symbol, on bool) {
	d.Helper()
	n := d.view.Catalogue().Network(at)
	d.do(bourse.Command{Kind: bourse.CommandPauseWithdrawals, On: on, Wallet: &bourse.WalletCommand{Network: n.ID}})
}

// sign puts a transaction of a network of accounts on record for a withdrawal.
func (d *desk) sign(at bourse.Symbol, xid uint64, nonce uint64, name byte) {
	d.Helper()
	n := d.view.Catalogue().Network(at)
	d.do(bourse.Command{Kind: bourse.CommandSigned, Wallet: &bourse.WalletCommand{Signed: &bourse.SignedTx{
		Network: n.ID, Kind: bourse.SignedWithdrawal, Wallet: bourse.WalletID(xid), Tx: bourse.TxHash{name},
		Raw: []byte("signed"), Nonce: nonce,
	}}})
}

// sent says that the network took a transaction.
func (d *desk) sent(at bourse.Symbol, name byte) {
	d.Helper()
	n := d.view.Catalogue().Network(at)
	d.do(bourse.Command{Kind: bourse.CommandSent, Wallet: &bourse.WalletCommand{Network: n.ID, Tx: bourse.TxHash{name}}})
}

// outside returns an address of somebody who is not ours.
func (d *desk) outside(at bourse.Symbol, who byte) string {
	params := devnet.Lookup(at)
	return devnet.NewCodec(params, devnet.NewKeys(params, [32]byte{0xff, who}).Public()).Destination(1).Address
}

// own returns where an account receives; chain.IndexHot is the hot wallet.
func (d *desk) own(at bourse.Symbol, index uint32) chain.Destination {
	_, _, n := d.symbols("BTC", at)
	return n.Destination(index)
}

// out is a withdrawal to the outside that is fine.
func (d *desk) out(asset, at bourse.Symbol, amount, fee string) fields {
	return fields{"asset": asset, "network": at, "address": d.outside(at, 1), "amount": amount, "fee": fee}
}

func (f fields) with(name string, value any) fields {
	g := fields{name: value}
	for n, v := range f {
		if _, given := g[n]; !given {
			g[n] = v
		}
	}
	return g
}

// xid returns the id that a withdrawal was given.
func xid(f fields) uint64 { return uint64(f["xid"].(float64)) }

func (f fields) String() string {
	b, err := json.Marshal(map[string]any(f))
	return fmt.Sprint(string(b), err)
}
