package bourse

// EventKind tags an [Event].
type EventKind uint8

// The closed set of events. Each says in which list of [Events] its entry is,
// and, for facts, which fields are filled. The Restored events rebuild what
// stands behind the engine from a snapshot: they state what earlier events
// announced.
const (
	// EventGenesis: the exchange was opened. Facts: Genesis.
	EventGenesis EventKind = iota + 1
	// EventRules: the rules changed. Facts: Rules.
	EventRules
	// EventNoted: an operator asked for something. Facts: Operator, Text.
	EventNoted
	// EventRefused: a command other than an order was turned down. Reason; no
	// list.
	EventRefused

	// EventAsset: an asset is defined so from here on. Facts: Asset.
	EventAsset
	// EventNetwork: a network is defined so from here on. Facts: Network.
	EventNetwork
	// EventNetworkAsset: an asset moves on a network so from here on. Facts:
	// NetworkAsset.
	EventNetworkAsset
	// EventMarket: a market is defined so, or in this state, from here on.
	// Facts: Market.
	EventMarket
	// EventMarketRestored: where a market stood. Facts: MarketID, LastPrice
	// (zero before the first trade), Trades and Levels, the numbers of its last
	// trade and level change.
	EventMarketRestored

	// EventAccountCreated: an account id was allotted. Facts: Account, Token, Digest of
	// its person's row, zero for none.
	EventAccountCreated
	// EventAccountFrozen: an account was frozen or unfrozen. Facts: Account, On.
	EventAccountFrozen
	// EventAccountHeld: no money leaves an account until a time. Facts: Account,
	// Until.
	EventAccountHeld
	// EventAccountFees: an account's own rates. Facts: Account, On, Maker,
	// Taker, FeeLevel.
	EventAccountFees
	// EventAccountRestored: where an account stood. Facts: Account, On if
	// frozen, Orders, Fills and Movements for how many it had, Token, Digest.
	EventAccountRestored
	// EventPersonChanged: the row of an account's person is another one. Facts:
	// Account, Digest.
	EventPersonChanged
	// EventKeyCreated: the id of an API key or a session was allotted, or it is
	// restored. Facts: Account, Key, Token (zero for a session), Digest.
	EventKeyCreated
	// EventKeyChanged: an API key's row is another one. Facts: as EventKeyCreated.
	EventKeyChanged
	// EventKeyRevoked: an API key or a session was ended, or its time is over. Facts:
	// Account, Key, Token.
	EventKeyRevoked
	// EventKeysRestored: how many API keys, or sessions, there ever were. Facts: Key,
	// the last.
	EventKeysRestored

	// EventTransfer: money moved outside of trades. Transfers.
	EventTransfer

	// EventOrderAccepted: an order has an id. Orders.
	EventOrderAccepted
	// EventOrderRejected: an order was turned down. Reason; Orders, without ID
	// and Ordinal.
	EventOrderRejected
	// EventOrderRepeated: a client id came again with the same fields; the
	// outcome is the first one. No list.
	EventOrderRepeated
	// EventOrderTriggered: a stop left its wait. Orders.
	EventOrderTriggered
	// EventOrderClosed: an order reached its final status. Orders.
	EventOrderClosed
	// EventOrderRestored: an open order. Orders.
	EventOrderRestored
	// EventTraded: two orders matched. Trades.
	EventTraded
	// EventLevel: a level of a book changed. Levels.
	EventLevel
	// EventLevelRestored: a level of a book. Levels.
	EventLevelRestored

	// EventNetworkState: where the exchange is on a network, after a change or a
	// restart. Wallet.Networks.
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
	// EventSigned: a transaction of the exchange is new or changed, or restored.
	// Wallet.Signed.
	EventSigned
	// EventUnspent: an output of the exchange is new, reserved, free, gone or
	// restored. Wallet.Unspent.
	EventUnspent
	// EventHolding: what an address of the exchange has now. Wallet.Holdings.
	EventHolding
	// EventNonce: a sending address's next nonce. Wallet.Nonces.
	EventNonce
	// EventAddressSaved: an entry of an address book is new or restored, or the
	// trust in it changed. Wallet.Addresses.
	EventAddressSaved
	// EventAddressForgotten: an entry ended. Wallet.Addresses.
	EventAddressForgotten
)

// Event is one thing that happened.
type Event struct {
	Kind   EventKind
	Reason Reason
	// At is the index of its entry in the list that belongs to its kind.
	At uint32
}

// Events receives what a command did, in flat lists by kind of entry: nothing
// is allocated once they have grown. The caller owns and reuses it.
type Events struct {
	// List holds the events in the order in which they happened.
	List []Event

	Orders    []Order
	Trades    []Trade
	Levels    []Level
	Transfers []Transfer
	Facts     []Fact
	// Balances holds the state of each touched balance after each posting, in
	// order.
	Balances []Balance
	// Wallet holds what the wallet's events tell.
	Wallet WalletEvents

	Outcome Outcome
}

// WalletEvents are the lists of the wallet's events. What their entries point to
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
	// any is true if there is an entry; commands of traders need not reset the
	// lists.
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
	// One by one: as a tuple, pointers and capacities would be written as well.
	e.List = e.List[:0]
	e.Orders = e.Orders[:0]
	e.Trades = e.Trades[:0]
	e.Levels = e.Levels[:0]
	e.Transfers = e.Transfers[:0]
	e.Facts = e.Facts[:0]
	e.Balances = e.Balances[:0]
	e.Outcome = Outcome{}
	if e.Wallet.any {
		e.Wallet.reset()
	}
}

func (e *Events) add(kind EventKind, reason Reason, at int) {
	e.List = append(e.List, Event{Kind: kind, Reason: reason, At: uint32(at)})
}

// Refuse adds a refusal and makes it the outcome. It is never inlined: what is
// rare must not take registers from what is not.
//
//go:noinline
func (e *Events) Refuse(reason Reason) {
	e.add(EventRefused, reason, 0)
	e.Outcome.Reason = reason
}

// Repeat adds the repetition of a request and makes its first outcome the
// outcome.
func (e *Events) Repeat(first Outcome) {
	e.add(EventOrderRepeated, first.Reason, 0)
	e.Outcome = first
	e.Outcome.Repeated = true
}

// AddFact adds an event of a kind with facts.
func (e *Events) AddFact(kind EventKind, fact Fact) {
	e.add(kind, 0, len(e.Facts))
	e.Facts = append(e.Facts, fact)
}

// The hot lists are filled in place: their entries are handed out with whatever
// an earlier command left in them, and whoever asked for one sets every field.
// Zeroing them first, or building them elsewhere and copying, would double the
// stores of a command, and the store buffer is what bounds its speed.

// AddOrder adds an event of a kind with an order, and returns the order, whose
// fields must all be set; the pointer is good until the next one.
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

// Reject adds the rejection of an order and makes it the outcome. It is never
// inlined, as Refuse.
//
//go:noinline
func (e *Events) Reject(o *Order, reason Reason) {
	e.add(EventOrderRejected, reason, len(e.Orders))
	e.Orders = append(e.Orders, *o)
	e.Outcome.Reason = reason
}

// AddTrade adds a trade, whose fields must all be set; the pointer is good until
// the next one.
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

// AddLevel adds an event of a kind with a level, whose fields must all be set;
// the pointer is good until the next one.
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
	b.Account, b.Asset, b.Available, b.Held = account, asset, available, held
}

// AddTransfer adds a transfer.
func (e *Events) AddTransfer(t Transfer) {
	e.add(EventTransfer, 0, len(e.Transfers))
	e.Transfers = append(e.Transfers, t)
}

// addWallet adds an event whose entry is the next of one of the wallet's lists.
func addWallet[T any](e *Events, kind EventKind, list *[]T, entry *T) {
	e.add(kind, 0, len(*list))
	*list = append(*list, *entry)
	e.Wallet.any = true
}

// AddNetworkState adds where the exchange is on a network.
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

// AddHolding adds what an address has.
func (e *Events) AddHolding(h *Holding) { addWallet(e, EventHolding, &e.Wallet.Holdings, h) }

// AddNonce adds a sending address's next nonce.
func (e *Events) AddNonce(n *Nonce) { addWallet(e, EventNonce, &e.Wallet.Nonces, n) }

// AddAddress adds an event of a kind with an entry of an address book.
func (e *Events) AddAddress(kind EventKind, a *SavedAddress) {
	addWallet(e, kind, &e.Wallet.Addresses, a)
}

// Fact is what an event tells about definitions, accounts and keys.
type Fact struct {
	On       bool
	FeeLevel uint8
	MarketID MarketID
	Account  AccountID
	Key      KeyID
	Operator uint32
	Rules    uint32
	Maker    Rate
	Taker    Rate

	LastPrice Price
	Trades    uint64
	Levels    uint64
	Orders    uint64
	Fills     uint64
	// Movements are deposits and withdrawals.
	Movements uint64
	Until     Time
	Token     Token
	Digest    RowDigest

	Genesis      *Genesis
	Asset        *Asset
	Network      *Network
	NetworkAsset *NetworkAsset
	Market       *Market
	Text         string
}

// Level is the state of one price of a book.
type Level struct {
	Market MarketID
	Side   Side
	Price  Price
	// Lots is what rests there now; zero means that the level is gone.
	Lots Lots
	// Seq counts the market's level changes from one.
	Seq uint64
}

// Balance is what an account has of an asset, after a posting.
type Balance struct {
	Account   AccountID
	Asset     AssetID
	Available Amount
	// Held is reserved for open orders and pending withdrawals.
	Held Amount
}

// TransferKind says why money moved outside of trades.
type TransferKind uint8

// The kinds of transfers.
const (
	// TransferCredit: a sandbox handed out money.
	TransferCredit TransferKind = iota + 1
	// TransferFeeSweep: fees went to the treasury.
	TransferFeeSweep
	// TransferDeposit: a deposit was mined, into pending deposits.
	TransferDeposit
	// TransferParked: money was mined that belongs to nobody yet.
	TransferParked
	// TransferAssigned: an operator found out whose parked deposit it is.
	TransferAssigned
	// TransferCredited: a deposit reached its depth and is the customer's.
	TransferCredited
	// TransferFunding: the treasury's money reached the exchange's addresses.
	TransferFunding
	// TransferWithdrawal: a withdrawal was accepted by its network.
	TransferWithdrawal
	// TransferWithdrawalFee: the fee of a withdrawal.
	TransferWithdrawalFee
	// TransferPaid: a withdrawal's transaction was mined.
	TransferPaid
	// TransferNetworkCost: what a network took for a transaction.
	TransferNetworkCost
	// TransferStrange: money left by a transaction that is not the exchange's.
	TransferStrange
	// TransferRewound: a posting of a block was taken back with its block.
	TransferRewound
	// TransferInternal: a withdrawal to an account of this exchange.
	TransferInternal
	// TransferRefund: an operator paid a withdrawal back.
	TransferRefund
	// TransferGiven: a customer gave money to another.
	TransferGiven
)

// Transfer is one double-entry posting outside of trades: From owes Amount
// more, or has it less, and To has it more.
type Transfer struct {
	Kind   TransferKind
	From   AccountID
	To     AccountID
	Asset  AssetID
	Amount Amount
}

// Outcome is what the sender of a command is told.
type Outcome struct {
	// Reason is zero when the command was carried out.
	Reason Reason
	// Status is an order's at the end of its command.
	Status OrderStatus
	// Repeated is true when a client id came again and this is the first
	// outcome.
	Repeated bool
	// ID is the id that was allotted or found: an order's, account's, key's,
	// asset's, network's, market's, withdrawal's, deposit's or address's.
	ID uint64
	// Filled is how much of an order its command traded.
	Filled Lots
}
