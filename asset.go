package bourse

// Symbol is the short name of an asset or network, such as BTC.
type Symbol string

// ValidSymbol reports whether s matches ^[A-Z0-9_]{1,32}$.
func ValidSymbol(s Symbol) bool {
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 32
}

// Asset is a coin or token, counted in units of 10^-Scale.
type Asset struct {
	ID     AssetID
	Symbol Symbol
	Name   string
	// Scale is the ledger scale in decimals, at most MaxScale. It never changes.
	Scale uint8
	// Enabled is false for a hidden asset that takes no new business.
	Enabled bool
	// Experimental marks an asset listed for tests.
	Experimental bool
}

// AssetAmount is an amount of an asset, in ledger units.
type AssetAmount struct {
	Asset  AssetID
	Amount Amount
}
