package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/ledger"
)

// ErrMalformed reports bytes that are not a state of this program.
var ErrMalformed = errors.New("malformed state")

// restorer rebuilds an engine and announces its state.
type restorer struct {
	*Engine
	c    *codec.Codec
	ev   bourse.Events
	emit func(*bourse.Events)

	// symbols and pairs are the ones read so far.
	symbols map[bourse.Symbol]bool
	pairs   map[bourse.Pair]bool
	// unplaced is the state, by slot, of each order that its queue has not listed yet.
	unplaced []book.State
}

// StateVersion is the version of the canonical form that Snapshot writes and Restore reads.
const StateVersion uint32 = stateVersion

// Reads reports whether a snapshot has the version that Restore reads.
func Reads(snapshot []byte) bool {
	var version uint32
	codec.Uint32(codec.NewReader(snapshot), &version)
	return version == StateVersion
}

// Restore rebuilds an engine from its canonical form. It announces the state, in pieces,
// through emit, whose argument is valid only during the call: definitions first, then
// accounts, balances, orders and levels. The error is ErrMalformed or names a version
// that this program does not know; announcements before it are void.
//
// Nothing in the bytes is trusted: they restore to an engine whose invariants hold and
// that writes the same bytes again, or they do not restore.
func Restore(snapshot []byte, emit func(*bourse.Events)) (*Engine, error) {
	x := restorer{
		Engine: New(), c: codec.NewReader(snapshot), emit: emit,
		symbols: map[bourse.Symbol]bool{}, pairs: map[bourse.Pair]bool{},
	}
	var version uint32
	if codec.Uint32(x.c, &version); version != stateVersion {
		return nil, fmt.Errorf("state version %d is not known to this program, which writes %d", version, stateVersion)
	}

	for _, part := range []func(){
		x.readGenesis, x.readAssets, x.readNetworks, x.readNetworkAssets, x.readMarkets,
		x.readSchedule, x.readTiers, x.readAccounts, x.readKeys, x.readSessions, x.readVolumes,
		x.readMoved, x.readLedger, x.readOrders, x.readPairs, x.readQueues, x.readPartials, x.readDeadmen, x.readNames, x.readCustody,
		x.readOperators, x.readActs,
		x.announceOrders, x.announceRejections, x.announceLevels, x.announceWallet,
	} {
		part()
		x.flush()
		if !x.c.OK() {
			return nil, ErrMalformed
		}
	}

	empty := len(x.assets) == 1 && len(x.networks) == 1 && x.lastAccount == 0
	if !x.c.Done() || x.genesis == nil && !empty {
		return nil, ErrMalformed
	}
	if err := x.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !x.writes(snapshot) {
		return nil, ErrMalformed
	}
	return x.Engine, nil
}

// writes reports whether the engine's canonical form equals these bytes.
func (e *Engine) writes(snapshot []byte) bool {
	same := true
	e.Snapshot(func(b []byte) {
		if same = same && bytes.HasPrefix(snapshot, b); same {
			snapshot = snapshot[len(b):]
		}
	})
	return same && len(snapshot) == 0
}

// maxRestored is the highest number that an engine can reach: see MaxNumber.
const maxRestored = MaxNumber + 1<<62

// pieceSize is about the number of events that are announced together.
const pieceSize = 1000

func (x *restorer) flush() {
	x.emit(&x.ev)
	x.ev.Reset()
}

func (x *restorer) flushIfFull() {
	if len(x.ev.List)+len(x.ev.Balances)+len(x.ev.Moved) >= pieceSize {
		x.flush()
	}
}

func (x *restorer) readGenesis() {
	x.codeGenesis(x.c)
	x.c.Want(x.now >= 0)
	x.fees.setDay(x.now)
	g := x.genesis
	if g == nil || !x.c.Want(bourse.KnownRules(g.Rules) && bourse.KnownRules(x.rules) && x.incarnation > 0) {
		return
	}
	x.ev.AddFact(bourse.EventGenesis, bourse.Fact{Genesis: g})
	x.ev.AddFact(bourse.EventRules, bourse.Fact{Rules: x.rules})
	if x.incarnation > 1 {
		x.ev.AddFact(bourse.EventRaised, bourse.Fact{Incarnation: x.incarnation})
	}
}

func (x *restorer) readAssets() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		a := &bourse.Asset{ID: bourse.AssetID(len(x.assets))}
		x.c.Asset(a)
		x.c.Want(a.Valid() && !x.symbols[a.Symbol] && len(x.assets) <= math.MaxUint16)
		x.symbols[a.Symbol] = true
		x.assets = append(x.assets, a)
		x.ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: a})
	}
	clear(x.symbols)
}

func (x *restorer) readNetworks() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		net := &bourse.Network{ID: bourse.NetworkID(len(x.networks))}
		x.c.Network(net)
		x.c.Want(net.Valid() && !x.symbols[net.Symbol] && len(x.networks) <= math.MaxUint16)
		x.symbols[net.Symbol] = true
		x.networks = append(x.networks, net)
		x.ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: net})
	}
}

func (x *restorer) readNetworkAssets() {
	last := &bourse.NetworkAsset{}
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		na := new(bourse.NetworkAsset)
		x.c.NetworkAsset(na)
		if !x.c.Want(na.Valid() && int(na.Asset) < len(x.assets) && int(na.Network) < len(x.networks)) {
			return
		}
		x.c.Want(fitsNetwork(na, x.assets[na.Asset].Scale) && compareTerms(last, na) < 0)
		last = na
		x.networkAssets = append(x.networkAssets, na)
		x.ev.AddFact(bourse.EventNetworkAsset, bourse.Fact{NetworkAsset: na})
	}
}

func (x *restorer) readMarkets() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		def := &bourse.Market{ID: bourse.MarketID(len(x.markets))}
		m := &market{Market: def, book: book.New()}
		m.code(x.c)
		if !x.c.Want(def.Valid() && x.derive(def)) {
			return
		}
		x.c.Want(def.State >= bourse.MarketOpen && def.State <= bourse.MarketDelisted)
		x.c.Want(!x.pairs[def.Pair] && len(x.markets) <= math.MaxUint16)
		x.c.Want(m.last <= bourse.MaxPrice && (m.last == 0) == (m.trades == 0))
		x.c.Want(m.trades <= maxRestored && m.levelSeq <= maxRestored)

		x.pairs[def.Pair] = true
		x.markets = append(x.markets, m)
		x.ev.AddFact(bourse.EventMarket, bourse.Fact{Market: def})
		x.ev.AddFact(bourse.EventMarketRestored, bourse.Fact{
			MarketID: def.ID, LastPrice: m.last, Trades: m.trades, Levels: m.levelSeq,
		})
	}
	x.reopen()
}

func (x *restorer) readSchedule() {
	x.codeSchedule(x.c)
	s := x.fees.schedule
	if s == nil || !x.c.Want(s.Valid() && int(s.VolumeAsset) < len(x.assets)) {
		return
	}
	x.setSchedule(s, &x.ev)
}

// readVolumes restores volumes in the order of their accounts. Check compares them with
// the accounts' levels.
func (x *restorer) readVolumes() {
	last := bourse.AccountID(0)
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		var v volume
		v.code(x.c)
		acct := x.account(v.account)
		if !x.c.Want(acct != nil && v.account > last && v.day <= x.fees.today) {
			return
		}
		last = v.account
		*x.fees.open(v.account, acct) = v
	}
}

func (x *restorer) readAccounts() {
	n := x.c.Count(0)
	for i := 1; i <= n && x.c.OK(); i++ {
		x.lastAccount = bourse.AccountID(i)
		a := x.accounts.At(uint32(i))
		a.code(x.c)
		x.c.Want(x.lastAccount.IsCustomer() && a.held >= 0 && a.held <= x.now+bourse.MaxHold)
		x.c.Want(a.maker < bourse.RateOne && a.taker < bourse.RateOne)
		x.c.Want(a.ownFees || a.maker == 0 && a.taker == 0)
		x.c.Want(a.level < bourse.MaxFeeLevels)
		x.c.Want(a.tier == 0 || x.tiers.defined.Has(a.tier))
		x.c.Want(a.orders <= maxRestored && a.fills <= maxRestored && a.movements <= maxRestored)
		x.c.Want(max(a.streams.Orders, a.streams.Balances, a.streams.Transfers) <= maxRestored)

		x.ev.AddFact(bourse.EventAccountRestored, bourse.Fact{
			Account: x.lastAccount, On: a.frozen, Orders: a.orders, Fills: a.fills, Movements: a.movements,
			Streams: a.streams, Token: a.token, Digest: a.person,
		})
		if a.held != 0 {
			a.announceHeld(x.lastAccount, &x.ev)
		}
		if a.ownFees {
			a.announceFees(x.lastAccount, &x.ev)
		}
		if a.level != 0 || a.fixed {
			a.announceLevel(x.lastAccount, &x.ev)
		}
		if a.tier != 0 {
			a.announceTier(x.lastAccount, &x.ev)
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

// readKeySet restores a new set. A key that own does not accept is malformed.
func (x *restorer) readKeySet(set *keys, own func(*key) bool) {
	before := set.last
	codec.Uint64(x.c, &set.last)
	x.c.Want(set.last >= before && set.last <= set.end)
	x.ev.AddFact(bourse.EventKeysRestored, bourse.Fact{Key: set.last})
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		k := new(key)
		k.code(x.c)
		if !x.c.Want(k.id > before && k.id <= set.last && k.Expires >= 0 && own(k)) {
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
		for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
			var own ledger.Own
			codeOwn(x.c, &own)
			x.c.Want(x.ledger.RestoreOwn(a.ID, own))
		}

		for {
			b := bourse.Balance{Asset: a.ID}
			if codeBalance(x.c, &b); b.Account == 0 {
				break
			}
			if !x.c.Want(x.account(b.Account) != nil) {
				return
			}
			x.ledger.RestoreCustomer(b)
			x.ev.AddBalance(b.Account, b.Asset, b.Available, b.Held)
			x.flushIfFull()
		}
	}
}
