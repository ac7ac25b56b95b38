package engine

import (
	"bytes"
	"fmt"
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/ledger"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// restorer rebuilds an engine and announces what it rebuilt.
type restorer struct {
	*Engine
	r    *state.Reader
	ev   bourse.Events
	emit func(*bourse.Events)

	// symbols and pairs are those read so far.
	symbols map[bourse.Symbol]bool
	pairs   map[bourse.Pair]bool
	// unplaced is where orders by slot belong that are in no queue yet.
	unplaced []book.State
}

// Restore rebuilds an engine from its canonical form. It announces what it
// rebuilt, in pieces, through emit, whose argument is good only during the
// call: definitions first, then accounts, balances, orders and levels. The
// error is state.ErrMalformed or names a version that this program does not
// know; what was announced until then is worth nothing.
//
// Nothing in the bytes is trusted: they restore to an engine whose invariants
// hold and that writes the same bytes again, or they do not restore.
func Restore(snapshot []byte, emit func(*bourse.Events)) (*Engine, error) {
	x := restorer{
		Engine: New(), r: state.NewReader(snapshot), emit: emit,
		symbols: map[bourse.Symbol]bool{}, pairs: map[bourse.Pair]bool{},
	}
	if v := x.r.Uint32(); v != stateVersion {
		return nil, fmt.Errorf("state version %d is not known to this program, which writes %d", v, stateVersion)
	}
	x.seq, x.now = bourse.Seq(x.r.Uint64()), bourse.Time(x.r.Uint64())
	if x.r.Bool() {
		x.readGenesis()
	}
	for _, part := range []func(){
		x.readAssets, x.readNetworks, x.readNetworkAssets, x.readMarkets, x.readAccounts, x.readKeys, x.readSessions,
		x.readLedger, x.readOrders, x.readQueues, x.readSweeps, x.readNames, x.readCustody,
		x.announceOrders, x.announceLevels, x.announceWallet,
	} {
		part()
		x.flush()
		if err := x.r.Err(); err != nil {
			return nil, err
		}
	}
	if x.r.Rest() != 0 || x.genesis == nil && (len(x.assets) > 1 || len(x.networks) > 1 || x.lastAccount > 0) {
		return nil, state.ErrMalformed
	}
	if err := x.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrMalformed, err)
	}
	if !x.writes(snapshot) {
		return nil, state.ErrMalformed
	}
	return x.Engine, nil
}

// writes reports whether the engine's canonical form is these bytes.
func (e *Engine) writes(snapshot []byte) bool {
	same := true
	e.Snapshot(func(b []byte) {
		if same = same && bytes.HasPrefix(snapshot, b); same {
			snapshot = snapshot[len(b):]
		}
	})
	return same && len(snapshot) == 0
}

// want marks the state as malformed unless ok, and returns ok.
func (x *restorer) want(ok bool) bool {
	if !ok {
		x.r.Fail()
	}
	return ok
}

// sound wants the parts of a command to be what a command may carry.
func (x *restorer) sound(cmd bourse.Command) bool { return x.want(cmd.Check() == nil) }

// maxRestored is the highest number that an engine can reach: see MaxNumber.
const maxRestored = MaxNumber + 1<<62

// pieceSize is about how many events are announced together.
const pieceSize = 1000

func (x *restorer) flush() {
	x.emit(&x.ev)
	x.ev.Reset()
}

func (x *restorer) flushIfFull() {
	if len(x.ev.List)+len(x.ev.Balances) >= pieceSize {
		x.flush()
	}
}

func (x *restorer) readGenesis() {
	g := new(bourse.Genesis)
	x.r.Bytes(g.Exchange[:])
	g.Sandbox, g.Rules = x.r.Bool(), x.r.Uint32()
	x.genesis, x.rules = g, x.r.Uint32()
	x.sound(bourse.Command{Kind: bourse.CommandGenesis, Genesis: g})
	x.sound(bourse.Command{Kind: bourse.CommandSetRules, Rules: x.rules})
	x.ev.AddFact(bourse.EventGenesis, bourse.Fact{Genesis: g})
	x.ev.AddFact(bourse.EventRules, bourse.Fact{Rules: x.rules})
}

func (x *restorer) readAssets() {
	for n := x.r.Count(11); n > 0 && x.r.Err() == nil; n-- {
		a := &bourse.Asset{
			ID: bourse.AssetID(len(x.assets)), Symbol: bourse.Symbol(x.r.Text(32)), Name: x.r.Text(128),
			Scale: x.r.Uint8(), Enabled: x.r.Bool(), Experimental: x.r.Bool(),
		}
		x.sound(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: a})
		x.want(!x.symbols[a.Symbol] && len(x.assets) <= math.MaxUint16)
		x.symbols[a.Symbol] = true
		x.assets = append(x.assets, a)
		x.ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: a})
	}
	clear(x.symbols)
}

func (x *restorer) readNetworks() {
	for n := x.r.Count(14); n > 0 && x.r.Err() == nil; n-- {
		net := &bourse.Network{
			ID: bourse.NetworkID(len(x.networks)), Symbol: bourse.Symbol(x.r.Text(32)), Name: x.r.Text(128),
			MemoName: x.r.Text(128), Enabled: x.r.Bool(), Experimental: x.r.Bool(),
		}
		x.sound(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: net})
		x.want(!x.symbols[net.Symbol] && len(x.networks) <= math.MaxUint16)
		x.symbols[net.Symbol] = true
		x.networks = append(x.networks, net)
		x.ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: net})
	}
}

func (x *restorer) readNetworkAssets() {
	last := &bourse.NetworkAsset{}
	for n := x.r.Count(78); n > 0 && x.r.Err() == nil; n-- {
		na := &bourse.NetworkAsset{
			Asset: bourse.AssetID(x.r.Uint16()), Network: bourse.NetworkID(x.r.Uint16()),
			Precision: x.r.Uint8(), Confirms: x.r.Uint32(), Contract: x.r.Text(128),
			MinDeposit: x.r.Amount(), MinWithdrawal: x.r.Amount(),
			FeeMin: x.r.Amount(), FeeMax: x.r.Amount(), Enabled: x.r.Bool(),
		}
		if !x.sound(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: na}) ||
			!x.want(int(na.Asset) < len(x.assets) && int(na.Network) < len(x.networks)) {
			return
		}
		x.want(fitsNetwork(na, x.assets[na.Asset].Scale) && compareTerms(last, na) < 0)
		last = na
		x.networkAssets = append(x.networkAssets, na)
		x.ev.AddFact(bourse.EventNetworkAsset, bourse.Fact{NetworkAsset: na})
	}
}

func (x *restorer) readMarkets() {
	for n := x.r.Count(81); n > 0 && x.r.Err() == nil; n-- {
		def := x.readMarket()
		if !x.sound(bourse.Command{Kind: bourse.CommandDefineMarket, Market: def}) || !x.want(x.derive(def)) {
			return
		}
		x.want(def.State >= bourse.MarketOpen && def.State <= bourse.MarketDelisted)
		x.want(!x.pairs[def.Pair] && len(x.markets) <= math.MaxUint16)
		x.pairs[def.Pair] = true
		m := &market{
			Market: def, book: book.New(),
			last: bourse.Price(x.r.Uint64()), trades: x.r.Uint64(), levelSeq: x.r.Uint64(),
		}
		x.want(m.last <= bourse.MaxPrice && (m.last == 0) == (m.trades == 0))
		x.want(m.trades <= maxRestored && m.levelSeq <= maxRestored)
		x.markets = append(x.markets, m)
		x.ev.AddFact(bourse.EventMarket, bourse.Fact{Market: def})
		x.ev.AddFact(bourse.EventMarketRestored, bourse.Fact{
			MarketID: def.ID, LastPrice: m.last, Trades: m.trades, Levels: m.levelSeq,
		})
	}
	x.reopen()
}

func (x *restorer) readMarket() *bourse.Market {
	return &bourse.Market{
		ID:   bourse.MarketID(len(x.markets)),
		Base: bourse.AssetID(x.r.Uint16()), Quote: bourse.AssetID(x.r.Uint16()),
		BasePrecision: x.r.Uint8(), QuotePrecision: x.r.Uint8(),
		State: bourse.MarketState(x.r.Uint8()), Enabled: x.r.Bool(),
		SelfTrade: bourse.SelfTradeMode(x.r.Uint8()), MinOrder: x.r.Amount(),
		InitialPrice: bourse.Price(x.r.Uint64()), MaxPrice: bourse.Price(x.r.Uint64()),
		Maker: bourse.Rate(x.r.Uint32()), Taker: bourse.Rate(x.r.Uint32()), Collar: bourse.Rate(x.r.Uint32()),
		Band: bourse.Rate(x.r.Uint32()),
	}
}

func (x *restorer) readAccounts() {
	n := x.r.Count(91)
	for i := 1; i <= n && x.r.Err() == nil; i++ {
		x.lastAccount = bourse.AccountID(i)
		a := x.accounts.At(uint32(i))
		x.r.Bytes(a.token[:])
		x.r.Bytes(a.person[:])
		a.frozen, a.held = x.r.Bool(), bourse.Time(x.r.Uint64())
		a.ownFees, a.feeLevel = x.r.Bool(), x.r.Uint8()
		x.want(a.held >= 0 && a.held <= x.now+bourse.MaxHold)
		a.maker, a.taker = bourse.Rate(x.r.Uint32()), bourse.Rate(x.r.Uint32())
		a.orders, a.fills, a.movements = x.r.Uint64(), x.r.Uint64(), x.r.Uint64()
		x.want(a.maker < bourse.RateOne && a.taker < bourse.RateOne)
		x.want(a.ownFees || a.maker == 0 && a.taker == 0 && a.feeLevel == 0)
		x.want(a.orders <= maxRestored && a.fills <= maxRestored && a.movements <= maxRestored)
		x.ev.AddFact(bourse.EventAccountRestored, bourse.Fact{
			Account: x.lastAccount, On: a.frozen, Orders: a.orders, Fills: a.fills, Movements: a.movements, Token: a.token,
			Digest: a.person,
		})
		if a.held != 0 {
			a.announceHeld(x.lastAccount, &x.ev)
		}
		if a.ownFees {
			a.announceFees(x.lastAccount, &x.ev)
		}
		x.flushIfFull()
	}
}

func (x *restorer) readKeys() {
	x.readKeySet(&x.keys, func(k *key) bool {
		acct := x.account(k.account)
		if acct == nil || len(acct.keys) >= bourse.MaxKeys {
			return false
		}
		acct.keys = append(acct.keys, k)
		return true
	})
}

func (x *restorer) readSessions() {
	x.readKeySet(&x.sessions, func(k *key) bool {
		acct := x.account(k.account)
		if acct == nil || len(acct.sessions) >= bourse.MaxSessions || k.Expires == 0 || k.token != (bourse.Token{}) {
			return false
		}
		acct.sessions = append(acct.sessions, k)
		return true
	})
}

// readKeySet restores a new set. Keys that own does not accept are malformed.
func (x *restorer) readKeySet(set *keys, own func(*key) bool) {
	before := set.last
	set.last = bourse.KeyID(x.r.Uint64())
	x.want(set.last >= before && set.last <= set.end)
	x.ev.AddFact(bourse.EventKeysRestored, bourse.Fact{Key: set.last})
	for n := x.r.Count(68); n > 0 && x.r.Err() == nil; n-- {
		k := &key{id: bourse.KeyID(x.r.Uint64()), account: bourse.AccountID(x.r.Uint32())}
		x.r.Bytes(k.token[:])
		x.r.Bytes(k.Digest[:])
		k.Expires = bourse.Time(x.r.Uint64())
		if !x.want(k.id > before && k.id <= set.last && k.Expires >= 0 && own(k)) {
			return
		}
		before = k.id
		set.add(k)
		announceKey(&x.ev, bourse.EventKeyCreated, k)
		x.flushIfFull()
	}
}

func (x *restorer) readLedger() {
	for _, a := range x.assets[1:] {
		for n := x.r.Count(36); n > 0 && x.r.Err() == nil; n-- {
			x.want(x.ledger.RestoreOwn(a.ID, ledger.Own{
				Account: bourse.AccountID(x.r.Uint32()), Owes: x.r.Amount(), Has: x.r.Amount(),
			}))
		}
		for id := bourse.AccountID(x.r.Uint32()); id != 0; id = bourse.AccountID(x.r.Uint32()) {
			if !x.want(x.account(id) != nil) {
				return
			}
			b := bourse.Balance{Account: id, Asset: a.ID, Available: x.r.Amount(), Held: x.r.Amount()}
			x.ledger.RestoreCustomer(b)
			x.ev.AddBalance(b.Account, b.Asset, b.Available, b.Held)
			x.flushIfFull()
		}
	}
}
