package bourse

// EventKind tags an [Event].
type EventKind uint8

// The closed set of events. Each names the list of [Events] that has its entry and, for
// facts, the fields that are set. The Restored events repeat earlier announcements from a
// snapshot, to rebuild the state of observers.
const (
	// EventGenesis: the exchange was opened. Facts: Genesis.
	EventGenesis EventKind = iota + 1
	// EventRules: the rules changed. Facts: Rules.
	EventRules
	// EventNoted: an operator's request was recorded. Facts: Operator, Text.
	EventNoted
	// EventRaised: the incarnation was raised, or is above the first after a restart. Facts:
	// Incarnation, and Operator and Text if it was raised.
	EventRaised
	// EventRefused: a command other than an order was refused. Reason; no list.
	EventRefused

	// EventAsset: an asset was defined or changed. Facts: Asset.
	EventAsset
	// EventNetwork: a network was defined or changed. Facts: Network.
	EventNetwork
	// EventNetworkAsset: an asset's terms on a network were defined or changed. Facts:
	// NetworkAsset.
	EventNetworkAsset
	// EventMarket: a market was defined or changed, or changed its state. Facts: Market.
	EventMarket
	// EventMarketRestored: the counters of a market. Facts: MarketID, LastPrice (zero
	// before the first trade), Trades and Levels, the numbers of its last trade and level
	// change.
	EventMarketRestored
	// EventFeeSchedule: the schedule of fees was set or restored. Facts: Fees.
	EventFeeSchedule
	// EventTiers: the tiers were set or restored. Facts: Tiers.
	EventTiers

	// EventAccountCreated: an account id was allotted. Facts: Account, Token, Digest of
	// its person's row (zero for none).
	EventAccountCreated
	// EventAccountFrozen: an account was frozen or unfrozen. Facts: Account, On.
	EventAccountFrozen
	// EventAccountHeld: no money leaves an account until a time. Facts: Account, Until.
	EventAccountHeld
	// EventAccountFees: an account got or lost its own rates. Facts: Account, On, Maker,
	// Taker.
	EventAccountFees
	// EventAccountLevel: an account's fee level changed or was restored. Facts: Account,
	// On if it is fixed, FeeLevel.
	EventAccountLevel
	// EventAccountTier: an account got a tier, or has another one than the first after a
	// restart. Facts: Account, Tier.
	EventAccountTier
	// EventAccountRestored: the counters of an account. Facts: Account, On if frozen,
	// Orders, Fills, Movements and Streams so far, Token, Digest.
	EventAccountRestored
	// EventPersonChanged: the row of an account's person changed. Facts: Account, Digest.
	EventPersonChanged
	// EventKeyCreated: the id of an API key or a session was allotted or restored. Facts:
	// Account, Key, Token (zero for a session), Digest.
	EventKeyCreated
	// EventKeyChanged: an API key's row changed. Facts: as EventKeyCreated.
	EventKeyChanged
	// EventKeyRevoked: an API key or a session was revoked or expired. Facts: Account,
	// Key, Token.
	EventKeyRevoked
	// EventKeysRestored: the last id allotted to an API key, or to a session. Facts: Key.
	EventKeysRestored

	// EventOperator: an operator is new, changed or restored. Facts: Staff.
	EventOperator
	// EventApprovalLimit: the limit of approvals in an asset was set or restored. Facts:
	// Limit.
	EventApprovalLimit
	// EventAct: an act of operators waits, or came to its end. Facts: Act.
	EventAct
	// EventActOutdated: a waiting act is outdated. Facts: Act.
	EventActOutdated
	// EventActRestored: an act waits. Facts: Act.
	EventActRestored

	// EventTransfer: money moved outside of trades. Transfers.
	EventTransfer

	// EventOrderAccepted: an order got an id. Orders.
	EventOrderAccepted
	// EventOrderRejected: an order was rejected. Reason; Orders, without ID and Ordinal.
	EventOrderRejected
	// EventOrderRepeated: a client id came again with the same fields; the outcome is the
	// first one. No list.
	EventOrderRepeated
	// EventOrderTriggered: a stop order was triggered. Orders.
	EventOrderTriggered
	// EventOrderAmended: an open order has new terms. Orders; Former has the old ones.
	EventOrderAmended
	// EventOrderPrevented: self-trade prevention took a part of the quantity of an order that
	// stays open. An order that takes has one, when it rests. Orders.
	EventOrderPrevented
	// EventOrderClosed: an order reached its final status. Orders.
	EventOrderClosed
	// EventOrderRestored: an open order. Orders.
	EventOrderRestored
	// EventRejectionRestored: the rejection of an order whose client id is kept. Reason;
	// Orders, as EventOrderRejected.
	EventRejectionRestored
	// EventTraded: two orders matched. Trades.
	EventTraded
	// EventLevel: a level of a book changed. Levels.
	EventLevel
	// EventLevelRestored: a level of a book. Levels.
	EventLevelRestored

	// EventNetworkState: the exchange's state on a network, after a change or a restart.
	// Wallet.Networks.
	EventNetworkState
	// EventDeposit: a deposit is new or changed. Wallet.Deposits.
	EventDeposit
	// EventDepositRestored: a deposit that the engine keeps. Wallet.Deposits.
	EventDepositRestored
	// EventWithdrawal: a withdrawal is new or changed. Wallet.Withdrawals.
	EventWithdrawal
	// EventWithdrawalRestored: a withdrawal that the engine keeps.
	// Wallet.Withdrawals.
	EventWithdrawalRestored
	// EventSigned: a transaction of the exchange is new, changed or restored.
	// Wallet.Signed.
	EventSigned
	// EventUnspent: an output of the exchange is new, reserved, free, gone or restored.
	// Wallet.Unspent.
	EventUnspent
	// EventHolding: an address of the exchange has a new balance. Wallet.Holdings.
	EventHolding
	// EventNonce: a sending address's next nonce. Wallet.Nonces.
	EventNonce
	// EventAddressSaved: an entry of an address book is new or restored, or its trust
	// changed. Wallet.Addresses.
	EventAddressSaved
	// EventAddressForgotten: an entry was removed. Wallet.Addresses.
	EventAddressForgotten
)

// Event is one fact about a command's effect, in order.
type Event struct {
	Kind   EventKind
	Reason Reason
	// At indexes the entry in the list that belongs to Kind.
	At uint32
	// StreamSeq is the event's position in a stream of its account: the stream of orders for
	// an order's event, the stream of transfers for a deposit or withdrawal. Zero for other
	// events.
	StreamSeq uint64
}

// Events collects the effects of a command in flat lists by type of entry: nothing is
// allocated once they have grown. The caller owns and reuses it.
type Events struct {
	// List holds the events in the order in which they happened.
	List []Event

	Orders    []Order
	Trades    []Trade
	Levels    []Level
	Transfers []Transfer
	Facts     []Fact
	// Balances holds the new state of each touched balance after each posting, in order.
	Balances []Balance
	// Moved holds the new sums of each hour of an account in which a movement was counted or
	// taken back, in order, and those of a snapshot.
	Moved []Moved
	// Wallet holds the entries of the wallet's events.
	Wallet WalletEvents
	// Former holds the terms that an amended order had. A command amends at most one; without
	// an EventOrderAmended the value is that of an earlier command.
	Former Terms

	Outcome Outcome
}

// WalletEvents are the lists of the wallet's events. Memory that their entries point to
// is never changed.
type WalletEvents struct {
	Networks    []NetworkState
	Deposits    []Deposit
	Withdrawals []Withdrawal
	Signed      []SignedTx
	Unspent     []Unspent
	Holdings    []Holding
	Nonces      []Nonce
	Addresses   []SavedAddress
	// any is true if a list has an entry; Reset skips the lists after the commands of
	// traders.
	any bool
}

func (w *WalletEvents) reset() {
	w.Networks, w.Deposits, w.Withdrawals = w.Networks[:0], w.Deposits[:0], w.Withdrawals[:0]
	w.Signed, w.Unspent, w.Holdings = w.Signed[:0], w.Unspent[:0], w.Holdings[:0]
	w.Nonces, w.Addresses = w.Nonces[:0], w.Addresses[:0]
	w.any = false
}

// Reset empties e and keeps its memory.
func (e *Events) Reset() {
	// One by one: a tuple assignment would write the pointers and capacities as well.
	e.List = e.List[:0]
	e.Orders = e.Orders[:0]
	e.Trades = e.Trades[:0]
	e.Levels = e.Levels[:0]
	e.Transfers = e.Transfers[:0]
	e.Facts = e.Facts[:0]
	e.Balances = e.Balances[:0]
	e.Moved = e.Moved[:0]
	e.Outcome = Outcome{}
	if e.Wallet.any {
		e.Wallet.reset()
	}
}

func (e *Events) add(kind EventKind, reason Reason, at int) {
	e.List = append(e.List, Event{Kind: kind, Reason: reason, At: uint32(at)})
}

// Refuse adds a refusal and makes it the outcome. It is never inlined: rare code must not
// take registers from the hot path.
//
//go:noinline
func (e *Events) Refuse(reason Reason) {
	e.add(EventRefused, reason, 0)
	e.Outcome.Reason = reason
}

// Repeat adds the repetition of a request and reports its first outcome.
func (e *Events) Repeat(first Outcome) {
	e.add(EventOrderRepeated, first.Reason, 0)
	e.Outcome = first
	e.Outcome.Repeated = true
}

// AddFact adds an event of a kind with a fact.
func (e *Events) AddFact(kind EventKind, fact Fact) {
	e.add(kind, 0, len(e.Facts))
	e.Facts = append(e.Facts, fact)
}

// The hot lists are filled in place: an added entry keeps the values that an earlier
// command left, and the caller sets every field. Zeroing entries first, or copying them
// from elsewhere, would double the stores of a command, and the store buffer bounds its
// speed.

// AddOrder adds an event of a kind and returns its order. The caller sets every field;
// the pointer is valid until the next AddOrder or Reject.
func (e *Events) AddOrder(kind EventKind) *Order {
	n := len(e.Orders)
	e.add(kind, 0, n)
	if n < cap(e.Orders) {
		e.Orders = e.Orders[:n+1]
	} else {
		e.Orders = append(e.Orders, Order{})
	}
	return &e.Orders[n]
}

// Reject adds the rejection of an order and makes it the outcome. It is never inlined, as
// Refuse.
//
//go:noinline
func (e *Events) Reject(o *Order, reason Reason) {
	e.add(EventOrderRejected, reason, len(e.Orders))
	e.Orders = append(e.Orders, *o)
	e.Outcome.Reason = reason
}

// AddRejection adds the restored rejection of an order.
func (e *Events) AddRejection(o *Order, reason Reason) {
	e.add(EventRejectionRestored, reason, len(e.Orders))
	e.Orders = append(e.Orders, *o)
}

// AddTrade adds a trade. The caller sets every field; the pointer is valid until the next
// AddTrade.
func (e *Events) AddTrade() *Trade {
	n := len(e.Trades)
	e.add(EventTraded, 0, n)
	if n < cap(e.Trades) {
		e.Trades = e.Trades[:n+1]
	} else {
		e.Trades = append(e.Trades, Trade{})
	}
	return &e.Trades[n]
}

// AddLevel adds an event of a kind and returns its level. The caller sets every field;
// the pointer is valid until the next AddLevel.
func (e *Events) AddLevel(kind EventKind) *Level {
	n := len(e.Levels)
	e.add(kind, 0, n)
	if n < cap(e.Levels) {
		e.Levels = e.Levels[:n+1]
	} else {
		e.Levels = append(e.Levels, Level{})
	}
	return &e.Levels[n]
}

// AddBalance adds the state of a balance after a posting.
func (e *Events) AddBalance(account AccountID, asset AssetID, available, held Amount) {
	n := len(e.Balances)
	if n < cap(e.Balances) {
		e.Balances = e.Balances[:n+1]
	} else {
		e.Balances = append(e.Balances, Balance{})
	}
	b := &e.Balances[n]
	b.Account, b.Asset, b.Available, b.Held, b.StreamSeq = account, asset, available, held, 0
}

// AddTransfer adds a transfer.
func (e *Events) AddTransfer(t Transfer) {
	e.add(EventTransfer, 0, len(e.Transfers))
	e.Transfers = append(e.Transfers, t)
}

// addWallet appends entry to one of the wallet's lists and adds its event.
func addWallet[T any](e *Events, kind EventKind, list *[]T, entry *T) {
	e.add(kind, 0, len(*list))
	*list = append(*list, *entry)
	e.Wallet.any = true
}

// AddNetworkState adds the exchange's state on a network.
func (e *Events) AddNetworkState(n *NetworkState) {
	addWallet(e, EventNetworkState, &e.Wallet.Networks, n)
}

// AddDeposit adds an event of a kind with a deposit.
func (e *Events) AddDeposit(kind EventKind, d *Deposit) {
	addWallet(e, kind, &e.Wallet.Deposits, d)
}

// AddWithdrawal adds an event of a kind with a withdrawal.
func (e *Events) AddWithdrawal(kind EventKind, w *Withdrawal) {
	addWallet(e, kind, &e.Wallet.Withdrawals, w)
}

// AddSigned adds a transaction of the exchange.
func (e *Events) AddSigned(s *SignedTx) { addWallet(e, EventSigned, &e.Wallet.Signed, s) }

// AddUnspent adds an output of the exchange.
func (e *Events) AddUnspent(u *Unspent) { addWallet(e, EventUnspent, &e.Wallet.Unspent, u) }

// AddHolding adds the balance of an address.
func (e *Events) AddHolding(h *Holding) { addWallet(e, EventHolding, &e.Wallet.Holdings, h) }

// AddNonce adds a sending address's next nonce.
func (e *Events) AddNonce(n *Nonce) { addWallet(e, EventNonce, &e.Wallet.Nonces, n) }

// AddAddress adds an event of a kind with an entry of an address book.
func (e *Events) AddAddress(kind EventKind, a *SavedAddress) {
	addWallet(e, kind, &e.Wallet.Addresses, a)
}

// Fact is the entry of an event about definitions, accounts, keys and operators.
type Fact struct {
	On       bool
	FeeLevel uint8
	Tier     uint8
	MarketID MarketID
	Account  AccountID
	Key      KeyID
	Operator uint32
	Rules    uint32
	Maker    Rate
	Taker    Rate
	// Incarnation is set by EventRaised alone.
	Incarnation Incarnation

	LastPrice Price
	Trades    uint64
	Levels    uint64
	Orders    uint64
	Fills     uint64
	// Movements counts deposits and withdrawals.
	Movements uint64
	Streams   AccountStreams
	Until     Time
	Token     Token
	Digest    RowDigest

	Genesis      *Genesis
	Asset        *Asset
	Network      *Network
	NetworkAsset *NetworkAsset
	Market       *Market
	Fees         *FeeSchedule
	Tiers        *Tiers
	Staff        *Operator
	Limit        *ApprovalLimit
	Act          *Act
	Text         string
}

// Level is the state of one price of a book.
type Level struct {
	Market MarketID
	Side   Side
	Price  Price
	// Lots is the resting quantity; zero means that the level is gone.
	Lots Lots
	// Seq counts the market's level changes from one.
	Seq uint64
}

// Balance is an account's balance of an asset, after a posting.
type Balance struct {
	Account   AccountID
	Asset     AssetID
	Available Amount
	// Held is reserved for open orders and pending withdrawals.
	Held Amount
	// StreamSeq is the position of the posting in the stream of its account's balances; zero
	// outside of a command.
	StreamSeq uint64
}

// AccountStreams are the positions of the last events in the streams of an account. The
// position in the stream of its trades is the ordinal of its last fill.
type AccountStreams struct {
	Orders, Balances, Transfers uint64
}

// Outcome is the answer to the sender of a command.
type Outcome struct {
	// Reason is zero if the command was carried out.
	Reason Reason
	// Cancel is the reason for which a CommandReplace canceled nothing; zero if it did, and
	// in the outcomes of other commands. If it is Reason as well, nothing was placed either.
	Cancel Reason
	// Status is an order's status at the end of its command.
	Status OrderStatus
	// Repeated is true if a client id came again; the rest is the first outcome. It is true
	// for an amendment to the terms that the order has.
	Repeated bool
	// ID is the allotted or existing id: an order's, account's, key's, asset's,
	// network's, market's, withdrawal's, deposit's, address's or operator's, or that of an
	// act that waits.
	ID uint64
	// Filled is the quantity of an order that its command traded.
	Filled Lots
	// Second is the state of the second order of a list at the end of its command; zero for
	// other commands. Status and Filled are those of the first one, ID is the list's.
	Second OrderState
}

// OrderState is the part of an order that changes.
type OrderState struct {
	Status OrderStatus
	Filled Lots
}
