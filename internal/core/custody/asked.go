package custody

import "github.com/bourse-exchange/bourse"

// plain returns a request without the fields that may differ when it is repeated.
func plain(asked *bourse.Withdraw) bourse.Withdraw {
	w := *asked
	w.Save, w.Factor, w.Again = bourse.Token{}, false, false
	return w
}

// Before finds a request that an account made under the same client id or key. It returns
// the first outcome, whether both ask for the same, and whether there is one.
func (c *Custody) Before(
	account bourse.AccountID, asked *bourse.Withdraw, now bourse.Time,
) (first bourse.Outcome, same, found bool) {
	switch {
	case !asked.ClientID.IsZero():
		return c.named.find(account, asked.ClientID, plain(asked), now)
	case !asked.Once.IsZero():
		return c.keyed.find(account, asked.Once.Key, asked.Once.Body, now)
	}
	return bourse.Outcome{}, false, false
}

// Remember stores the outcome of a request under its client id or key, if it has one.
func (c *Custody) Remember(account bourse.AccountID, asked *bourse.Withdraw, outcome bourse.Outcome, now bourse.Time) {
	switch {
	case !asked.ClientID.IsZero():
		c.named.add(account, asked.ClientID, plain(asked), outcome)
	case !asked.Once.IsZero():
		c.keyed.add(account, asked.Once.Key, asked.Once.Body, outcome)
	}
	if outcome.Reason != 0 {
		c.over(account, asked, now)
	}
}

// over starts the time after which the client id or key of a request is free again.
func (c *Custody) over(account bourse.AccountID, asked *bourse.Withdraw, now bourse.Time) {
	switch {
	case !asked.ClientID.IsZero():
		c.named.end(account, asked.ClientID, now)
	case !asked.Once.IsZero():
		c.keyed.end(account, asked.Once.Key, now)
	}
}

// hasName reports whether an open withdrawal has its client id or key, if it bears one.
func (c *Custody) hasName(w *bourse.Withdrawal) bool {
	switch {
	case !w.ClientID.IsZero():
		return c.named.belongs(w.Account, w.ClientID, w.ID)
	case !w.Once.IsZero():
		return c.keyed.belongs(w.Account, w.Once.Key, w.ID)
	}
	return true
}

// Expire forgets client ids and keys whose time is over, at most the given number of each.
func (c *Custody) Expire(now bourse.Time, most int) {
	c.named.expire(now, most)
	c.keyed.expire(now, most)
}
