package custody

import "github.com/bourse-exchange/bourse"

const (
	// requestKept is how long a client id stays taken after its withdrawal
	// ended.
	requestKept = bourse.Day
	// maxEnded bounds the ended ones that are kept for each account.
	maxEnded = 10_000
)

// Requests remembers the client ids of withdrawals, so that a request that comes
// again is answered with its first outcome: while the withdrawal is open and for
// a day after that. A refusal is an outcome too.
type Requests struct {
	byName map[requestName]*request
	// ended are in the order of their ends; those that were forgotten before
	// their time are still among them.
	ended []*request
	// byAccount are each account's ended ones, in the same order.
	byAccount map[bourse.AccountID][]*request
}

type requestName struct {
	account bourse.AccountID
	id      bourse.ClientID
}

type request struct {
	account bourse.AccountID
	asked   bourse.Withdraw
	outcome bourse.Outcome
	// ended is when the withdrawal ended; zero while it is open.
	ended bourse.Time
}

func (r *request) name() requestName { return requestName{r.account, r.asked.ClientID} }

func newRequests() Requests {
	return Requests{byName: map[requestName]*request{}, byAccount: map[bourse.AccountID][]*request{}}
}

// Find looks for a request of an account with the same client id. It returns
// the first outcome, whether the fields are the same, and whether there is one.
func (q *Requests) Find(account bourse.AccountID, asked *bourse.Withdraw, now bourse.Time) (first bourse.Outcome, same, found bool) {
	r := q.byName[requestName{account, asked.ClientID}]
	if r != nil && r.ended != 0 && r.ended+requestKept < now {
		for q.byAccount[account][0] != r { // those that ended before have expired as well
			q.forget(q.byAccount[account][0])
		}
		q.forget(r)
		r = nil
	}
	if r == nil {
		return bourse.Outcome{}, false, false
	}
	return r.outcome, r.asked == plain(asked), true
}

// plain takes out of a request what may differ when it comes again.
func plain(asked *bourse.Withdraw) bourse.Withdraw {
	w := *asked
	w.Save, w.Factor = bourse.Token{}, false
	return w
}

// Add takes a client id for an open withdrawal.
func (q *Requests) Add(account bourse.AccountID, asked *bourse.Withdraw, outcome bourse.Outcome) {
	r := &request{account: account, asked: plain(asked), outcome: outcome}
	q.byName[r.name()] = r
}

// Refused takes a client id for a request that was refused.
func (q *Requests) Refused(account bourse.AccountID, asked *bourse.Withdraw, reason bourse.Reason, now bourse.Time) {
	q.Add(account, asked, bourse.Outcome{Reason: reason})
	q.End(account, asked.ClientID, now)
}

// End starts the time after which a client id is free again.
func (q *Requests) End(account bourse.AccountID, id bourse.ClientID, now bourse.Time) {
	r := q.byName[requestName{account, id}]
	r.ended = now
	q.retire(r)
}

func (q *Requests) retire(r *request) {
	q.ended = append(q.ended, r)
	list := append(q.byAccount[r.account], r)
	q.byAccount[r.account] = list
	if len(list) > maxEnded {
		q.forget(list[0])
	}
}

// forget frees a client id; it is its account's oldest.
func (q *Requests) forget(r *request) {
	delete(q.byName, r.name())
	if list := q.byAccount[r.account]; len(list) > 1 {
		list[0] = nil
		q.byAccount[r.account] = list[1:]
	} else {
		delete(q.byAccount, r.account)
	}
}

// Expire forgets requests whose time is over, at most this many.
func (q *Requests) Expire(now bourse.Time, most int) {
	for ; most > 0 && len(q.ended) > 0 && q.ended[0].ended+requestKept < now; most-- {
		r := q.ended[0]
		q.ended[0] = nil
		q.ended = q.ended[1:]
		if list := q.byAccount[r.account]; len(list) > 0 && list[0] == r {
			q.forget(r)
		}
	}
}

// live returns the ended requests that are remembered, oldest first.
func (q *Requests) live() []*request {
	var list []*request
	at := map[bourse.AccountID]int{}
	for _, r := range q.ended {
		// Each account's list is a tail of its part of the whole one.
		if kept := q.byAccount[r.account]; at[r.account] < len(kept) && kept[at[r.account]] == r {
			at[r.account]++
			list = append(list, r)
		}
	}
	return list
}
