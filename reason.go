package bourse

// Reason is the exchange's reason for a refusal; zero means none.
type Reason uint8

// The closed list of reasons for rejecting an order.
const (
	// InsufficientFunds: less is available than the order must hold.
	InsufficientFunds Reason = iota + 1
	// BelowMinOrder: the order is worth less than the market's minimum.
	BelowMinOrder
	// MarketClosed: the market takes no orders now.
	MarketClosed
	// TooManyOrders: the account has the maximum of open orders.
	TooManyOrders
	// DuplicateClientID: the client id names an order with other fields.
	DuplicateClientID
	// WouldTake: a post-only order would trade at once.
	WouldTake
	// PriceOutOfRange: beyond the market's highest price or its band.
	PriceOutOfRange
	// AccountFrozen: the account may not place orders.
	AccountFrozen
	// Overflow: a total does not fit 128 bits, or a level's lots do not fit their bound.
	Overflow
	// NoCollar: the market has no collar to bound the cost of the order.
	NoCollar
	// TradeLimit: the account's tier lets it give no more in trades now.
	TradeLimit
)

// The reasons for refusing other commands.
const (
	// UnknownAccount: no such account id was allotted.
	UnknownAccount Reason = iota + 32
	// UnknownMarket: no such market.
	UnknownMarket
	// UnknownAsset: no such asset.
	UnknownAsset
	// UnknownNetwork: no such network.
	UnknownNetwork
	// UnknownKey: no such API key, or already revoked.
	UnknownKey
	// OrderNotFound: unknown, of another account, or closed.
	OrderNotFound
	// MarketHaltedNow: the market takes no cancels now.
	MarketHaltedNow
	// BadDefinition: the definition breaks a rule of its kind.
	BadDefinition
	// FixedField: the definition changes a field that never changes.
	FixedField
	// SandboxOnly: production exchanges create no money.
	SandboxOnly
	// OutOfOrder: genesis must be the first command, and the only genesis.
	OutOfOrder
	// TooMany: the ids of this kind, or those of one account, are used up.
	TooMany
	// Voided: an operator voided this command of the journal.
	Voided

	// NotOnNetwork: the asset does not move on this network.
	NotOnNetwork
	// WithdrawalsClosed: the asset or network takes no new withdrawals.
	WithdrawalsClosed
	// BadPrecision: the network cannot move so many decimals.
	BadPrecision
	// FeeOutOfRange: the fee is outside the network's terms.
	FeeOutOfRange
	// BelowMinWithdrawal: the amount is below the minimum.
	BelowMinWithdrawal
	// MemoNotAllowed: the network has no memos.
	MemoNotAllowed
	// TooManyWithdrawals: the account has the maximum of open withdrawals.
	TooManyWithdrawals
	// WithdrawalNotFound: unknown, of another account, final, or to be ended already.
	WithdrawalNotFound
	// WithdrawalSigned: a signed withdrawal cannot be canceled.
	WithdrawalSigned
	// WithdrawalsPaused: the network's withdrawals are stopped.
	WithdrawalsPaused
	// NotSigned: the withdrawal has no transaction, or the transaction is unknown.
	NotSigned
	// NotProcessing: the withdrawal does not wait for a signature.
	NotProcessing
	// AlreadyMined: the transaction is in the chain.
	AlreadyMined
	// InputTaken: an input is unknown or reserved.
	InputTaken
	// WrongNonce: the nonce is not the address's next.
	WrongNonce
	// DepositNotFound: no such deposit waits for an operator.
	DepositNotFound
	// AddressNotFound: no such entry in this address book.
	AddressNotFound
	// AddressTaken: the address is already in the address book.
	AddressTaken
	// BlockOutOfOrder: the block does not follow the tip.
	BlockOutOfOrder
	// BlockInconsistent: the block contradicts the known state of the network.
	BlockInconsistent
	// RewindTooDeep: the chain changed deeper than the exchange remembers.
	RewindTooDeep
	// DuplicateRequest: the key names a request with another body.
	DuplicateRequest
	// NotAskedBefore: a request for an earlier outcome names no earlier request.
	NotAskedBefore
	// UnknownConnection: no such connection is open, or its close cancels nothing.
	UnknownConnection
	// UnknownLevel: the schedule of fees has no such level.
	UnknownLevel
	// NothingLeft: the amended amount is not above the filled part of the order.
	NothingLeft
	// NotAmendable: the order names no price, and so no terms that could be amended.
	NotAmendable
	// ListNotFound: unknown, of another account, or without an open order.
	ListNotFound
	// WithdrawalLimit: the account's tier lets it withdraw no more now.
	WithdrawalLimit
	// UnknownTier: the catalogue has no such tier.
	UnknownTier

	// OperatorsOnly: only operators order this, because the exchange has an owner.
	OperatorsOnly
	// OwnerFirst: the first operator of an exchange must be an owner, and without one no
	// break-glass act is taken.
	OwnerFirst
	// UnknownOperator: no such operator.
	UnknownOperator
	// OperatorDisabled: the operator may do nothing any more.
	OperatorDisabled
	// RoleMissing: the operator's role does not suffice.
	RoleMissing
	// SameOperator: an operator cannot approve an act of their own.
	SameOperator
	// WrongDigest: the operator's assertion is not of this act.
	WrongDigest
	// ActNotFound: no such act waits, or not for this.
	ActNotFound
	// LastOwner: an exchange that has an owner keeps one.
	LastOwner
	// RecordOutOfOrder: the entry does not follow the last one of the signer's record.
	RecordOutOfOrder
	// ActOutdated: a command changed the subject of the act after it was ordered. Drop the act, and order it again.
	ActOutdated
	// CoolOpen: an order to cold storage is open, or its transaction may be mined still.
	CoolOpen
	// NothingToEnd: no order to cold storage is open, and no transaction of the kind waits for a block.
	NothingToEnd
	// WarmOpen: another transaction from cold storage to the hot wallet waits, or was given up and may be mined beside
	// this one.
	WarmOpen
	// ChainStands: the chain of the network did not change deeper than is remembered.
	ChainStands
	// NotPaid: no remembered block has a transaction of that hash which took the withdrawal's amount, in the place of
	// one that was given up for it.
	NotPaid
)

var reasonWords = map[Reason]string{
	InsufficientFunds: "INSUF_FUNDS",
	BelowMinOrder:     "INSUF_TRADE_AMOUNT",
	MarketClosed:      "MARKET_CLOSED",
	TooManyOrders:     "TOO_MANY_ORDERS",
	DuplicateClientID: "DUPLICATE_CLIENT_ID",
	WouldTake:         "WOULD_TAKE",
	PriceOutOfRange:   "PRICE_OUT_OF_RANGE",
	AccountFrozen:     "ACCOUNT_FROZEN",
	Overflow:          "OVERFLOW",
	NoCollar:          "NO_COLLAR",
	TradeLimit:        "TRADE_LIMIT",
	UnknownAccount:    "UNKNOWN_ACCOUNT",
	UnknownMarket:     "UNKNOWN_MARKET",
	UnknownAsset:      "UNKNOWN_ASSET",
	UnknownNetwork:    "UNKNOWN_NETWORK",
	UnknownKey:        "UNKNOWN_KEY",
	OrderNotFound:     "ORDER_NOT_FOUND",
	MarketHaltedNow:   "MARKET_HALTED",
	BadDefinition:     "BAD_DEFINITION",
	FixedField:        "FIXED_FIELD",
	SandboxOnly:       "SANDBOX_ONLY",
	OutOfOrder:        "OUT_OF_ORDER",
	TooMany:           "TOO_MANY",
	Voided:            "VOIDED",

	NotOnNetwork:       "NOT_ON_NETWORK",
	WithdrawalsClosed:  "WITHDRAWALS_CLOSED",
	BadPrecision:       "BAD_PRECISION",
	FeeOutOfRange:      "FEE_OUT_OF_RANGE",
	BelowMinWithdrawal: "BELOW_MIN_WITHDRAWAL",
	MemoNotAllowed:     "MEMO_NOT_ALLOWED",
	TooManyWithdrawals: "TOO_MANY_WITHDRAWALS",
	WithdrawalNotFound: "WITHDRAWAL_NOT_FOUND",
	WithdrawalSigned:   "WITHDRAWAL_SIGNED",
	WithdrawalsPaused:  "WITHDRAWALS_PAUSED",
	NotSigned:          "NOT_SIGNED",
	NotProcessing:      "NOT_PROCESSING",
	AlreadyMined:       "ALREADY_MINED",
	InputTaken:         "INPUT_TAKEN",
	WrongNonce:         "WRONG_NONCE",
	DepositNotFound:    "DEPOSIT_NOT_FOUND",
	AddressNotFound:    "ADDRESS_NOT_FOUND",
	AddressTaken:       "ADDRESS_TAKEN",
	BlockOutOfOrder:    "BLOCK_OUT_OF_ORDER",
	BlockInconsistent:  "BLOCK_INCONSISTENT",
	RewindTooDeep:      "REWIND_TOO_DEEP",
	DuplicateRequest:   "DUPLICATE_REQUEST",
	NotAskedBefore:     "NOT_ASKED_BEFORE",
	UnknownConnection:  "UNKNOWN_CONNECTION",
	UnknownLevel:       "UNKNOWN_LEVEL",
	NothingLeft:        "NOTHING_LEFT",
	NotAmendable:       "NOT_AMENDABLE",
	ListNotFound:       "LIST_NOT_FOUND",
	WithdrawalLimit:    "WITHDRAWAL_LIMIT",
	UnknownTier:        "UNKNOWN_TIER",

	OperatorsOnly:    "OPERATORS_ONLY",
	OwnerFirst:       "OWNER_FIRST",
	UnknownOperator:  "UNKNOWN_OPERATOR",
	OperatorDisabled: "OPERATOR_DISABLED",
	RoleMissing:      "ROLE_MISSING",
	SameOperator:     "SAME_OPERATOR",
	WrongDigest:      "WRONG_DIGEST",
	ActNotFound:      "ACT_NOT_FOUND",
	LastOwner:        "LAST_OWNER",
	RecordOutOfOrder: "RECORD_OUT_OF_ORDER",
	ActOutdated:      "ACT_OUTDATED",
	CoolOpen:         "COOL_OPEN",
	NothingToEnd:     "NOTHING_TO_END",
	WarmOpen:         "WARM_OPEN",
	ChainStands:      "CHAIN_STANDS",
	NotPaid:          "NOT_PAID",
}

// String returns the reason's word in the public interfaces.
func (r Reason) String() string {
	if w, ok := reasonWords[r]; ok {
		return w
	}
	if r == 0 {
		return ""
	}
	return "UNKNOWN"
}
