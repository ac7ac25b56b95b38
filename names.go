package bourse

import "time"

// Ids are dense, start at one and are allotted by the engine; zero is none.
type (
	// Seq numbers the commands of the journal.
	Seq uint64
	// AccountID names a customer's account, or one of the exchange's own.
	AccountID uint32
	// KeyID names an API key or a session.
	KeyID uint64
	// AssetID names an asset.
	AssetID uint16
	// NetworkID names a network that moves assets.
	NetworkID uint16
	// MarketID names a market.
	MarketID uint16
	// OrderID names an accepted order. Ids rise with acceptance across markets.
	OrderID uint64
)

// The exchange's own accounts. They hold no orders; the ledger lets them be
// owed as well as owe, because they stand for what is outside.
const (
	// AccountSandbox stands for the credits that a sandbox hands out.
	AccountSandbox AccountID = 1<<31 + iota
	// AccountTreasury is the operator's own money.
	AccountTreasury
	// AccountFees collects the fees of trades.
	AccountFees
	// AccountWithdrawalFees collects the fees of withdrawals.
	AccountWithdrawalFees
	// AccountPendingDeposits has what was mined and is not credited yet.
	AccountPendingDeposits
	// AccountParked has deposits that belong to nobody yet.
	AccountParked
	// AccountInTransit has what withdrawals paid and no block shows yet.
	AccountInTransit
	// AccountNetworkCosts owes what networks took for transactions.
	AccountNetworkCosts

	accountNetworks AccountID = 1<<31 + 1<<16
)

// NetworkAccount returns the account that stands for a network: what it owes
// is what the exchange owns on that network.
func NetworkAccount(n NetworkID) AccountID { return accountNetworks + AccountID(n) }

// IsCustomer reports whether a is a customer's account id.
func (a AccountID) IsCustomer() bool { return a > 0 && a < AccountSandbox }

// Symbol is the short name of an asset or network, such as BTC.
type Symbol string

// Pair is the name of a market, BASE/QUOTE.
type Pair string

// MakePair returns base/quote.
func MakePair(base, quote Symbol) Pair { return Pair(base) + "/" + Pair(quote) }

// ValidSymbol reports whether s matches ^[A-Z0-9_]{1,32}$.
func ValidSymbol(s Symbol) bool {
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 32
}

// ClientID is an order's name given by its client, padded with NUL; the zero
// value is none.
type ClientID [36]byte

// ParseClientID reads 1 to 36 characters of A-Z a-z 0-9 . _ : -. The error is
// an *Error with CodeInvalid.
func ParseClientID(s string) (id ClientID, err error) {
	if len(s) == 0 || len(s) > len(id) {
		return ClientID{}, Errorf(CodeInvalid, "must have 1 to %d characters", len(id))
	}
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != ':' && c != '-' {
			return ClientID{}, Errorf(CodeInvalid, "may hold A-Z a-z 0-9 . _ : - only")
		}
	}
	copy(id[:], s)
	return id, nil
}

// Given reports whether id is not the zero value.
func (id *ClientID) Given() bool { return id[0] != 0 }

// String returns the id without its padding.
func (id ClientID) String() string {
	for i, c := range id {
		if c == 0 {
			return string(id[:i])
		}
	}
	return string(id[:])
}

// Token is a random name under which an edge stores a pending row before the
// journal confirms it.
type Token [16]byte

// Time is an instant in microseconds since the Unix epoch. Engine time comes
// from the journal and never goes back.
type Time int64

// Spans of time, in microseconds.
const (
	Second Time = 1e6
	Minute      = 60 * Second
	Hour        = 60 * Minute
	Day         = 24 * Hour
)

// TimeOf converts a standard time.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Std returns t as a standard time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Seconds returns the Unix seconds of t, rounded down.
func (t Time) Seconds() int64 {
	s := int64(t) / int64(Second)
	if int64(t)%int64(Second) < 0 {
		s--
	}
	return s
}

// Append appends the Unix seconds of t with six decimals. t must not be
// negative.
func (t Time) Append(dst []byte) []byte {
	return appendFixed64(dst, uint64(t), 6)
}

// Floor returns the start of the span that holds t; spans are counted from the
// epoch.
func (t Time) Floor(span Time) Time { return t - t%span }
