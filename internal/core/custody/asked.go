package custody

import "github.com/bourse-exchange/bourse"

// plain takes out of a request what may differ when it comes again.
func plain(asked *bourse.Withdraw) bourse.Withdraw {
	w := *asked
	w.Save, w.Factor = bourse.Token{}, false
	return w
}

// Before looks for a request that an account made under the same name. It
// returns the first outcome, whether the same was asked for, and whether there is
// one.
func (c *Custody) Before(account bourse.AccountID, asked *bourse.Withdraw, now bourse.Time) (first bourse.Outcome, same, found bool) {
	if !asked.ClientID.Given() {
		return bourse.Outcome{}, false, false
	}
	return c.named.find(account, asked.ClientID, plain(asked), now)
}

// Remember takes the name of a request, if it has one, for its outcome.
func (c *Custody) Remember(account bourse.AccountID, asked *bourse.Withdraw, outcome bourse.Outcome, now bourse.Time) {
	if !asked.ClientID.Given() {
		return
	}
	c.named.add(account, asked.ClientID, plain(asked), outcome)
	if outcome.Reason != 0 {
		c.named.end(account, asked.ClientID, now)
	}
}

// Expire forgets the names of requests whose time is over, at most this many.
func (c *Custody) Expire(now bourse.Time, most int) { c.named.expire(now, most) }
