package custody

import (
	"container/list"

	"github.com/bourse-exchange/bourse"
)

const (
	// requestKept is how long a name stays taken after its withdrawal ended.
	requestKept = bourse.Day
	// maxEnded bounds the ended ones that are kept for each account, maxRefused the
	// refused ones, which cost their sender nothing.
	maxEnded   = 10_000
	maxRefused = 100
)

// requests remembers what accounts asked for under names of their own, so that
// a request that comes again is answered with its first outcome: while its
// withdrawal is open and for a day after that. A refusal is an outcome too. N is
// what a name is, A what tells whether the same was asked for.
type requests[N, A comparable] struct {
	byName map[requestName[N]]*request[N, A]
	// ended are in the order of their ends.
	ended *list.List
	// byAccount are each account's ended ones, in the same order; those of which
	// nothing came are apart.
	byAccount map[endedOf][]*request[N, A]
}

// endedOf names one of an account's two lists of ended requests.
type endedOf struct {
	account bourse.AccountID
	refused bool
}

// most is how many requests are kept in a list.
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
	// at is its place among the ended ones.
	at *list.Element
}

// list names the list that the request is in once it has ended.
func (r *request[N, A]) list() endedOf { return endedOf{r.account, r.outcome.Reason != 0} }

func newRequests[N, A comparable]() requests[N, A] {
	return requests[N, A]{
		byName: map[requestName[N]]*request[N, A]{}, ended: list.New(),
		byAccount: map[endedOf][]*request[N, A]{},
	}
}

// find looks for a request of an account with the same name. It returns the
// first outcome, whether the same was asked for, and whether there is one.
func (q *requests[N, A]) find(account bourse.AccountID, name N, asked A, now bourse.Time) (first bourse.Outcome, same, found bool) {
	r := q.byName[requestName[N]{account, name}]
	if r != nil && r.ended != 0 && r.ended+requestKept < now {
		for mine := q.byAccount[r.list()]; mine[0] != r; mine = mine[1:] { // those that ended before have expired as well
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

// add takes a name for a request.
func (q *requests[N, A]) add(account bourse.AccountID, name N, asked A, outcome bourse.Outcome) {
	r := &request[N, A]{requestName: requestName[N]{account, name}, asked: asked, outcome: outcome}
	q.byName[r.requestName] = r
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

// forget frees a name; it is the oldest of its list.
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

// oldest returns the request that ended first; nil if none has.
func (q *requests[N, A]) oldest() *request[N, A] {
	if at := q.ended.Front(); at != nil {
		return at.Value.(*request[N, A])
	}
	return nil
}

// expire forgets requests whose time is over, at most this many.
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
