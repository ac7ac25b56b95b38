package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
	"github.com/bourse-exchange/bourse/internal/core/custody"
	"github.com/bourse-exchange/bourse/internal/core/ledger"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// The bounds of the state. They are part of the rules: changing one changes
// what a journal means.
const (
	// MaxOpenOrders is how many orders an account may have open in a market.
	MaxOpenOrders = 10_000
	// MaxSteps is how many triggers and cancels one command may work; the rest
	// waits for a Continue.
	MaxSteps = 1_000
	// MaxNumber is the last number of an order, a trade or a level change at
	// which orders are taken; what lies above it is room for what one order and
	// the cancels of all others can still cause, so that no number wraps.
	MaxNumber = 1 << 63
)

// Engine is the state of an exchange and the only code that changes it. It is
// not safe for concurrent use.
type Engine struct {
	genesis *bourse.Genesis
	rules   uint32
	now     bourse.Time
	seq     bourse.Seq

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
	// sweeps are the cancel-alls that ran out of steps.
	sweeps []sweep
	// custody is the wallet's part of the state.
	custody *custody.Custody

	// steps is what is left of the current command's budget.
	steps int
	// placing is the order that the current command placed.
	placing bourse.OrderID
	// around is the price of the current market when the command began to work
	// it: the middle of its collar.
	around bourse.Price
	// walked counts what the current command looks at without trading with it.
	walked int
	// listed are a taker's own orders, while a walk needs them.
	listed []ownLots
}

// market is a market's definition and its state.
type market struct {
	*bourse.Market
	book *book.Book
	// held are, by side, the accounts of the asset that an order holds.
	held [3]*ledger.Accounts
	// last is the price of the last trade; zero before the first.
	last     bourse.Price
	trades   uint64
	levelSeq uint64
	// tradable is whether it takes orders now; reopen keeps it.
	tradable bool
}

// account is what the engine knows of a customer.
type account struct {
	token  bourse.Token
	frozen bool
	// held is the time before which no money leaves it.
	held     bourse.Time
	ownFees  bool
	feeLevel uint8
	maker    bourse.Rate
	taker    bourse.Rate
	// person is the digest of the row of the account's person; zero for none.
	person bourse.RowDigest
	// keys and sessions are the live ones, oldest first.
	keys, sessions []*key

	orders uint64
	fills  uint64
	// movements are deposits and withdrawals.
	movements uint64
	// ended and refused are the client ids that are kept.
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
		custody:  custody.New(),
	}
}

// Apply carries out one command: it changes the state and appends to ev what
// happened. The command must have passed its Check, and commands must come in
// the order of the journal; anything else stops the process.
func (e *Engine) Apply(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq != e.seq+1 || cmd.Time < e.now {
		bourse.Impossible("command %d at %d came after command %d at %d", cmd.Seq, cmd.Time, e.seq, e.now)
	}
	e.seq, e.now = cmd.Seq, cmd.Time
	e.steps, e.placing, e.walked = MaxSteps, 0, 0
	if e.genesis == nil && cmd.Kind != bourse.CommandGenesis {
		ev.Refuse(bourse.OutOfOrder)
		return
	}
	switch cmd.Kind { // two tests for what nearly all commands are: cheaper than a table
	case bourse.CommandPlace:
		e.place(cmd, ev)
	case bourse.CommandCancel:
		e.cancel(cmd, ev)
	default:
		e.decide(cmd, ev)
	}
}

// Expect tells of orders that the next commands will cancel, so that they are near
// when their turn comes. It changes nothing, and ids may be anything. Some 32
// commands ahead is best: their orders all fit in the nearest cache.
func (e *Engine) Expect(ids []bourse.OrderID) { e.arena.Expect(ids) }

// Skip passes over a command that an operator voided: it takes its place in the
// order and does nothing.
func (e *Engine) Skip(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq != e.seq+1 {
		bourse.Impossible("voided command %d came after command %d", cmd.Seq, e.seq)
	}
	e.seq = cmd.Seq
	ev.Refuse(bourse.Voided)
}

func (e *Engine) decide(cmd *bourse.Command, ev *bourse.Events) {
	switch cmd.Kind {
	case bourse.CommandCancelAll:
		e.cancelAll(cmd, ev)
	case bourse.CommandTick:
		e.names.expire(e, expiredPerTick)
		e.custody.Expire(e.now, expiredPerTick)
		e.expireKeys(&e.keys, ev)
		e.expireKeys(&e.sessions, ev)
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
	case bourse.CommandDefineAsset:
		e.defineAsset(cmd.Asset, ev)
	case bourse.CommandDefineNetwork:
		e.defineNetwork(cmd.Network, ev)
	case bourse.CommandDefineNetworkAsset:
		e.defineNetworkAsset(cmd.NetworkAsset, ev)
	case bourse.CommandDefineMarket:
		e.defineMarket(cmd.Market, ev)
	case bourse.CommandSetMarketState:
		e.setMarketState(cmd, ev)
	case bourse.CommandCredit:
		e.credit(cmd, ev)
	case bourse.CommandSweepFees:
		e.sweepFees(ev)
	default:
		e.decideAccount(cmd, ev)
	}
}

// decideAccount carries out the commands about accounts and who gets in.
func (e *Engine) decideAccount(cmd *bourse.Command, ev *bourse.Events) {
	switch cmd.Kind {
	case bourse.CommandCreateAccount:
		e.createAccount(cmd, ev)
	case bourse.CommandFreezeAccount:
		e.freezeAccount(cmd, ev)
	case bourse.CommandSecureAccount:
		e.secureAccount(cmd, ev)
	case bourse.CommandSetAccountFees:
		e.setAccountFees(cmd, ev)
	case bourse.CommandCreateKey:
		e.createKey(cmd, ev)
	case bourse.CommandChangeKey:
		e.changeKey(cmd, ev)
	case bourse.CommandRevokeKey:
		e.revokeKey(cmd, ev)
	case bourse.CommandOpenSession:
		e.openSession(cmd, ev)
	case bourse.CommandSetPerson:
		e.setPerson(cmd, ev)
	default:
		e.decideWallet(cmd, ev)
	}
}

// decideWallet carries out the commands of the wallet.
func (e *Engine) decideWallet(cmd *bourse.Command, ev *bourse.Events) {
	var reason bourse.Reason
	switch cmd.Kind {
	case bourse.CommandBlock:
		reason = e.block(cmd.Wallet.Block, ev)
	case bourse.CommandRewind:
		reason = e.rewind(cmd.Wallet, ev)
	case bourse.CommandAssignDeposit:
		reason = e.assignDeposit(cmd, ev)
	case bourse.CommandWithdraw, bourse.CommandTransfer:
		reason = e.withdraw(cmd, ev)
	case bourse.CommandCancelWithdrawal:
		reason = e.cancelWithdrawal(cmd, ev)
	case bourse.CommandDecideWithdrawal:
		reason = e.decideWithdrawal(cmd, ev)
	case bourse.CommandPauseWithdrawals:
		reason = e.pauseWithdrawals(cmd, ev)
	case bourse.CommandSigned:
		reason = e.signed(cmd.Wallet.Signed, ev)
	case bourse.CommandSent:
		reason = e.sent(cmd.Wallet, ev)
	case bourse.CommandReplaceWithdrawal:
		reason = e.replaceWithdrawal(cmd.Wallet, ev)
	case bourse.CommandReleaseWithdrawal:
		reason = e.releaseWithdrawal(cmd.Wallet, ev)
	case bourse.CommandSaveAddress:
		reason = e.saveAddress(cmd, ev)
	case bourse.CommandForgetAddress:
		reason = e.forgetAddress(cmd, ev)
	default:
		bourse.Impossible("command %d has unknown kind %d", cmd.Seq, cmd.Kind)
	}
	if reason != 0 {
		ev.Refuse(reason)
	}
}

// Seq returns the sequence of the last command applied.
func (e *Engine) Seq() bourse.Seq { return e.seq }

// Now returns the time of the last command applied.
func (e *Engine) Now() bourse.Time { return e.now }

// Genesis returns the identity of the exchange, or nil before it is opened.
func (e *Engine) Genesis() *bourse.Genesis { return e.genesis }

// Assets returns the assets by ascending id. They must not be changed.
func (e *Engine) Assets() []*bourse.Asset { return e.assets[1:] }

// Networks returns the networks by ascending id. They must not be changed.
func (e *Engine) Networks() []*bourse.Network { return e.networks[1:] }

// Market returns the definition of a market, or nil. It must not be changed.
func (e *Engine) Market(id bourse.MarketID) *bourse.Market {
	m := e.market(id)
	if m == nil {
		return nil
	}
	return m.Market
}

// NetworkState returns where the exchange is on a network that is defined.
func (e *Engine) NetworkState(id bourse.NetworkID) bourse.NetworkState {
	return e.custody.Network(id).NetworkState
}

// Walked returns how many levels and orders the last command applied looked at to
// find out what the book would give its own order: work that costs the account
// nothing if the answer is no. Stops that it fired walk once in their life, and are
// not counted. The same commands give the same number.
func (e *Engine) Walked() int { return e.walked }

// OpenOrders returns how many orders are open.
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

// reopen finds out anew which markets take orders, and whose money they move,
// after an asset or a market was defined.
func (e *Engine) reopen() {
	for _, m := range e.markets[1:] {
		m.tradable = e.takesOrders(m)
		m.held = [3]*ledger.Accounts{bourse.Buy: e.ledger.Of(m.Quote), bourse.Sell: e.ledger.Of(m.Base)}
	}
}

func (e *Engine) takesOrders(m *market) bool {
	return m.State == bourse.MarketOpen && m.Enabled && e.assets[m.Base].Enabled && e.assets[m.Quote].Enabled
}
