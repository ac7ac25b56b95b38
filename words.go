package bourse

// The words below are those of the public interfaces; index zero is what an
// absent value prints as.
var (
	sideWords      = [...]string{"", "BUY", "SELL"}
	typeWords      = [...]string{"", "LIMIT", "MARKET", "STOP_LIMIT"}
	tifWords       = [...]string{"", "GTC", "FOK", "IOC"}
	selfTradeWords = [...]string{"", "none", "cancel_newest", "cancel_oldest", "cancel_both"}
	statusWords    = [...]string{"", "OPEN", "FILLED", "CANCELED", "KILLED"}
	roleWords      = [...]string{"", "MAKER", "TAKER"}
	stateWords     = [...]string{"", "open", "cancel_only", "halted", "delisted"}
	walletWords    = [...]string{"", "PENDING", "PROCESSING", "PENDING_CANCEL", "CANCELED", "DONE"}
	signedWords    = [...]string{"", "withdrawal", "sweep", "top_up"}
	signedStates   = [...]string{"", "waiting", "accepted", "mined", "final", "dropped"}
	haltWords      = [...]string{"", "reorganisation", "deep_reorganisation", "strange_spend"}
)

func word[E ~uint8](words []string, e E) string {
	if int(e) < len(words) {
		return words[e]
	}
	return "unknown"
}

func parseWord[E ~uint8](words []string, s string) (E, bool) {
	for i, w := range words[1:] {
		if w == s {
			return E(i + 1), true
		}
	}
	return 0, false
}

// String returns BUY or SELL.
func (s Side) String() string { return word(sideWords[:], s) }

// ParseSide reads BUY or SELL.
func ParseSide(s string) (Side, bool) { return parseWord[Side](sideWords[:], s) }

// String returns LIMIT, MARKET or STOP_LIMIT.
func (t OrderType) String() string { return word(typeWords[:], t) }

// ParseOrderType reads LIMIT, MARKET or STOP_LIMIT.
func ParseOrderType(s string) (OrderType, bool) { return parseWord[OrderType](typeWords[:], s) }

// String returns GTC, FOK or IOC.
func (t TimeInForce) String() string { return word(tifWords[:], t) }

// ParseTimeInForce reads GTC, FOK or IOC.
func ParseTimeInForce(s string) (TimeInForce, bool) { return parseWord[TimeInForce](tifWords[:], s) }

// String returns none, cancel_newest, cancel_oldest or cancel_both.
func (m SelfTradeMode) String() string { return word(selfTradeWords[:], m) }

// ParseSelfTradeMode reads none, cancel_newest, cancel_oldest or cancel_both.
func ParseSelfTradeMode(s string) (SelfTradeMode, bool) {
	return parseWord[SelfTradeMode](selfTradeWords[:], s)
}

// String returns OPEN, FILLED, CANCELED or KILLED.
func (s OrderStatus) String() string { return word(statusWords[:], s) }

// String returns MAKER or TAKER.
func (r Role) String() string { return word(roleWords[:], r) }

// String returns open, cancel_only, halted or delisted.
func (s MarketState) String() string { return word(stateWords[:], s) }

// ParseMarketState reads open, cancel_only, halted or delisted.
func ParseMarketState(s string) (MarketState, bool) { return parseWord[MarketState](stateWords[:], s) }

// String returns PENDING, PROCESSING, PENDING_CANCEL, CANCELED or DONE.
func (s WalletStatus) String() string { return word(walletWords[:], s) }

// ParseWalletStatus reads a status as String writes it.
func ParseWalletStatus(s string) (WalletStatus, bool) {
	return parseWord[WalletStatus](walletWords[:], s)
}

// String returns withdrawal, sweep or top_up.
func (k SignedKind) String() string { return word(signedWords[:], k) }

// String returns waiting, accepted, mined, final or dropped.
func (s SignedState) String() string { return word(signedStates[:], s) }

// String returns reorganisation, deep_reorganisation or strange_spend, or
// nothing.
func (h Halt) String() string { return word(haltWords[:], h) }
