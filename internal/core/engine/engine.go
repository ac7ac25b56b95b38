package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/custody"
	"github.com/bourse-exchange/bourse/internal/core/ledger"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// The bounds of the state. They are part of the rules: changing one changes the meaning
// of existing journals.
const (
	// MaxOpenOrders bounds an account's open orders in a market.
	MaxOpenOrders = 10_000
	// MaxSteps bounds the triggers and cancels of one command; a Continue works the rest.
	MaxSteps = 1_000
	// MaxNumber bounds the numbers of orders, trades and level changes at which orders
	// are accepted. The range above it is room for the effects of one more order and the
	// cancels of all others, so that no number wraps.
	MaxNumber = 1 << 63
)

// Engine is the state of an exchange and the only code that changes it. Not safe for
// concurrent use.
type Engine struct {
	genesis *bourse.Genesis
	rules   uint32
	now     bourse.Time
	seq     bourse.Seq
	// incarnation is one from genesis on.
	incarnation bourse.Incarnation

	ledger ledger.Ledger
	arena  book.Arena

	// Definitions by id; index zero is nil.
	assets   []*bourse.Asset
	networks []*bourse.Network
	markets  []*market
	// networkAssets is sorted by network, then asset.
	networkAssets []*bourse.NetworkAsset

	accounts    table.Table[account]
	lastAccount bourse.AccountID
	keys        keys
	sessions    keys
	lastOrder   bourse.OrderID
	names       names
	// partials lists the cancel-alls that ran out of steps.
	partials []partialCancel
	deadmen  deadmen
	// custody is the wallet's part of the state.
	custody *custody.Custody
	fees    fees
	tiers   tiers

	operators operators

	// steps is the rest of the current command's budget.
	steps int
	// visits counts the visits of the current command that found nothing to do.
	visits int
	// placing is the order that the current command placed.
	placing bourse.OrderID
	// around is the current market's price when the command started to work it: the
	// middle of its collar.
	around bourse.Price
	// walked counts the levels and orders that the current command visited without
	// trading.
	walked int
	// mayUpdate is set when the current command filled a part of an order that stays open.
	mayUpdate bool
	// listed holds a taker's own orders during a walk.
	listed []ownLots
}

// market is a market's definition and its state.
type market struct {
	*bourse.Market
	book *book.Book
	// held indexes, by side, the accounts of the asset that an order holds.
	held [3]*ledger.Accounts
	// last is the price of the last trade; zero before the first.
	last     bourse.Price
	trades   uint64
	levelSeq uint64
	// tradable caches takesOrders; reopen updates it.
	tradable bool
	// valued is the rule by which the market's trades count as volume. valuer is the market
	// whose price valuedByPrice uses. valueMarkets updates both.
	valued valuation
	valuer *market
}

// account is the engine's state of a customer. The fields that each order and trade reads
// come first and side by side: spread over 128 bytes they cost some 5 % of a command.
type account struct {
	orders  uint64
	fills   uint64
	streams bourse.AccountStreams
	frozen  bool
	ownFees bool
	// level is the fee level, below MaxFeeLevels; fixed keeps the schedule from changing it.
	level uint8
	fixed bool
	// tier is the account's tier, an index of tiers.defined.
	tier  uint8
	maker bourse.Rate
	taker bourse.Rate
	// volume is the slot of the account's volume, if the volume there names the account.
	volume uint32

	token bourse.Token
	// held is the time before which no money leaves the account.
	held bourse.Time
	// person is the digest of the row of the account's person; zero for none.
	person bourse.RowDigest
	// keys and sessions are the live ones, oldest first.
	keys, sessions []*key
	// movements counts deposits and withdrawals.
	movements uint64
	// connections counts the account's armed connections.
	connections int
	// markets lists the markets in which the account has open orders, ascending.
	markets []bourse.MarketID
	// moved are the account's movements that count against tiers, by asset, then flow.
	moved []*moved
	// ended and refused list the retained client ids of orders that ended and of
	// rejections.
	ended, refused endedNames
}

// New returns the state before genesis.
func New() *Engine {
	return &Engine{
		assets:   make([]*bourse.Asset, 1),
		networks: make([]*bourse.Network, 1),
		markets:  make([]*market, 1),
		keys:     newAPIKeys(),
		sessions: newSessions(),
		names:    newNames(),
		deadmen:  deadmen{byKey: map[deadmanKey]*deadman{}},
		custody:  custody.New(),
		fees:     newFees(),
	}
}

// Apply carries out one command: it changes the state and appends the events to ev. The
// command must have passed record.Check, and commands must come in journal order;
// otherwise Apply panics with an invariant error.
func (e *Engine) Apply(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq != e.seq+1 || cmd.Time < e.now {
		bourse.Impossible("command %d at %d came after command %d at %d", cmd.Seq, cmd.Time, e.seq, e.now)
	}

	e.seq, e.now = cmd.Seq, cmd.Time
	e.steps, e.visits, e.placing, e.walked = MaxSteps, 0, 0, 0
	if e.genesis == nil && cmd.Kind != bourse.CommandGenesis {
		ev.Refuse(bourse.OutOfOrder)
		return
	}
	if e.now >= e.fees.midnight {
		e.turnDay()
	}

	switch cmd.Kind { // two comparisons cover nearly all commands, cheaper than a table
	case bourse.CommandPlace:
		e.place(cmd, ev)
	case bourse.CommandCancel:
		e.cancel(cmd, ev)
	default:
		e.admit(cmd, ev)
	}
	e.number(ev)
}

// Expect prefetches orders that the next commands will cancel. It changes no state, and
// ids may be arbitrary. Some 32 commands ahead is best: their orders all fit the L1
// cache.
func (e *Engine) Expect(ids []bourse.OrderID) { e.arena.Expect(ids) }

// Skip passes over a command that an operator voided: the command uses up its sequence
// and has no effect.
func (e *Engine) Skip(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq != e.seq+1 {
		bourse.Impossible("voided command %d came after command %d", cmd.Seq, e.seq)
	}
	e.seq = cmd.Seq
	ev.Refuse(bourse.Voided)
}

// admit carries out a rare command, unless only operators may order it.
func (e *Engine) admit(cmd *bourse.Command, ev *bourse.Events) {
	if e.guarded(cmd) {
		ev.Refuse(bourse.OperatorsOnly)
		return
	}
	e.decide(cmd, ev)
	if ev.Outcome.Reason == 0 {
		e.outdate(cmd, ev)
	}
}

// decide carries out the rare commands. Those of an area are in its file: catalogue.go,
// accounts.go, custody.go.
func (e *Engine) decide(cmd *bourse.Command, ev *bourse.Events) {
	switch cmd.Kind {
	case bourse.CommandAmend:
		e.amend(cmd, ev)
	case bourse.CommandReplace:
		e.replace(cmd, ev)
	case bourse.CommandPlaceList:
		e.placeList(cmd, ev)
	case bourse.CommandCancelList:
		e.cancelList(cmd, ev)
	case bourse.CommandCancelAll:
		e.cancelAll(cmd, ev)
	case bourse.CommandCancelAfter:
		e.cancelAfter(cmd, ev)
	case bourse.CommandCancelOnClose:
		e.cancelOnClose(cmd, ev)
	case bourse.CommandConnectionClosed:
		e.connectionClosed(cmd, ev)

	case bourse.CommandTick:
		e.names.expire(e, expiredPerTick)
		e.custody.Expire(e.now, expiredPerTick)
		e.expireKeys(&e.keys, ev)
		e.expireKeys(&e.sessions, ev)
		e.sweepMoved()
		e.endAct(ev)
		e.fireDue(ev)
	case bourse.CommandContinue:
		e.resume(ev)
	case bourse.CommandNote:
		ev.AddFact(bourse.EventNoted, bourse.Fact{Operator: cmd.Operator, Text: cmd.Text})
	case bourse.CommandGenesis:
		if e.genesis != nil {
			ev.Refuse(bourse.OutOfOrder)
			return
		}
		e.found(cmd.Genesis, ev)
	case bourse.CommandSetRules:
		e.rules = cmd.Rules
		ev.AddFact(bourse.EventRules, bourse.Fact{Rules: cmd.Rules})
	case bourse.CommandAddOperator, bourse.CommandChangeOperator, bourse.CommandSetApprovalLimit,
		bourse.CommandAct, bourse.CommandApproveAct, bourse.CommandDropAct:
		e.decideOperators(cmd, ev)
	case bourse.CommandRaise:
		e.raise(cmd, ev)
	default:
		e.decideCatalogue(cmd, ev)
	}
}

// raise begins the next incarnation. The last one may have signed withdrawals behind the end of
// this journal, so withdrawals wait until an operator has compared the networks.
func (e *Engine) raise(cmd *bourse.Command, ev *bourse.Events) {
	e.incarnation++
	ev.AddFact(bourse.EventRaised, bourse.Fact{Incarnation: e.incarnation, Operator: cmd.Operator, Text: cmd.Text})
	for _, listed := range e.networks[1:] {
		n := e.custody.Network(listed.ID)
		n.Paused = true
		n.Announce(ev)
		e.outdateResuming(n, ev)
	}
}

// Seq returns the sequence of the last command applied.
func (e *Engine) Seq() bourse.Seq { return e.seq }

// Now returns the time of the last command applied.
func (e *Engine) Now() bourse.Time { return e.now }

// Genesis returns the identity of the exchange, or nil before it is opened.
func (e *Engine) Genesis() *bourse.Genesis { return e.genesis }

// Incarnation returns the incarnation; zero before genesis.
func (e *Engine) Incarnation() bourse.Incarnation { return e.incarnation }

// Assets returns the assets by ascending id. They must not be changed.
func (e *Engine) Assets() []*bourse.Asset { return e.assets[1:] }

// Networks returns the networks by ascending id. They must not be changed.
func (e *Engine) Networks() []*bourse.Network { return e.networks[1:] }

// Tiers returns the tiers; nil without any. They must not be changed.
func (e *Engine) Tiers() *bourse.Tiers { return e.tiers.defined }

// Market returns the definition of a market, or nil. It must not be changed.
func (e *Engine) Market(id bourse.MarketID) *bourse.Market {
	m := e.market(id)
	if m == nil {
		return nil
	}
	return m.Market
}

// NetworkState returns the exchange's state on a defined network.
func (e *Engine) NetworkState(id bourse.NetworkID) bourse.NetworkState {
	return e.custody.Network(id).NetworkState
}

// Walked returns the number of levels and orders that the last command visited to quote
// its own order: work that costs the account nothing if the order is rejected. Triggered
// stops walk once in their life and are not counted. The number is deterministic.
func (e *Engine) Walked() int { return e.walked }

// OpenOrders returns the number of open orders.
func (e *Engine) OpenOrders() int { return e.arena.Len() }

// account returns a customer, or nil if the id was never allotted.
func (e *Engine) account(id bourse.AccountID) *account {
	if id == 0 || id > e.lastAccount {
		return nil
	}
	return e.accounts.Find(uint32(id))
}

// market returns a market, or nil if there is none with this id.
func (e *Engine) market(id bourse.MarketID) *market {
	if int(id) >= len(e.markets) {
		return nil
	}
	return e.markets[id]
}

// network returns a network, or nil if there is none with this id.
func (e *Engine) network(id bourse.NetworkID) *bourse.Network {
	if int(id) >= len(e.networks) {
		return nil
	}
	return e.networks[id]
}

// reopen recomputes the derived fields of all markets after a change of an asset or a
// market.
func (e *Engine) reopen() {
	for _, m := range e.markets[1:] {
		m.tradable = e.takesOrders(m)
		m.held = [3]*ledger.Accounts{bourse.Buy: e.ledger.Of(m.Quote), bourse.Sell: e.ledger.Of(m.Base)}
	}
	e.valueMarkets()
}

func (e *Engine) takesOrders(m *market) bool {
	return m.State == bourse.MarketOpen && m.Enabled && e.assets[m.Base].Enabled && e.assets[m.Quote].Enabled
}
