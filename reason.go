package bourse

// Reason is why the exchange said no. Zero means that it did not.
type Reason uint8

// The reasons for which an order is rejected: a closed list.
const (
	// InsufficientFunds: less is available than the order must hold.
	InsufficientFunds Reason = iota + 1
	// BelowMinOrder: the order is worth less than the market's least.
	BelowMinOrder
	// MarketClosed: the market takes no orders now.
	MarketClosed
	// TooManyOrders: the account has the most open orders allowed here.
	TooManyOrders
	// DuplicateClientID: the client id stands for an order with other fields.
	DuplicateClientID
	// WouldTake: a post-only order would trade at once.
	WouldTake
	// PriceOutOfRange: beyond the market's highest price or its band.
	PriceOutOfRange
	// AccountFrozen: the account may not place orders.
	AccountFrozen
	// Overflow: a total does not fit 128 bits, or a price has more lots than fit.
	Overflow
)

// The reasons for which other commands are refused.
const (
	// UnknownAccount: no such account id was allotted.
	UnknownAccount Reason = iota + 32
	// UnknownMarket: no such market.
	UnknownMarket
	// UnknownAsset: no such asset.
	UnknownAsset
	// UnknownNetwork: no such network.
	UnknownNetwork
	// UnknownKey: no such API key, or revoked already.
	UnknownKey
	// OrderNotFound: unknown, somebody else's, or done.
	OrderNotFound
	// MarketHaltedNow: the market takes no cancels now.
	MarketHaltedNow
	// BadDefinition: the definition breaks a rule of its kind.
	BadDefinition
	// FixedField: the definition changes what never changes.
	FixedField
	// SandboxOnly: production exchanges create no money.
	SandboxOnly
	// OutOfOrder: genesis must come first, and once.
	OutOfOrder
	// TooMany: the ids of this kind, or those of one account, are used up.
	TooMany
	// Voided: an operator took this command out of the journal's effect.
	Voided

	// NotOnNetwork: the asset does not move on this network.
	NotOnNetwork
	// WithdrawalsClosed: the asset or network takes no new withdrawals.
	WithdrawalsClosed
	// BadPrecision: the network cannot move so many decimals.
	BadPrecision
	// FeeOutOfRange: the fee is not what the network's terms allow.
	FeeOutOfRange
	// BelowMinWithdrawal: less than the least withdrawal.
	BelowMinWithdrawal
	// MemoNotAllowed: the network knows no memos.
	MemoNotAllowed
	// TooManyWithdrawals: the account has the most open withdrawals allowed.
	TooManyWithdrawals
	// WithdrawalNotFound: unknown, somebody else's, or over.
	WithdrawalNotFound
	// WithdrawalSent: the withdrawal was signed; it is not canceled any more.
	WithdrawalSent
	// WithdrawalsPaused: the network's withdrawals are stopped.
	WithdrawalsPaused
	// NotSigned: the withdrawal has no transaction, or the transaction is
	// unknown.
	NotSigned
	// NotProcessing: the withdrawal does not wait for a signature.
	NotProcessing
	// AlreadyMined: the transaction is in the chain.
	AlreadyMined
	// InputTaken: an output to spend is unknown, or reserved.
	InputTaken
	// WrongNonce: the nonce is not the address's next.
	WrongNonce
	// DepositNotFound: no such deposit waits for an operator.
	DepositNotFound
	// AddressNotFound: no such entry in this address book.
	AddressNotFound
	// AddressTaken: the address is in the address book already.
	AddressTaken
	// BlockOutOfOrder: the block does not follow the last one taken in.
	BlockOutOfOrder
	// BlockInconsistent: the block contradicts what is known of the network.
	BlockInconsistent
	// RewindTooDeep: the chain changed deeper than the exchange remembers.
	RewindTooDeep
	// DuplicateRequest: the key of the request stands for another one.
	DuplicateRequest
	// NotAskedBefore: what was to be a request once more is a new one.
	NotAskedBefore
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
	WithdrawalSent:     "WITHDRAWAL_SENT",
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
}

// String returns the reason's word of the public interfaces.
func (r Reason) String() string {
	if w, ok := reasonWords[r]; ok {
		return w
	}
	if r == 0 {
		return ""
	}
	return "UNKNOWN"
}
