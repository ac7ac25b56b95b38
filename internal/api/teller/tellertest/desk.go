package tellertest

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Desk is an exchange without a journal, whose chains have the blocks that the test
// mines.
type Desk struct {
	*testing.T
	Mux *http.ServeMux

	mu       sync.Mutex
	Engine   *engine.Engine
	View     *view.View
	tail     *history.Tail
	store    *historytest.Memory
	Accounts *account.Service
	Now      bourse.Time
	// behind is the history not yet written to the store.
	behind history.Batch
	// Unknown makes the next outcome bourse.CodeUnknown.
	Unknown bool

	chains map[bourse.NetworkID]*Chain
	// Alice and Bob are keys of accounts 1 and 2 with the scopes read and withdraw.
	Alice, Bob string
	// Box has the letters sent.
	Box *mail.Box
}

// Chain is a devnet codec with the blocks that the test mined.
type Chain struct {
	*devnet.Codec
	keys *devnet.Keys
	// Silent makes Operating false.
	Silent bool
	blocks []bourse.BlockRef
	made   byte
}

// Operating implements teller.Network.
func (n *Chain) Operating() bool { return !n.Silent }

// Network implements teller.Networks.
func (d *Desk) Network(id bourse.NetworkID) (teller.Network, bool) {
	n, ok := d.chains[id]
	return n, ok
}

// New returns an exchange with the sandbox's catalogue and two customers.
func New(t *testing.T) *Desk {
	store, err := accounts.Open(t.Context(), filepath.Join(t.TempDir(), "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &Desk{
		T: t, Mux: http.NewServeMux(), Engine: engine.New(), View: view.New(), tail: history.NewTail(10_000),
		store: historytest.NewMemory(), Now: 1_700_000_000 * bourse.Second, chains: map[bourse.NetworkID]*Chain{},
	}
	d.Box = mail.NewBox(func() bourse.Time { return d.Now })
	d.Accounts = account.NewService(account.Options{
		Store: store, Random: rand.Reader, Clock: d.Clock, Mailer: d.Box, Hold: Hold, Issuer: "Test",
		OnFailure: func(what string, err error) { t.Error(what, err) },
	})

	d.Accounts.Bind(func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error) {
		r, err := d.Do(ctx, c)
		return r.Outcome, err
	})

	d.Must(bourse.Command{Kind: bourse.CommandGenesis,
		Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}})
	for _, cmd := range sandbox.Catalogue(true) {
		d.Must(cmd)
	}
	d.connect()

	d.Alice, d.Bob = d.Newcomer("alice@example.com"), d.Newcomer("bob@example.com")
	return d
}

// Hold is the hold on withdrawals after a change of the ways into an account.
const Hold = time.Hour

// Clock returns Now.
func (d *Desk) Clock() time.Time { return d.Now.Std() }

// Teller returns the services for an interface.
func (d *Desk) Teller() teller.Teller {
	return teller.Teller{
		View: d.View, History: history.NewReader(d.store, d.tail, d.View), Accounts: d.Accounts,
		Sequencer: d, Networks: d, PublicURL: "http://here",
	}
}

// connect gives each network of the catalogue a chain.
func (d *Desk) connect() {
	for _, n := range d.View.Catalogue().Networks[1:] {
		params := devnet.Lookup(n.Symbol)
		keys := devnet.NewKeys(params, [32]byte{byte(n.ID)})
		d.chains[n.ID] = &Chain{Codec: devnet.NewCodec(params, keys.Public()), keys: keys}
	}
}

// Newcomer creates an account and a key with the scopes read and withdraw.
func (d *Desk) Newcomer(email string) string {
	d.Helper()
	id, err := d.Accounts.Create(d.Context(), email)
	if err != nil {
		d.Fatal(err)
	}
	for _, n := range d.chains {
		n.Watch(uint32(id))
	}
	return d.Key(id, account.ScopeRead|account.ScopeWithdraw)
}

// Key creates a key.
func (d *Desk) Key(id bourse.AccountID, scopes account.Scopes) string {
	d.Helper()
	_, shown, err := d.Accounts.CreateKey(d.Context(), id, account.NewKey{Scopes: scopes})
	if err != nil {
		d.Fatal(err)
	}
	return string(shown.APIKey)
}

// Do implements teller.Sequencer.
func (d *Desk) Do(_ context.Context, c *bourse.Command) (sequencer.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := record.Check(c); err != nil {
		return sequencer.Result{}, err
	}

	cmd := *c
	cmd.Seq, cmd.Time = d.Engine.Seq()+1, d.Now
	var ev bourse.Events
	for _, o := range []sequencer.Observer{d.tail, d.View, d.Accounts} {
		o.Begin()
	}

	d.Engine.Apply(&cmd, &ev)
	d.tail.Observe(&cmd, &ev)
	d.View.Observe(&cmd, &ev)
	d.Accounts.Observe(&cmd, &ev)
	history.Project(&cmd, &ev, &d.behind)
	history.Post(&cmd, &ev, d.Engine.Market, &d.behind)

	d.tail.End()
	d.View.End()
	d.Accounts.End()

	if err := d.Engine.Check(); err != nil {
		d.Errorf("after %d: %v", cmd.Kind, err)
	}

	if d.Unknown {
		d.Unknown = false
		return sequencer.Result{}, bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
	}
	r := sequencer.Result{Seq: cmd.Seq, Time: cmd.Time, Outcome: ev.Outcome}
	for _, e := range ev.List {
		if cmd.Kind == bourse.CommandCancelAll && e.Kind == bourse.EventOrderClosed {
			r.Canceled = append(r.Canceled, ev.Orders[e.At].ID)
		}
	}
	return r, nil
}

// Must applies a command a second after the last one and fails if it is refused.
func (d *Desk) Must(cmd bourse.Command) bourse.Outcome {
	d.Helper()
	d.Now += bourse.Second
	r, err := d.Do(d.Context(), &cmd)
	if err != nil || r.Outcome.Reason != 0 {
		d.Fatalf("command %d: %v %v", cmd.Kind, r.Outcome.Reason, err)
	}
	return r.Outcome
}

// Follow writes the pending history to the store.
func (d *Desk) Follow() {
	d.Helper()
	if err := d.store.Write(d.Context(), &d.behind); err != nil {
		d.Fatal(err)
	}
	d.tail.Stored(history.Cursor{Seq: d.behind.To, Time: d.behind.Time})
	d.behind = history.Batch{}
}

// Symbols returns an asset, a network and its chain.
func (d *Desk) Symbols(asset, network bourse.Symbol) (*bourse.Asset, *bourse.Network, *Chain) {
	c := d.View.Catalogue()
	n := c.Network(network)
	return c.Asset(asset), n, d.chains[n.ID]
}

// Units parses an amount.
func (d *Desk) Units(amount string, asset *bourse.Asset) bourse.Amount {
	d.Helper()
	a, err := bourse.ParseAmount(amount, asset.Scale)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

// Tx returns a transaction of a network's own coin to the exchange; owner is an account
// or the treasury.
func (d *Desk) Tx(coin bourse.Symbol, name byte, owner bourse.AccountID, amount, memo string) bourse.TxEffect {
	d.Helper()
	a, _, n := d.Symbols(coin, coin)
	out := bourse.Inflow{Asset: a.ID, Amount: d.Units(amount, a), Owner: owner, Memo: memo}
	if owner.IsCustomer() && n.Shape().MemoName == "" {
		out.Address = uint32(owner)
	}
	return bourse.TxEffect{Hash: bourse.TxHash{name}, Inflows: []bourse.Inflow{out}}
}

// Mine adds a block to a network's chain.
func (d *Desk) Mine(at bourse.Symbol, txs ...bourse.TxEffect) {
	d.Helper()
	_, listed, n := d.Symbols("BTC", at)
	n.made++
	b := &bourse.BlockEffect{
		Network: listed.ID, BlockRef: bourse.BlockRef{Height: 100, Hash: bourse.TxHash{0xb, n.made}}, Time: d.Now,
		ByOutput: n.Shape().Outputs, Txs: txs,
	}
	if last := len(n.blocks) - 1; last >= 0 {
		b.Height, b.Parent = n.blocks[last].Height+1, n.blocks[last].Hash
	}
	n.blocks = append(n.blocks, b.BlockRef)
	d.Must(bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: b}})
}

// Rewind removes the last block of a network's chain.
func (d *Desk) Rewind(at bourse.Symbol) {
	d.Helper()
	_, listed, n := d.Symbols("BTC", at)
	n.blocks = n.blocks[:len(n.blocks)-1]
	d.Must(bourse.Command{Kind: bourse.CommandRewind, Wallet: &bourse.WalletCommand{
		Network: listed.ID, Height: n.blocks[len(n.blocks)-1].Height,
	}})
}

// Credit credits an account.
func (d *Desk) Credit(id bourse.AccountID, asset bourse.Symbol, amount string) {
	d.Helper()
	a := d.View.Catalogue().Asset(asset)
	d.Must(bourse.Command{Kind: bourse.CommandCredit, Account: id, AssetID: a.ID, Amount: d.Units(amount, a)})
}

// Pause stops or resumes a network's withdrawals.
func (d *Desk) Pause(at bourse.Symbol, on bool) {
	d.Helper()
	n := d.View.Catalogue().Network(at)
	d.Must(bourse.Command{Kind: bourse.CommandPauseWithdrawals, On: on, Wallet: &bourse.WalletCommand{Network: n.ID}})
}

// Sign journals a signed transaction for a withdrawal, on a network of accounts.
func (d *Desk) Sign(at bourse.Symbol, xid uint64, nonce uint64, name byte) {
	d.Helper()
	n := d.View.Catalogue().Network(at)
	d.Must(bourse.Command{Kind: bourse.CommandSigned, Wallet: &bourse.WalletCommand{Signed: &bourse.SignedTx{
		Network: n.ID, Kind: bourse.SignedWithdrawal, Wallet: bourse.WalletID(xid), Tx: bourse.TxHash{name},
		Raw: []byte("signed"), Nonce: nonce,
	}}})
}

// Accepted journals that the network accepted a transaction.
func (d *Desk) Accepted(at bourse.Symbol, name byte) {
	d.Helper()
	n := d.View.Catalogue().Network(at)
	d.Must(bourse.Command{Kind: bourse.CommandAccepted,
		Wallet: &bourse.WalletCommand{Network: n.ID, Tx: bourse.TxHash{name}}})
}

// Outside returns an address outside the exchange.
func (d *Desk) Outside(at bourse.Symbol, who byte) string {
	params := devnet.Lookup(at)
	return devnet.NewCodec(params, devnet.NewKeys(params, [32]byte{0xff, who}).Public()).Destination(1).Address
}

// Own returns the deposit destination of an account, or of the hot wallet for
// chain.IndexHot.
func (d *Desk) Own(at bourse.Symbol, index uint32) chain.Destination {
	_, _, n := d.Symbols("BTC", at)
	return n.Destination(index)
}

// password is that of accounts with a session.
const password = "correct horse"

// Session gives the account of an e-mail address a password and a session, and waits
// until the resulting hold ends.
func (d *Desk) Session(email string) string {
	d.Helper()
	if err := d.Accounts.ForgotPassword(d.Context(), email, account.Visit{}); err != nil {
		d.Fatal(err)
	}

	if err := d.Accounts.ResetPassword(d.Context(), email, d.Code(email), password, account.Visit{}); err != nil {
		d.Fatal(err)
	}
	if email == "alice@example.com" { // the reset revoked her key
		d.Alice = d.Key(1, account.ScopeRead|account.ScopeWithdraw)
	}

	d.Now += bourse.Time(Hold.Microseconds())
	d.Must(bourse.Command{Kind: bourse.CommandTick})
	secret, err := d.Accounts.LogIn(d.Context(), account.LogIn{Email: email, Password: password})
	if err != nil {
		d.Fatal(err)
	}
	return string(secret)
}

// Move changes the e-mail address of an account.
func (d *Desk) Move(email, to string) {
	d.Helper()
	who, err := d.Accounts.Authenticate(d.Context(), account.Secret(d.Session(email)), netip.IPv6Loopback())
	if err != nil {
		d.Fatal(err)
	}

	act := account.Act{Digest: account.Digest{1}}
	_ = d.Accounts.ChangeEmail(d.Context(), who, to, password, act) // mails the code that it demands
	act.Code = d.Code(email)
	if err := d.Accounts.ChangeEmail(d.Context(), who, to, password, act); err != nil {
		d.Fatal(err)
	}
	if err := d.Accounts.VerifyEmail(d.Context(), who, d.Code(to), account.Visit{}); err != nil {
		d.Fatal(err)
	}
}

// Code returns the code in the last letter to an address.
func (d *Desk) Code(email string) string {
	d.Helper()
	letter, ok := d.Box.Last(email)
	if !ok || letter.Code == "" {
		d.Fatalf("there is no code for %s", email)
	}
	return letter.Code
}
