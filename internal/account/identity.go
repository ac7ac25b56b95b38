// Package account knows who is asking.
package account

import "github.com/bourse-exchange/bourse"

// Secret is a credential in clear: it prints as *** wherever it is printed.
type Secret string

// Scopes is a set of permissions.
type Scopes uint8

// The scopes.
const (
	ScopeRead Scopes = 1 << iota
	ScopeTrade
	ScopeWithdraw
)

// Has reports whether s holds all of the scopes.
func (s Scopes) Has(scopes Scopes) bool { return s&scopes == scopes }

// String returns the scopes' names.
func (s Scopes) String() string {
	switch s {
	case ScopeRead:
		return "read"
	case ScopeTrade:
		return "trade"
	case ScopeWithdraw:
		return "withdraw"
	}
	return ""
}

// Identity is who is asking.
type Identity struct {
	Account bourse.AccountID
	Key     bourse.KeyID
	Scopes  Scopes
}
