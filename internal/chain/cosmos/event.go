package cosmos

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Events of the bank, which tell each change of a balance.
const (
	eventSpent    = "coin_spent"
	eventReceived = "coin_received"
)

// event is a module's event of a transaction.
type event struct {
	Type       string `json:"type"`
	Attributes []struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	} `json:"attributes"`
}

// get returns the value of an attribute.
func (e *event) get(key string) string {
	for i := range e.Attributes {
		if e.Attributes[i].Key == key {
			return e.Attributes[i].Value
		}
	}
	return ""
}

// outcome is the result of a transaction.
type outcome struct {
	Code   *uint32 `json:"code"`
	Events []event `json:"events"`
}

// sum is an amount of a listed coin, and its place among the event's coins.
type sum struct {
	coin   chain.CoinID
	amount bourse.Amount
	at     uint32
}

// sums reads a list of coins, such as 12uatom,7ibc/27394F…, and returns the listed ones, and the length of the list. It leaves
// out an amount above every ledger's, which stays on its address.
func (c *Codec) sums(text string) (list []sum, all uint32) {
	for part := range strings.SplitSeq(text, ",") {
		all++
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits <= 0 {
			continue
		}
		coin, listed := c.denoms[part[digits:]]
		amount, fits := parseUnits(part[:digits])
		if listed && fits && !amount.IsZero() {
			list = append(list, sum{coin, amount, all - 1})
		}
	}
	return list, all
}

// effects returns the transfers of a transaction that touches the exchange, and nothing of others. Indices of credits
// count all coins that the transaction's events say were received, so that a later listing changes none.
func (c *Codec) effects(tx []byte, o *outcome) (debits []chain.Debit, credits []chain.Credit) {
	if !c.touches(o) {
		return nil, nil
	}
	memo, failed, next := memoOf(tx), *o.Code != 0, uint32(0)
	for i := range o.Events {
		e := &o.Events[i]
		switch e.Type {
		case eventSpent:
			list, _ := c.sums(e.get("amount"))
			for _, s := range list {
				debits = append(debits, chain.Debit{Address: e.get("spender"), Coin: s.coin, Amount: s.amount})
			}
		case eventReceived:
			list, all := c.sums(e.get("amount"))
			if e.get("receiver") == c.fees {
				list = nil // the fee is a debit alone
			}
			for _, s := range list {
				credits = append(credits, chain.Credit{
					Index: next + s.at, Address: e.get("receiver"), Memo: memo, Coin: s.coin, Amount: s.amount,
				})
			}
			next += all
		}
	}
	if failed {
		credits = nil
	}
	return debits, credits
}

// touches reports whether coins moved from or to the exchange.
func (c *Codec) touches(o *outcome) bool {
	for i := range o.Events {
		e := &o.Events[i]
		if e.Type == eventSpent && e.get("spender") == c.hot || e.Type == eventReceived && e.get("receiver") == c.hot {
			return true
		}
	}
	return false
}

// Messages of the bank, in whose transactions the sender writes the memo.
var bankSends = map[string]bool{typeSend: true, "/cosmos.bank.v1beta1.MsgMultiSend": true}

// memoOf returns the memo of a transaction that has bank sends alone. It is empty for every other one, also for one with a
// memo that no account has.
func memoOf(tx []byte) string {
	body, err := find(tx, 1)
	if err != nil {
		return ""
	}
	memo, sends := "", true
	err = fields(body, func(f field) error {
		switch f.number {
		case 1:
			url, err := find(f.bytes, 1)
			sends = sends && err == nil && bankSends[string(url)]
		case 2:
			memo = string(f.bytes)
		}
		return nil
	})
	if _, refused := chain.ParseMemo(memo); err != nil || !sends || refused != nil {
		return ""
	}
	return memo
}
