package wallet_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// The catalogue of these tests: a network of each shape.
const (
	onBTC bourse.NetworkID = iota + 1
	onETH
	onATOM
	onTEST
	lastNetwork = onTEST
)

const (
	btc bourse.AssetID = iota + 1
	eth
	usdt
	atom
	test
)

const people = 3

// listing is an asset on a network. Amounts are in the network's units.
type listing struct {
	network  bourse.NetworkID
	asset    bourse.AssetID
	symbol   bourse.Symbol
	contract string
	decimals uint8
	// unit is the ledger units in the network's.
	unit     uint64
	confirms uint32
	// least is the least deposit and withdrawal, fee what withdrawals cost.
	least, fee uint64
}

var listings = []listing{
	{onBTC, btc, "BTC", "", 8, 100, 2, 10_000, 5_000},
	{onETH, eth, "ETH", "", 18, 1, 3, 1e16, 1e15},
	{onETH, usdt, "USDT", string(devnet.USDT), 6, 100, 3, 1_000_000, 500_000},
	{onATOM, atom, "ATOM", "", 6, 100, 1, 10_000, 10_000},
	{onTEST, test, "TEST01", "", 8, 100, 2, 10_000, 100},
}

var symbols = map[bourse.NetworkID]bourse.Symbol{onBTC: "BTC", onETH: "ETH", onATOM: "ATOM", onTEST: "TEST"}

func (l *listing) coin() chain.CoinID { return chain.CoinOf(l.symbol, l.contract) }

func (l *listing) ledger(units uint64) bourse.Amount {
	a, _ := bourse.Units(units).Mul(l.unit)
	return a
}

func (l *listing) outputs() bool { return l.network == onBTC || l.network == onTEST }

// crashed is what a process that ends at once is unwound by.
type crashed struct{}

// network is one network of the world, which goes on while the exchange crashes.
type network struct {
	id     bourse.NetworkID
	params *devnet.Params
	disk   *memdisk.Disk
	node   *devnet.Node
	faults *devnet.Faults
	client *devnet.Client
	worker *wallet.Worker
}

// world is an exchange with its networks, in one goroutine: a journal of bytes, an
// engine and a board behind it, a worker for each network, and a signer.
type world struct {
	tb  testing.TB
	now bourse.Time
	// stuck is the workers' setting.
	stuck uint64
	// outputs and joined are the workers' settings, and maxCost and hourCost the signer's from the next start on; zero
	// for its usual ones.
	outputs, joined   int
	maxCost, hourCost uint64
	// reasons are those with which the workers held payments up.
	reasons []string
	journal [][]byte
	times   []bourse.Time

	engine   *engine.Engine
	board    *wallet.Board
	networks []*network
	keeper   *signer.Local
	vault    *memdisk.Disk
	// together is set when the networks crash with the exchange, as embedded
	// ones do.
	together bool
	crashes  int
	// limit is the signer's from the next restart on, and asked counts its requests.
	limit func(chain.CoinID) signer.Limit
	asked int
	// spoil, if not nil, changes each entry in the signer's answers.
	spoil func(*signer.Signed)
	// older is true if the signer is of a build that knows no joined transactions.
	older bool
	// unmade, if not nil, refuses payments in place of the networks.
	unmade func(*chain.Payment) error
	// credited is the workers' setting.
	credited wallet.Credited
	// lies is true if blocks have other payments than the chain.
	lies bool
	// healths, if not nil, runs before each question about a network's health.
	healths func() error
	// nonces, if not nil, runs before each question for a nonce.
	nonces func()
	// outbids are the numbers of transactions of the questions for replacements.
	outbids []int
	// apart, if not nil, is the signer's refusal to tell its record.
	apart error
	// logs, if not nil, changes each block in the networks' answers.
	logs func(*chain.Block)
	// cold, if not nil, is the key of cold storage from the next start on, on networks of outputs.
	cold *devnet.PublicKey
	// alone is the workers' setting.
	alone map[bourse.AssetID]bourse.Amount
	// bands are the workers' setting.
	bands map[bourse.AssetID]wallet.Band

	// points counts the moments at which something becomes durable or leaves;
	// at is asked at each, and may end the process.
	points int
	at     func(point int, what string)

	// What the events told.
	deposits    map[bourse.DepositID]bourse.Deposit
	withdrawals map[bourse.WalletID]bourse.Withdrawal
	credits     map[bourse.DepositID]int
	handed      map[place]bourse.Amount
	// outside is where each withdrawal goes.
	outside map[bourse.WalletID]string
	// rough is set when a chain was rewritten deeper than deposits are waited
	// for, so that what was paid from them may be gone.
	rough bool
}

type place struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

const began = bourse.Time(1_700_000_000) * bourse.Second

var ownSeed, outsideSeed = [32]byte{1}, [32]byte{2}

// founded are the disks of networks that were just founded; to copy them is
// faster than to found networks again.
var founded = sync.OnceValue(func() map[bourse.NetworkID]*memdisk.Disk {
	disks := map[bourse.NetworkID]*memdisk.Disk{}
	for id, symbol := range symbols {
		p := devnet.Lookup(symbol)
		disks[id] = memdisk.New(1)
		node, err := devnet.Open(disks[id], p, nodeOptions(p, func() bourse.Time { return began }))
		if err != nil {
			panic(err)
		}
		if err := node.Close(); err != nil {
			panic(err)
		}
	}
	return disks
})

func nodeOptions(p *devnet.Params, clock func() bourse.Time) devnet.Options {
	hot := devnet.NewCodec(p, devnet.NewKeys(p, ownSeed).Public()).Destination(chain.IndexHot)
	return devnet.Options{Seed: outsideSeed, Clock: clock, Hot: hot}
}

func newWorld(tb testing.TB, only ...bourse.NetworkID) *world {
	tb.Helper()
	return newWorldOf(tb, &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}, only...)
}

func newWorldOf(tb testing.TB, genesis *bourse.Genesis, only ...bourse.NetworkID) *world {
	tb.Helper()
	w := &world{
		tb: tb, now: began, vault: memdisk.New(2), engine: engine.New(), board: wallet.NewBoard(),
		outside: map[bourse.WalletID]string{}, limit: signer.Unlimited,
	}
	w.forget()
	for id := onBTC; id <= lastNetwork; id++ {
		if len(only) == 0 || slices.Contains(only, id) {
			w.networks = append(w.networks, &network{id: id, params: devnet.Lookup(symbols[id]), disk: founded()[id].Clone()})
		}
	}
	for _, n := range w.networks {
		w.openNode(n)
	}
	w.open()
	w.list(genesis)
	w.settle()
	return w
}

func (w *world) forget() {
	w.deposits = map[bourse.DepositID]bourse.Deposit{}
	w.withdrawals = map[bourse.WalletID]bourse.Withdrawal{}
	w.credits = map[bourse.DepositID]int{}
	w.handed = map[place]bourse.Amount{}
}

// list is what an operator does first.
func (w *world) list(genesis *bourse.Genesis) {
	w.must(bourse.Command{Kind: bourse.CommandGenesis, Genesis: genesis})
	for i := range listings {
		l := &listings[i]
		scale := l.decimals
		for u := l.unit; u > 1; u /= 10 {
			scale++
		}
		w.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: l.symbol, Name: string(l.symbol), Scale: scale, Enabled: true,
		}})
	}
	for id := onBTC; id <= lastNetwork; id++ {
		w.must(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
			Symbol: symbols[id], Name: string(symbols[id]), MemoName: devnet.Lookup(symbols[id]).Shape.MemoName, Enabled: true,
		}})
	}
	for i := range listings {
		l := &listings[i]
		w.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: l.terms()})
	}
	for range people {
		w.must(bourse.Command{Kind: bourse.CommandCreateAccount})
	}
}

func (l *listing) terms() *bourse.NetworkAsset {
	return &bourse.NetworkAsset{
		Network: l.network, Asset: l.asset, Precision: l.decimals, Confirms: l.confirms, Contract: l.contract, Enabled: true,
		MinDeposit: l.ledger(l.least), MinWithdrawal: l.ledger(l.least), FeeMin: l.ledger(l.fee), FeeMax: l.ledger(l.fee * 10),
	}
}

// Listed says what list listed.
func (w *world) Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	assets := make([]*bourse.Asset, len(listings)+1)
	var terms []*bourse.NetworkAsset
	for i := range listings {
		l := &listings[i]
		scale := l.decimals
		for u := l.unit; u > 1; u /= 10 {
			scale++
		}
		assets[l.asset] = &bourse.Asset{ID: l.asset, Symbol: l.symbol, Scale: scale}
		if l.network == id {
			terms = append(terms, l.terms())
		}
	}
	return &bourse.Network{ID: id, Symbol: symbols[id]}, terms, assets
}

func (w *world) clock() bourse.Time { return w.now }

func (w *world) openNode(n *network) {
	var err error
	if n.node, err = devnet.Open(n.disk, n.params, nodeOptions(n.params, w.clock)); err != nil {
		w.tb.Fatal(err)
	}
	n.faults = devnet.NewFaults(n.node)
}

// open starts what runs in the process of the exchange besides its engine.
func (w *world) open() {
	keyrings := map[bourse.NetworkID]signer.Network{}
	for _, n := range w.networks {
		keys := devnet.NewKeys(n.params, ownSeed)
		codec := devnet.NewCodec(n.params, keys.Public())
		if w.cold != nil && n.params.Shape.Outputs {
			codec.Keep(*w.cold)
		}
		keyrings[n.id] = signer.Network{
			Account: signer.Account{Name: n.params.Symbol, Chain: n.params.Identity(), Public: keys.Public().String()},
			Codec:   codec, Keys: keys, MaxCost: bourse.Units(cmp.Or(w.maxCost, 1e17)),
			HourCost: signer.UnlimitedCost(), Limit: w.limit,
		}
	}
	for id, n := range keyrings {
		if w.hourCost != 0 {
			n.HourCost = bourse.Units(w.hourCost)
			keyrings[id] = n
		}
	}
	var err error
	w.keeper, err = signer.Open(w.vault, signer.Options{
		Networks: keyrings, Clock: w.clock, New: true, Exchange: signer.Exchange{Sandbox: true},
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, n := range w.networks {
		key := devnet.NewKeys(n.params, ownSeed).Public()
		n.client = devnet.NewClient(n.params, key, wire{w, n}, devnet.ClientOptions{Timeout: 50 * time.Microsecond})
		if w.cold != nil && n.params.Shape.Outputs {
			n.client.Keep(*w.cold)
		}
		n.worker = wallet.NewWorker(wallet.Options{
			ID: n.id, Stuck: w.stuck, Outputs: w.outputs, Joined: w.joined, Bands: w.bands, Alone: w.alone,
			Network: eye{n.client, w}, Signer: pen{w}, Board: w.board, Listed: w, Submit: w.submit, Credited: w.credited,
			Log: slog.New(reasons{slog.DiscardHandler, &w.reasons}),
		})
	}
}

// restart is what a crash leaves and a start makes of it: the journal, and what
// was durable of the signer's record. Every other time the engine comes from a
// snapshot instead of the whole journal.
func (w *world) restart() {
	w.tb.Helper()
	w.crashes++
	w.vault = w.vault.Crash()
	if w.together {
		for _, n := range w.networks {
			n.disk = n.disk.Crash()
			w.openNode(n)
		}
	}
	hash := w.engine.StateHash()
	if w.crashes%2 == 0 {
		w.replay()
	} else {
		w.restore()
	}
	if w.engine.StateHash() != hash {
		w.tb.Fatal("a restart changed the state")
	}
	w.open()
}

func (w *world) restore() {
	var state []byte
	w.engine.Snapshot(func(b []byte) { state = append(state, b...) })
	_ = w.board.Reset(nil)
	w.board.Begin()
	e, err := engine.Restore(state, func(ev *bourse.Events) { w.board.Observe(&bourse.Command{}, ev) })
	w.board.End()
	if err != nil {
		w.tb.Fatal(err)
	}
	w.engine = e
}

func (w *world) replay() {
	_ = w.board.Reset(nil)
	w.board.End()
	w.engine = engine.New()
	w.forget()
	for i := range w.journal {
		w.apply(i)
	}
}

// point is a moment at which the process may end.
func (w *world) point(what string) {
	w.points++
	if w.at != nil {
		w.at(w.points, what)
	}
}

// submit journals a worker's command and applies it.
func (w *world) submit(_ context.Context, cmd *bourse.Command) (bourse.Outcome, error) {
	w.point("before a command")
	out := w.commit(cmd)
	w.point("after a command")
	return out, nil
}

func (w *world) commit(cmd *bourse.Command) bourse.Outcome {
	if err := record.Check(cmd); err != nil {
		w.tb.Fatalf("%v: %+v %+v", err, cmd, cmd.Wallet)
	}
	w.now += bourse.Second
	w.journal, w.times = append(w.journal, record.Append(nil, cmd)), append(w.times, w.now)
	out := w.apply(len(w.journal) - 1)
	w.check(cmd)
	return out
}

func (w *world) apply(i int) bourse.Outcome {
	var cmd bourse.Command
	if _, err := record.Decode(w.journal[i], &cmd); err != nil {
		w.tb.Fatal(err)
	}
	cmd.Seq, cmd.Time = bourse.Seq(i+1), w.times[i]
	ev := new(bourse.Events)
	w.board.Begin()
	w.engine.Apply(&cmd, ev)
	w.board.Observe(&cmd, ev)
	w.board.End()
	w.fold(&cmd, ev)
	return ev.Outcome
}

// fold keeps what the events told, and wants each change to be one that may be.
func (w *world) fold(cmd *bourse.Command, ev *bourse.Events) {
	for i := range ev.Wallet.Deposits {
		d := ev.Wallet.Deposits[i]
		if was := w.deposits[d.Number]; d.Status == bourse.WalletDone && was.Status != bourse.WalletDone {
			w.credits[d.Number]++
		} else if was.Status == bourse.WalletDone && d.Status != bourse.WalletDone {
			w.tb.Fatalf("deposit %d was credited and is %d", d.Number, d.Status)
		}
		if w.credits[d.Number] > 1 {
			w.tb.Fatalf("deposit %d was credited twice", d.Number)
		}
		w.deposits[d.Number] = d
	}
	for i := range ev.Wallet.Withdrawals {
		d := ev.Wallet.Withdrawals[i]
		was := w.withdrawals[d.ID].Status
		if (was == bourse.WalletDone || was == bourse.WalletCanceled) && d.Status != was {
			w.tb.Fatalf("withdrawal %d was %d and is %d", d.ID, was, d.Status)
		}
		w.withdrawals[d.ID] = d
	}
	if cmd.Kind == bourse.CommandCredit && ev.Outcome.Reason == 0 {
		at := place{cmd.Account, cmd.AssetID}
		w.handed[at] = w.handed[at].Plus(cmd.Amount)
	}
}

// must carries out a command of a client or an operator that is not refused.
func (w *world) must(cmd bourse.Command) uint64 {
	w.tb.Helper()
	out := w.commit(&cmd)
	if out.Reason != 0 {
		w.tb.Fatalf("%+v %+v was refused: %s", cmd, cmd.Wallet, out.Reason)
	}
	return out.ID
}

// check wants the invariants to hold after a command: every asset sums to zero,
// custody agrees with the ledger, and after a block a network's account owes what
// the chain says the exchange has.
func (w *world) check(cmd *bourse.Command) {
	w.tb.Helper()
	if cmd.Wallet == nil {
		return
	}
	if err := w.engine.Check(); err != nil {
		w.tb.Fatalf("after %+v %+v: %v", cmd, cmd.Wallet, err)
	}
	for _, n := range w.networks {
		b := cmd.Wallet.Block
		if cmd.Kind == bourse.CommandBlock && b.Network == n.id && !b.More && w.board.State(n.id).Tip == n.node.Head() {
			w.checkOwned(n)
		}
	}
}

// checkOwned holds the ledger against the chain (I10).
func (w *world) checkOwned(n *network) {
	w.tb.Helper()
	owned := map[bourse.AssetID]bourse.Amount{}
	w.engine.Owned(n.id, func(a bourse.AssetID, amount bourse.Amount) { owned[a] = amount })
	owes := map[bourse.AssetID]bourse.Amount{}
	w.engine.Holdings(func(bourse.Balance) {}, func(a bourse.AssetID, account bourse.AccountID, owed, _ bourse.Amount) {
		if account == bourse.NetworkAccount(n.id) {
			owes[a] = owed
		}
	})
	for i := range listings {
		l := &listings[i]
		if l.network != n.id || w.lies {
			continue
		}
		var sum bourse.Amount
		for _, address := range n.addresses() {
			has, err := n.node.Balance(address, l.coin())
			if err != nil {
				w.tb.Fatal(err)
			}
			scaled, _ := has.Minus(n.node.Hidden(address, l.coin())).Mul(l.unit)
			sum = sum.Plus(scaled)
		}
		if owned[l.asset] != sum || owes[l.asset] != sum {
			w.tb.Fatalf("%s at height %d: the chain says %s, custody %s, the ledger %s", l.symbol, n.node.Head().Height,
				sum.Format(0), owned[l.asset].Format(0), owes[l.asset].Format(0))
		}
	}
}

// addresses returns every address of the exchange, each once.
func (n *network) addresses() []string {
	var list []string
	indices := []uint32{chain.IndexHot, chain.IndexChange, 1, 2, 3}
	if first := n.client.Shape().Cold; first != 0 {
		for number := range uint32(20) { // those of the first orders
			indices = append(indices, first+number)
		}
		indices = append(indices, first+chain.ColdAddresses-1)
	}
	for _, index := range indices {
		if address := n.client.Destination(index).Address; !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	return list
}

func (w *world) network(id bourse.NetworkID) *network {
	for _, n := range w.networks {
		if n.id == id {
			return n
		}
	}
	w.tb.Fatalf("network %d is not there", id)
	return nil
}
