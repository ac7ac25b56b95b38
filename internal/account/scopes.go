package account

import (
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Scopes is a set of permissions.
type Scopes uint8

// The scopes.
const (
	// ScopeRead reads balances, orders and history.
	ScopeRead Scopes = 1 << iota
	// ScopeTrade places and cancels orders.
	ScopeTrade
	// ScopeWithdraw withdraws money.
	ScopeWithdraw
	// ScopeAccount changes credentials. Only sessions have it: a key that could make keys
	// would outlive its revocation.
	ScopeAccount

	allScopes = ScopeRead | ScopeTrade | ScopeWithdraw
	// DefaultScopes are the scopes of a key that was ordered without any.
	DefaultScopes = ScopeRead | ScopeTrade

	sessionScopes = allScopes | ScopeAccount
)

// scopeWords are the scopes' names, by bit.
var scopeWords = [...]string{"read", "trade", "withdraw"}

// ParseScopes reads a list like read,trade,withdraw. The error is an
// *bourse.Error with CodeInvalid.
func ParseScopes(list string) (Scopes, error) {
	var s Scopes
	for word := range strings.SplitSeq(list, ",") {
		scope := scopeNamed(strings.TrimSpace(word))
		if scope == 0 {
			return 0, bourse.Errorf(bourse.CodeInvalid, "scopes: %q is none of %s", word, allScopes)
		}
		s |= scope
	}
	return s, nil
}

func scopeNamed(word string) Scopes {
	for i, w := range scopeWords {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether s holds all of the scopes.
func (s Scopes) Has(scopes Scopes) bool { return s&scopes == scopes }

// Words returns the scopes' names.
func (s Scopes) Words() []string {
	words := make([]string, 0, len(scopeWords))
	for i, w := range scopeWords {
		if s.Has(1 << i) {
			words = append(words, w)
		}
	}
	return words
}

// String returns the scopes' names, with commas between them.
func (s Scopes) String() string { return strings.Join(s.Words(), ",") }

// valid reports whether s holds at least one scope and no unknown one.
func (s Scopes) valid() bool { return s != 0 && s&^allScopes == 0 }
