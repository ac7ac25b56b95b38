package engine

import (
	"fmt"

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
}

// Restore rebuilds an engine from its canonical form. It announces what it
// rebuilt, in pieces, through emit, whose argument is good only during the
// call: definitions first, then accounts, balances, orders and levels. The
// error is state.ErrMalformed or names a version that this program does not
// know; what was announced until then is worth nothing.
func Restore(snapshot []byte, emit func(*bourse.Events)) (*Engine, error) {
	x := restorer{Engine: New(), r: state.NewReader(snapshot), emit: emit}
	if v := x.r.Uint32(); v != stateVersion {
		return nil, fmt.Errorf("state version %d is not known to this program, which writes %d", v, stateVersion)
	}
	x.seq, x.now = bourse.Seq(x.r.Uint64()), bourse.Time(x.r.Uint64())
	if x.r.Bool() {
		x.readGenesis()
	}
	for _, part := range []func(){
		x.readAssets, x.readNetworks, x.readNetworkAssets, x.readMarkets, x.readAccounts, x.readKeys,
		x.readLedger, x.readOrders, x.readQueues, x.readSweeps, x.readNames, x.announceOrders, x.announceLevels,
	} {
		part()
		x.flush()
		if err := x.r.Err(); err != nil {
			return nil, err
		}
	}
	if x.r.Rest() != 0 {
		return nil, state.ErrMalformed
	}
	return x.Engine, nil
}

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
	if x.rules > bourse.CurrentRules {
		x.r.Fail()
	}
	x.ev.AddFact(bourse.EventGenesis, bourse.Fact{Genesis: g})
	x.ev.AddFact(bourse.EventRules, bourse.Fact{Rules: x.rules})
}

func (x *restorer) readAssets() {
	for n := x.r.Count(11); n > 0; n-- {
		a := &bourse.Asset{
			ID: bourse.AssetID(len(x.assets)), Symbol: bourse.Symbol(x.r.Text(32)), Name: x.r.Text(128),
			Scale: x.r.Uint8(), Enabled: x.r.Bool(), Experimental: x.r.Bool(),
		}
		if a.Scale > bourse.MaxScale {
			x.r.Fail()
		}
		x.assets = append(x.assets, a)
		x.ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: a})
	}
}

func (x *restorer) readNetworks() {
	for n := x.r.Count(14); n > 0; n-- {
		net := &bourse.Network{
			ID: bourse.NetworkID(len(x.networks)), Symbol: bourse.Symbol(x.r.Text(32)), Name: x.r.Text(128),
			MemoName: x.r.Text(128), Enabled: x.r.Bool(), Experimental: x.r.Bool(),
		}
		x.networks = append(x.networks, net)
		x.ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: net})
	}
}

func (x *restorer) readNetworkAssets() {
	for n := x.r.Count(78); n > 0; n-- {
		na := &bourse.NetworkAsset{
			Asset: bourse.AssetID(x.r.Uint16()), Network: bourse.NetworkID(x.r.Uint16()),
			Precision: x.r.Uint8(), Confirms: x.r.Uint32(), Contract: x.r.Text(128),
			MinDeposit: x.r.Amount(), MinWithdrawal: x.r.Amount(),
			FeeMin: x.r.Amount(), FeeMax: x.r.Amount(), Enabled: x.r.Bool(),
		}
		x.networkAssets = append(x.networkAssets, na)
		x.ev.AddFact(bourse.EventNetworkAsset, bourse.Fact{NetworkAsset: na})
	}
}

func (x *restorer) readMarkets() {
	for n := x.r.Count(77); n > 0 && x.r.Err() == nil; n-- {
		def := &bourse.Market{
			ID:   bourse.MarketID(len(x.markets)),
			Base: bourse.AssetID(x.r.Uint16()), Quote: bourse.AssetID(x.r.Uint16()),
			BasePrecision: x.r.Uint8(), QuotePrecision: x.r.Uint8(),
			State: bourse.MarketState(x.r.Uint8()), Enabled: x.r.Bool(),
			SelfTrade: bourse.SelfTradeMode(x.r.Uint8()), MinOrder: x.r.Amount(),
			InitialPrice: bourse.Price(x.r.Uint64()), MaxPrice: bourse.Price(x.r.Uint64()),
			Maker: bourse.Rate(x.r.Uint32()), Taker: bourse.Rate(x.r.Uint32()), Collar: bourse.Rate(x.r.Uint32()),
		}
		if !x.derive(def) {
			x.r.Fail()
			return
		}
		m := &market{
			Market: def, book: book.New(),
			last: bourse.Price(x.r.Uint64()), trades: x.r.Uint64(), levelSeq: x.r.Uint64(),
		}
		x.markets = append(x.markets, m)
		x.ev.AddFact(bourse.EventMarket, bourse.Fact{Market: def})
		x.ev.AddFact(bourse.EventMarketRestored, bourse.Fact{
			MarketID: def.ID, LastPrice: m.last, Trades: m.trades, Levels: m.levelSeq,
		})
	}
}

func (x *restorer) readAccounts() {
	n := x.r.Count(43)
	for i := 1; i <= n; i++ {
		x.lastAccount = bourse.AccountID(i)
		a := x.accounts.At(uint32(i))
		x.r.Bytes(a.token[:])
		a.frozen, a.ownFees, a.feeLevel = x.r.Bool(), x.r.Bool(), x.r.Uint8()
		a.maker, a.taker = bourse.Rate(x.r.Uint32()), bourse.Rate(x.r.Uint32())
		a.orders, a.fills = x.r.Uint64(), x.r.Uint64()
		x.ev.AddFact(bourse.EventAccountRestored, bourse.Fact{
			Account: x.lastAccount, On: a.frozen, Orders: a.orders, Fills: a.fills, Token: a.token,
		})
		if a.ownFees {
			a.announceFees(x.lastAccount, &x.ev)
		}
		x.flushIfFull()
	}
}

func (x *restorer) readKeys() {
	for n := x.r.Count(21); n > 0 && x.r.Err() == nil; n-- {
		k := key{account: bourse.AccountID(x.r.Uint32())}
		x.r.Bytes(k.token[:])
		k.revoked = x.r.Bool()
		acct := x.account(k.account)
		if acct == nil {
			x.r.Fail()
			return
		}
		acct.keys++
		x.keys = append(x.keys, k)
		id := bourse.KeyID(len(x.keys) - 1)
		announceKey(&x.ev, bourse.EventKeyCreated, id, &k)
		if k.revoked {
			announceKey(&x.ev, bourse.EventKeyRevoked, id, &k)
		}
		x.flushIfFull()
	}
}

func (x *restorer) readLedger() {
	for _, a := range x.assets[1:] {
		for n := x.r.Count(36); n > 0; n-- {
			x.ledger.RestoreOwn(a.ID, ledger.Own{
				Account: bourse.AccountID(x.r.Uint32()), Owes: x.r.Amount(), Has: x.r.Amount(),
			})
		}
		for id := bourse.AccountID(x.r.Uint32()); id != 0; id = bourse.AccountID(x.r.Uint32()) {
			if x.account(id) == nil {
				x.r.Fail()
				return
			}
			b := bourse.Balance{Account: id, Asset: a.ID, Available: x.r.Amount(), Held: x.r.Amount()}
			x.ledger.RestoreCustomer(b)
			x.ev.AddBalance(b.Account, b.Asset, b.Available, b.Held)
			x.flushIfFull()
		}
	}
}

// readOrders opens the orders, by id; resting and queued ones wait for their
// queue to be read.
func (x *restorer) readOrders() {
	x.lastOrder = bourse.OrderID(x.r.Uint64())
	last := bourse.OrderID(0)
	for n := x.r.Count(66); n > 0 && x.r.Err() == nil; n-- {
		s := x.arena.New()
		o := x.arena.At(s)
		x.readOrder(o)
		m := x.market(o.Market)
		if m == nil || x.account(o.Account) == nil || o.ID <= last || o.ID > x.lastOrder || !sound(o) {
			x.r.Fail()
			return
		}
		last = o.ID
		m.book.Open(&x.arena, s, m.book.List(o.Account))
		if o.State == book.Waiting {
			m.book.Wait(&x.arena, s)
		}
	}
}

func (x *restorer) readOrder(o *book.Order) {
	o.ID, o.Account, o.Market = bourse.OrderID(x.r.Uint64()), bourse.AccountID(x.r.Uint32()), bourse.MarketID(x.r.Uint16())
	o.Side, o.State = bourse.Side(x.r.Uint8()), book.State(x.r.Uint8())
	o.Type, o.TIF = bourse.OrderType(x.r.Uint8()), bourse.TimeInForce(x.r.Uint8())
	o.SelfTrade = bourse.SelfTradeMode(x.r.Uint8())
	o.PostOnly, o.Triggered, o.Named = x.r.Bool(), x.r.Bool(), x.r.Bool()
	o.Price, o.Stop = bourse.Price(x.r.Uint64()), bourse.Price(x.r.Uint64())
	o.Lots, o.Filled = bourse.Lots(x.r.Uint64()), bourse.Lots(x.r.Uint64())
	o.Time, o.Ordinal = bourse.Time(x.r.Uint64()), x.r.Uint64()
}

// sound reports whether a restored order can be put where it says it is.
func sound(o *book.Order) bool {
	return o.Side >= bourse.Buy && o.Side <= bourse.Sell && o.State > book.Taking && o.State <= book.Queued &&
		o.Price > 0 && o.Price <= bourse.MaxPrice && o.Stop <= bourse.MaxPrice &&
		o.Filled < o.Lots && o.Lots <= bourse.MaxLots && (o.State == book.Resting || o.Stop > 0)
}

// readQueues puts the resting and queued orders where they were.
func (x *restorer) readQueues() {
	for _, m := range x.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			x.readQueue(m, book.Resting, side)
		}
		x.readQueue(m, book.Queued, 0)
	}
}

func (x *restorer) readQueue(m *market, where book.State, side bourse.Side) {
	for id := x.r.Uint64(); id != 0; id = x.r.Uint64() {
		s := x.arena.Find(bourse.OrderID(id))
		if s == 0 || x.arena.At(s).Market != m.ID || x.arena.At(s).State != where ||
			side != 0 && x.arena.At(s).Side != side {
			x.r.Fail()
			return
		}
		if where == book.Queued {
			m.book.Queue(&x.arena, s)
		} else {
			m.book.Rest(&x.arena, s)
		}
	}
}

func (x *restorer) readSweeps() {
	for n := x.r.Count(14); n > 0; n-- {
		x.sweeps = append(x.sweeps, sweep{
			account: bourse.AccountID(x.r.Uint32()), market: bourse.MarketID(x.r.Uint16()),
			upTo: bourse.OrderID(x.r.Uint64()),
		})
	}
}

func (x *restorer) readNames() {
	for n := x.r.Count(101); n > 0 && x.r.Err() == nil; n-- {
		at := x.readName()
		x.names.byOrder[bourse.OrderID(x.names.entries[at].outcome.ID)] = at
	}
	for n := x.r.Count(109); n > 0 && x.r.Err() == nil; n-- {
		at := x.readName()
		if x.account(x.names.entries[at].account) == nil {
			x.r.Fail()
			return
		}
		x.names.append(x.Engine, at, bourse.Time(x.r.Uint64()))
	}
}

func (x *restorer) readName() uint32 {
	cmd := bourse.Command{Account: bourse.AccountID(x.r.Uint32())}
	p := &cmd.Place
	p.Market, p.Side = bourse.MarketID(x.r.Uint16()), bourse.Side(x.r.Uint8())
	p.Type, p.TIF = bourse.OrderType(x.r.Uint8()), bourse.TimeInForce(x.r.Uint8())
	p.SelfTrade, p.PostOnly = bourse.SelfTradeMode(x.r.Uint8()), x.r.Bool()
	p.Price, p.Stop = bourse.Price(x.r.Uint64()), bourse.Price(x.r.Uint64())
	p.Lots, p.Total = bourse.Lots(x.r.Uint64()), x.r.Amount()
	x.r.Bytes(p.ClientID[:])
	at := x.names.take(&cmd)
	x.names.entries[at].outcome = bourse.Outcome{
		Reason: bourse.Reason(x.r.Uint8()), Status: bourse.OrderStatus(x.r.Uint8()),
		ID: x.r.Uint64(), Filled: bourse.Lots(x.r.Uint64()),
	}
	return at
}

func (x *restorer) announceOrders() {
	for s := range x.arena.All {
		o := x.arena.At(s)
		if o.Named && x.names.byOrder[o.ID] == 0 {
			x.r.Fail()
			return
		}
		x.announce(bourse.EventOrderRestored, o, bourse.Open, bourse.Amount{}, &x.ev)
		x.flushIfFull()
	}
}

func (x *restorer) announceLevels() {
	for _, m := range x.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			for price, level := range m.book.Side(side).Levels {
				l := x.ev.AddLevel(bourse.EventLevelRestored)
				l.Market, l.Side, l.Price, l.Lots, l.Seq = m.ID, side, price, level.Total, m.levelSeq
				x.flushIfFull()
			}
		}
	}
}
