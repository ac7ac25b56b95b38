package account

import (
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Scopes is a set of permissions.
type Scopes uint8

// The scopes.
const (
	// ScopeRead sees what the account has and did.
	ScopeRead Scopes = 1 << iota
	// ScopeTrade places and cancels orders.
	ScopeTrade
	// ScopeWithdraw takes money out.
	ScopeWithdraw
	// ScopeAccount changes who gets in. Sessions alone have it: a key that could
	// make keys would outlive its end.
	ScopeAccount

	allScopes = ScopeRead | ScopeTrade | ScopeWithdraw
	// DefaultScopes are those of a key that asks for none in particular.
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

// valid reports whether s holds at least one scope and none that is unknown.
func (s Scopes) valid() bool { return s != 0 && s&^allScopes == 0 }
