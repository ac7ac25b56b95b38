package bourse

// SavedAddress is an entry of an address book. Its name is stored outside the engine.
type SavedAddress struct {
	ID      AddressID
	Account AccountID
	Network NetworkID
	// Asset is the asset of the withdrawal that saved the address.
	Asset   AssetID
	Address string
	Memo    string
	Token   Token
	// Trusts lists, by ascending asset, the assets of which a person or a second factor
	// approved a withdrawal to the address.
	Trusts []Trust
}

// Trust limits withdrawals of an asset to a saved address that need no person's approval.
type Trust struct {
	Asset AssetID
	// Most is the greatest amount of one withdrawal, its fee excluded, from From on.
	Most Amount
	From Time
	// Greater replaces Most from GreaterFrom on. Both are zero while no greater amount is
	// approved.
	Greater     Amount
	GreaterFrom Time
}

// Covers reports whether a withdrawal of amount needs no person's approval at now.
func (t *Trust) Covers(amount Amount, now Time) bool {
	if t.GreaterFrom != 0 && t.GreaterFrom <= now {
		return !t.Greater.Less(amount)
	}
	return t.From <= now && !t.Most.Less(amount)
}
