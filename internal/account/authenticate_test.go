package account

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestGoodKeys wants a credential to be a live key's, with its token and its account: a
// row of another life of the journal has the same number.
func TestGoodKeys(t *testing.T) {
	f := newFacts()
	f.keys[7] = &keyFact{token: bourse.Token{1}, account: 3}
	for _, c := range []struct {
		key     bourse.KeyID
		account bourse.AccountID
		token   byte
		good    bool
	}{
		{7, 3, 1, true}, {7, 3, 2, false}, {7, 3, 0, false}, {7, 4, 1, false}, {8, 3, 1, false},
	} {
		row := &credential{Identity: Identity{Key: c.key, Account: c.account}, token: bourse.Token{c.token}}
		if got := f.good(row); got != c.good {
			t.Errorf("key %d of account %d with token %d: %v", c.key, c.account, c.token, got)
		}
	}
}
