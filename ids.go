package bourse

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
	// Incarnation counts the lives of an exchange from one. It rises when a journal that may
	// lack the end of another one becomes the exchange: at most one machine has the highest.
	Incarnation uint32
	// ConnectionID names a connection whose close cancels its account's orders.
	ConnectionID uint64
)

// The ids of the wallet are dense, start at one and are allotted by the engine.
type (
	// WalletID names a deposit or a withdrawal of an account; both share one sequence.
	// The interfaces call it xid.
	WalletID uint64
	// DepositID names a deposit from its first sight, also while it is parked without an
	// account.
	DepositID uint64
	// AddressID names an entry of an address book.
	AddressID uint32
)

// The exchange's own accounts. They hold no orders. Their balances may be negative,
// because they stand for money outside the exchange.
const (
	// AccountSandbox stands for the credits of a sandbox.
	AccountSandbox AccountID = 1<<31 + iota
	// AccountTreasury is the operator's own money.
	AccountTreasury
	// AccountFees collects the fees of trades.
	AccountFees
	// AccountWithdrawalFees collects the fees of withdrawals.
	AccountWithdrawalFees
	// AccountPendingDeposits has mined deposits that are not credited yet.
	AccountPendingDeposits
	// AccountParked has deposits without an owner yet.
	AccountParked
	// AccountInTransit has withdrawals that their network accepted and no block includes
	// yet.
	AccountInTransit
	// AccountNetworkCosts owes the fees that networks charged for transactions.
	AccountNetworkCosts

	accountNetworks AccountID = 1<<31 + 1<<16
)

// NetworkAccount returns the account that stands for a network. Its debt equals the
// exchange's money on that network.
func NetworkAccount(n NetworkID) AccountID { return accountNetworks + AccountID(n) }

// IsNetwork reports whether a stands for a network.
func (a AccountID) IsNetwork() bool { return a > accountNetworks }

// IsCustomer reports whether a is a customer's account id.
func (a AccountID) IsCustomer() bool { return a > 0 && a < AccountSandbox }

// ClientID is a client's name for its order, padded with NUL; the zero value is none.
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

// IsZero reports whether id is the zero value.
func (id *ClientID) IsZero() bool { return id[0] == 0 }

// String returns the id without its padding.
func (id ClientID) String() string {
	for i, c := range id {
		if c == 0 {
			return string(id[:i])
		}
	}
	return string(id[:])
}

// Token is a random name under which an interface stores a pending row before the journal
// confirms it.
type Token [16]byte
