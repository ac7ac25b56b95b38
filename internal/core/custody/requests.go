package custody

import (
	"container/list"

	"github.com/bourse-exchange/bourse"
)

const (
	// requestKept is how long a name stays taken after its withdrawal has ended.
	requestKept = bourse.Day
	// maxEnded bounds the ended requests that are kept for each account, maxRefused the
	// refused ones, which cost their sender nothing.
	maxEnded   = 10_000
	maxRefused = 100
)

// requests remembers the accounts' requests by their own names, so that a repeated
// request is answered with its first outcome: while its withdrawal is open and for a day
// after that. A refusal is an outcome too. N is the type of a name; two requests with
// equal A are the same.
type requests[N, A comparable] struct {
	byName map[requestName[N]]*request[N, A]
	// ended are the ended requests, in the order of their ends.
	ended *list.List
	// byAccount are each account's ended requests, in the same order; refused ones are
	// apart.
	byAccount map[endedOf][]*request[N, A]
}

// endedOf names one of an account's two lists of ended requests.
type endedOf struct {
	account bourse.AccountID
	refused bool
}

// most bounds the requests in a list.
func (l endedOf) most() int {
	if l.refused {
		return maxRefused
	}
	return maxEnded
}

type requestName[N comparable] struct {
	account bourse.AccountID
	name    N
}

type request[N, A comparable] struct {
	requestName[N]
	asked   A
	outcome bourse.Outcome
	// ended is when the withdrawal ended; zero while it is open.
	ended bourse.Time
	// at is its element of ended.
	at *list.Element
}

// list names the list of the request once it has ended.
func (r *request[N, A]) list() endedOf { return endedOf{r.account, r.outcome.Reason != 0} }

func newRequests[N, A comparable]() requests[N, A] {
	return requests[N, A]{
		byName: map[requestName[N]]*request[N, A]{}, ended: list.New(),
		byAccount: map[endedOf][]*request[N, A]{},
	}
}

// find returns the first outcome of an account's request with this name, whether both ask
// for the same, and whether there is one.
func (q *requests[N, A]) find(
	account bourse.AccountID, name N, asked A, now bourse.Time,
) (first bourse.Outcome, same, found bool) {
	r := q.byName[requestName[N]{account, name}]
	if r != nil && r.ended != 0 && r.ended+requestKept < now {
		for mine := q.byAccount[r.list()]; mine[0] != r; mine = mine[1:] { // older ones have expired as well
			q.forget(mine[0])
		}
		q.forget(r)
		r = nil
	}
	if r == nil {
		return bourse.Outcome{}, false, false
	}
	return r.outcome, r.asked == asked, true
}

// add stores a request under its name.
func (q *requests[N, A]) add(account bourse.AccountID, name N, asked A, outcome bourse.Outcome) {
	r := &request[N, A]{requestName: requestName[N]{account, name}, asked: asked, outcome: outcome}
	q.byName[r.requestName] = r
}

// belongs reports whether an account's name is that of an open withdrawal.
func (q *requests[N, A]) belongs(account bourse.AccountID, name N, to bourse.WalletID) bool {
	r := q.byName[requestName[N]{account, name}]
	return r != nil && r.ended == 0 && r.outcome.ID == uint64(to)
}

// end starts the time after which a name is free again.
func (q *requests[N, A]) end(account bourse.AccountID, name N, now bourse.Time) {
	r := q.byName[requestName[N]{account, name}]
	r.ended = now
	q.retire(r)
}

func (q *requests[N, A]) retire(r *request[N, A]) {
	r.at = q.ended.PushBack(r)
	mine := append(q.byAccount[r.list()], r)
	q.byAccount[r.list()] = mine
	if len(mine) > r.list().most() {
		q.forget(mine[0])
	}
}

// forget frees the name of the oldest request of a list.
func (q *requests[N, A]) forget(r *request[N, A]) {
	delete(q.byName, r.requestName)
	q.ended.Remove(r.at)
	if mine := q.byAccount[r.list()]; len(mine) > 1 {
		mine[0] = nil
		q.byAccount[r.list()] = mine[1:]
	} else {
		delete(q.byAccount, r.list())
	}
}

// oldest returns the request that ended first; nil without one.
func (q *requests[N, A]) oldest() *request[N, A] {
	if at := q.ended.Front(); at != nil {
		return at.Value.(*request[N, A])
	}
	return nil
}

// expire forgets requests whose time is over, at most the given number.
func (q *requests[N, A]) expire(now bourse.Time, most int) {
	for r := q.oldest(); most > 0 && r != nil && r.ended+requestKept < now; r = q.oldest() {
		q.forget(r)
		most--
	}
}

// live returns the ended requests that are remembered, oldest first.
func (q *requests[N, A]) live() []*request[N, A] {
	var live []*request[N, A]
	for at := q.ended.Front(); at != nil; at = at.Next() {
		live = append(live, at.Value.(*request[N, A]))
	}
	return live
}
