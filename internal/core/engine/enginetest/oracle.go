package enginetest

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// The bounds of the rules.
const (
	maxOpen  = 10_000
	maxSteps = 1_000
	// visitsInAStep is the number of visits that cost a step.
	visitsInAStep = 100
	maxNames      = 10_000
	// maxRefused bounds the retained client ids of an account's rejections.
	maxRefused = 100
	nameKept   = bourse.Day
)

// Oracle is a naive exchange. Apply announces orders, trades, transfers and refusals as
// the engine does.
type Oracle struct {
	now     bourse.Time
	genesis *bourse.Genesis

	// Definitions and accounts by id less one.
	assets   []bourse.Asset
	markets  []*market
	accounts []*account

	purses map[holding]*purse
	custodian
	tiering
	staff
	sessions    []session
	lastSession bourse.KeyID
	// fees, treasury and credited map assets to the balances of the fee account and the
	// treasury, and to the debt of the sandbox.
	fees, treasury, credited map[bourse.AssetID]*big.Int

	lastOrder bourse.OrderID
	// arrivals counts the orders that came to rest.
	arrivals uint64
	names    map[nameKey]*name
	partials []partialCancel
	deadmen

	schedule *bourse.FeeSchedule
	// day is the day of the last command, pass the next account whose level is set.
	day  int64
	pass bourse.AccountID

	// steps is the rest of the command's budget, visits the number of looks at something
	// where nothing was to be done, around the middle of the collar.
	steps  int
	visits int
	around bourse.Price
	ev     *bourse.Events
}

type market struct {
	bourse.Market
	// open are the market's open orders by id.
	open []*order
	// queue lists the triggered stops that are not worked yet.
	queue  []*order
	last   bourse.Price
	trades uint64
}

type account struct {
	frozen, ownFees bool
	maker, taker    bourse.Rate
	orders, fills   uint64
	// told counts the events about the account's orders.
	told  uint64
	level uint8
	tier  uint8
	// person is the digest of the row of the account's person.
	person bourse.RowDigest
	// fixed keeps the level. volumes are by ascending day.
	fixed   bool
	volumes []dayVolume
	// ended lists the client ids of ended orders and refused those of rejections, oldest
	// first.
	ended, refused []nameKey
}

type place uint8

const (
	taking place = iota
	resting
	waiting
	queued
)

// order is an open order of the oracle.
type order struct {
	bourse.Order
	where place
	// arrival orders resting orders of one price.
	arrival uint64
	// holds is the asset of the hold, held its rest.
	holds bourse.AssetID
	held  big.Int
	// value is the quote value of its trades.
	value big.Int
	// lost is the quote value of the trades that self-trade prevention took from it as a taker.
	lost big.Int
	// lastPrice is the price of its last trade as a taker, made or prevented.
	lastPrice bourse.Price
	// list is the order's list while neither of the list's orders has acted.
	list *list
}

type partialCancel struct {
	account bourse.AccountID
	market  bourse.MarketID
	upTo    bourse.OrderID
}

// NewOracle returns the state before genesis.
func NewOracle() *Oracle {
	return &Oracle{
		purses: map[holding]*purse{}, names: map[nameKey]*name{},
		fees: map[bourse.AssetID]*big.Int{}, treasury: map[bourse.AssetID]*big.Int{},
		credited: map[bourse.AssetID]*big.Int{}, custodian: newCustodian(), tiering: newTiering(),
	}
}

// Apply carries out one command.
func (x *Oracle) Apply(cmd *bourse.Command, ev *bourse.Events) {
	x.seq, x.now, x.ev, x.steps, x.visits = cmd.Seq, cmd.Time, ev, maxSteps, 0
	if (x.genesis == nil) != (cmd.Kind == bourse.CommandGenesis) {
		ev.Refuse(bourse.OutOfOrder)
		return
	}
	x.turnDay()

	switch {
	case cmd.Kind == bourse.CommandGenesis:
		x.genesis, x.rules = cmd.Genesis, cmd.Genesis.Rules
	case x.ownersOnly(cmd):
		ev.Refuse(bourse.OperatorsOnly)
	default:
		x.carry(cmd)
		x.outdate(cmd)
	}
	x.number()
}

// carry carries out a command that may come.
func (x *Oracle) carry(cmd *bourse.Command) {
	switch cmd.Kind {
	case bourse.CommandDefineAsset:
		x.defineAsset(*cmd.Asset)
	case bourse.CommandDefineMarket:
		x.defineMarket(*cmd.Market)
	case bourse.CommandSetMarketState:
		x.setMarketState(cmd)
	case bourse.CommandCreateAccount:
		x.accounts = append(x.accounts, &account{person: personOf(cmd)})
		x.ev.Outcome.ID = uint64(len(x.accounts))
	case bourse.CommandFreezeAccount:
		if a := x.accountOrRefuse(cmd.Account); a != nil {
			a.frozen = cmd.On
		}
	case bourse.CommandSetAccountFees:
		if a := x.accountOrRefuse(cmd.Account); a != nil {
			a.ownFees, a.maker, a.taker = cmd.On, cmd.Maker, cmd.Taker
		}
	case bourse.CommandDefineFees:
		x.defineFees(cmd.Fees)
	case bourse.CommandSetAccountLevel:
		x.setAccountLevel(cmd)
	case bourse.CommandDefineTiers:
		x.defineTiers(cmd.Tiers)
	case bourse.CommandSetAccountTier:
		x.setAccountTier(cmd)
	case bourse.CommandOpenSession:
		x.openSession(cmd)
	case bourse.CommandSecureAccount:
		x.secureAccount(cmd)
	case bourse.CommandSetPerson:
		if a := x.accountOrRefuse(cmd.Account); a != nil {
			a.person = personOf(cmd)
		}
	case bourse.CommandResetPerson:
		x.resetPerson(cmd)
	case bourse.CommandTick:
		x.endSessions(func(s session) bool { return s.expires <= x.now })
		x.endAct()
		x.fireDue()
	case bourse.CommandCredit:
		x.credit(cmd)
	case bourse.CommandCollectFees:
		x.collectFees()
	case bourse.CommandContinue:
		x.resume()
	default:
		if !x.applyOperators(cmd) {
			x.applyOrder(cmd)
		}
	}
}

// applyOrder carries out the commands about orders.
func (x *Oracle) applyOrder(cmd *bourse.Command) {
	switch cmd.Kind {
	case bourse.CommandPlace:
		x.place(cmd)
	case bourse.CommandCancel:
		x.cancel(cmd)
	case bourse.CommandAmend:
		x.amend(cmd)
	case bourse.CommandReplace:
		x.replace(cmd)
	case bourse.CommandCancelAll:
		x.cancelAll(cmd)
	case bourse.CommandPlaceList:
		x.placeList(cmd)
	case bourse.CommandCancelList:
		x.cancelList(cmd)
	case bourse.CommandCancelAfter:
		x.cancelAfter(cmd)
	case bourse.CommandCancelOnClose:
		x.cancelOnClose(cmd)
	case bourse.CommandConnectionClosed:
		x.connectionClosed(cmd)
	default: // notes, networks, keys: no effect on the oracle
	}
}

// number numbers the events in the streams of their accounts' orders: acceptances,
// rejections, triggers, amendments, preventions and ends as they happen, then one update for each
// order that traded and is open.
func (x *Oracle) number() {
	ended, last := map[bourse.OrderID]bool{}, map[bourse.OrderID]*bourse.Fill{}
	for i := range x.ev.List {
		e := &x.ev.List[i]
		switch e.Kind {
		case bourse.EventOrderClosed:
			ended[x.ev.Orders[e.At].ID] = true
			e.StreamSeq = x.told(x.ev.Orders[e.At].Account)
		case bourse.EventOrderAccepted, bourse.EventOrderRejected, bourse.EventOrderTriggered,
			bourse.EventOrderAmended, bourse.EventOrderPrevented:
			e.StreamSeq = x.told(x.ev.Orders[e.At].Account)
		default:
		}
	}

	for i := range x.ev.Trades {
		t := &x.ev.Trades[i]
		last[t.Maker.Order] = &t.Maker
		last[t.Taker.Order] = &t.Taker
	}
	for i := range x.ev.Trades {
		t := &x.ev.Trades[i]
		for _, f := range [...]*bourse.Fill{&t.Maker, &t.Taker} {
			if last[f.Order] == f && !ended[f.Order] {
				f.UpdateSeq = x.told(f.Account)
			}
		}
	}
}

// told counts an event about an account's orders.
func (x *Oracle) told(account bourse.AccountID) uint64 {
	a := x.accounts[account-1]
	a.told++
	return a.told
}

func (x *Oracle) accountOrRefuse(id bourse.AccountID) *account {
	if id == 0 || int(id) > len(x.accounts) {
		x.ev.Refuse(bourse.UnknownAccount)
		return nil
	}
	return x.accounts[id-1]
}

func (x *Oracle) marketOrRefuse(id bourse.MarketID) *market {
	if id == 0 || int(id) > len(x.markets) {
		x.ev.Refuse(bourse.UnknownMarket)
		return nil
	}
	return x.markets[id-1]
}

func (x *Oracle) defineAsset(a bourse.Asset) {
	at := slices.IndexFunc(x.assets, func(b bourse.Asset) bool { return b.Symbol == a.Symbol })
	if at < 0 {
		at = len(x.assets)
		x.assets = append(x.assets, a)
		id := bourse.AssetID(at + 1)
		x.fees[id], x.treasury[id], x.credited[id] = new(big.Int), new(big.Int), new(big.Int)
	}
	if x.assets[at].Scale != a.Scale {
		x.ev.Refuse(bourse.FixedField)
		return
	}
	a.ID = bourse.AssetID(at + 1)
	x.assets[at] = a
	x.ev.Outcome.ID = uint64(a.ID)
}

func (x *Oracle) defineMarket(m bourse.Market) {
	if int(m.Base) > len(x.assets) || int(m.Quote) > len(x.assets) {
		x.ev.Refuse(bourse.UnknownAsset)
		return
	}
	base, quote := x.assets[m.Base-1], x.assets[m.Quote-1]
	if m.BasePrecision+m.QuotePrecision > quote.Scale || m.BasePrecision+3 > base.Scale {
		x.ev.Refuse(bourse.BadDefinition)
		return

	}
	m.LotUnit = bourse.Pow10(base.Scale - m.BasePrecision)
	m.TotalUnit = bourse.Pow10(quote.Scale - m.BasePrecision - m.QuotePrecision)

	for _, old := range x.markets {
		if old.Base != m.Base || old.Quote != m.Quote {
			continue
		}
		if old.BasePrecision != m.BasePrecision || old.QuotePrecision != m.QuotePrecision {
			x.ev.Refuse(bourse.FixedField)
			return
		}
		m.ID, m.State = old.ID, old.State
		old.Market = m
		x.ev.Outcome.ID = uint64(m.ID)
		return
	}

	m.ID, m.State = bourse.MarketID(len(x.markets)+1), bourse.MarketOpen
	x.markets = append(x.markets, &market{Market: m})
	x.ev.Outcome.ID = uint64(m.ID)
}

// setMarketState changes a market's state. The rules do not fix the order in which a
// delisted market's orders are killed, so the oracle copies the engine's: bids, asks, stops
// that wait for a higher price, stops that wait for a lower one, the queue, each best first.
func (x *Oracle) setMarketState(cmd *bourse.Command) {
	m := x.marketOrRefuse(cmd.MarketID)
	if m == nil {
		return
	}
	m.State = cmd.State
	x.ev.Outcome.ID = uint64(m.ID)
	x.workBacklog(m)
}

func (x *Oracle) workBacklog(m *market) {
	x.around = m.price()
	if m.State == bourse.MarketDelisted {
		x.killAll(m)
	} else {
		x.drain(m)
	}
}

func (x *Oracle) killAll(m *market) {
	order := slices.Concat(m.rested(bourse.Buy), m.rested(bourse.Sell),
		m.stops(true), m.stops(false), slices.Clone(m.queue))
	for _, o := range order {
		if x.steps == 0 {
			return
		}
		if o.Status != bourse.Open { // with the other order of its list
			continue
		}
		x.steps--
		x.end(m, o, bourse.Killed)
	}
}

// stops returns the orders that wait for a rise, or for a fall, in the order of triggering.
func (m *market) stops(rise bool) []*order {
	var list []*order
	for _, o := range m.open {
		if o.where == waiting && o.satisfiedAt(o.Stop+1) == rise {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b *order) int {
		if !rise {
			a, b = b, a
		}
		if a.Stop != b.Stop {
			return cmp.Compare(a.Stop, b.Stop)
		}
		return 0 // by id, the order of the list
	})
	return list
}

func (x *Oracle) credit(cmd *bourse.Command) {
	if !x.genesis.Sandbox {
		x.ev.Refuse(bourse.SandboxOnly)
		return
	}
	if x.accountOrRefuse(cmd.Account) == nil {
		return
	}
	if int(cmd.AssetID) > len(x.assets) {
		x.ev.Refuse(bourse.UnknownAsset)
		return
	}

	owed := new(big.Int).Add(x.credited[cmd.AssetID], fromAmount(cmd.Amount))
	if owed.Cmp(most) > 0 {
		x.ev.Refuse(bourse.Overflow)
		return
	}

	x.credited[cmd.AssetID] = owed
	p := x.purse(cmd.Account, cmd.AssetID)
	p.available.Add(&p.available, fromAmount(cmd.Amount))
	x.ev.AddTransfer(bourse.Transfer{
		Kind: bourse.TransferCredit, From: bourse.AccountSandbox, To: cmd.Account,
		Asset: cmd.AssetID, Amount: cmd.Amount,
	})
}

func (x *Oracle) collectFees() {
	for i := range x.assets {
		id := bourse.AssetID(i + 1)
		x.collect(bourse.AccountFees, id, x.fees[id])
		x.collect(bourse.AccountWithdrawalFees, id, x.ownNet(bourse.AccountWithdrawalFees, id))
	}
}

// collect moves the whole balance of a fee account to the treasury.
func (x *Oracle) collect(from bourse.AccountID, asset bourse.AssetID, fees *big.Int) {
	if fees.Sign() == 0 {
		return
	}
	x.ev.AddTransfer(bourse.Transfer{
		Kind: bourse.TransferFeesCollected, From: from, To: bourse.AccountTreasury,
		Asset: asset, Amount: toAmount(fees),
	})
	x.treasury[asset].Add(x.treasury[asset], fees)
	fees.SetInt64(0)
}
