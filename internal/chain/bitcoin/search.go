package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// searchPage is the number of transactions that btcd is asked for at once.
const searchPage = 100

// found is a transaction in btcd's index of addresses.
type found struct {
	Hex string `json:"hex"`
	ID  string `json:"txid"`
}

// search returns an address's balance from a node that indexes transactions by address (btcd's
// addrindex) and does not count outputs.
func (c *Client) search(ctx context.Context, address string) (sum bourse.Amount, err error) {
	script, _, err := c.params.scriptOf(address)
	if err != nil {
		return sum, err
	}
	counted := map[chain.Hash]bool{}
	for skip := 0; ; skip += searchPage {
		var page []found
		err := c.ask(ctx, &page, "searchrawtransactions", address, 1, skip, searchPage)
		if node, none := refused(err, codeMissing); none && strings.Contains(node.Message, "No information") {
			return sum, nil
		}
		if err != nil {
			return sum, sure(err)
		}
		if len(page) == 0 || len(page) > searchPage {
			return sum, odd("a search of %d transactions", len(page))
		}

		for i := range page {
			t, hash, err := page[i].tx()
			if err != nil {
				return sum, err
			}
			if counted[hash] {
				continue // it moved to this page meanwhile
			}
			counted[hash] = true
			has, err := c.unspentOf(ctx, &t, hash, script)
			if err != nil {
				return sum, err
			}
			sum = sum.Plus(has)
		}
		if len(page) < searchPage {
			return sum, nil
		}
	}
}

// tx returns the transaction, whose bytes have its hash.
func (f *found) tx() (t rawTx, hash chain.Hash, err error) {
	hash, ok := parseHash(f.ID)
	raw, err := hex.DecodeString(f.Hex)
	if !ok || err != nil {
		return t, hash, odd("a transaction without its bytes")
	}
	if t, err = parseTx(raw); err != nil || t.hash() != hash {
		return t, hash, odd("a transaction that is not the one named")
	}
	return t, hash, nil
}

// unspentOf returns the sum of a transaction's unspent outputs under a script.
func (c *Client) unspentOf(
	ctx context.Context, t *rawTx, hash chain.Hash, script []byte,
) (sum bourse.Amount, err error) {
	_, outputs := t.parts()
	for n := range outputs {
		if !bytes.Equal(outputs[n].script, script) {
			continue
		}
		if outputs[n].amount > most {
			return sum, odd("an output of %d", outputs[n].amount)
		}
		there, err := c.unspent(ctx, chain.Outpoint{Tx: hash, Index: uint32(n)})
		if err != nil {
			return sum, err
		}
		if there {
			sum = sum.Plus(bourse.Units(outputs[n].amount))
		}
	}
	return sum, nil
}
