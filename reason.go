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
	// PriceOutOfRange: beyond the market's highest price or its level limit.
	PriceOutOfRange
	// AccountFrozen: the account may not place orders.
	AccountFrozen
	// Overflow: a total does not fit 128 bits.
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
