package live

import (
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Bounds of the subscriptions of a connection to user data.
const (
	maxSubscriptions = 1000
	maxTotal         = 65_535
)

// subscription is one to the user data of an account.
type subscription struct {
	id      int
	account bourse.AccountID
	// own is set if it is of the session's key.
	own bool
}

// subscriptions are those of a connection. Safe for concurrent use.
type subscriptions struct {
	mu    sync.Mutex
	list  []subscription
	total int
}

// The errors of subscriptions.
var (
	errNoSession    = binance.Invalid("The connection has no session: log on first, or use userDataStream.subscribe.signature.")
	errSubscribed   = binance.Invalid("The connection has a subscription to this account already.")
	errTooMany      = binance.Invalid("The connection has had too many subscriptions.")
	errNotSubscribe = binance.Invalid("The connection has no subscription of this subscriptionId.")
)

// any reports whether there is a subscription.
func (s *subscriptions) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) > 0
}

// subscribe subscribes to the user data of the session's account.
func (e *entry) subscribe(f *flight, _ *credentials) error {
	if f.request.Who.Account == 0 {
		return errNoSession
	}
	who, err := e.live.Facade.Listens.Holder(f.request.Who.Key, e.From())
	if err != nil {
		return err
	}
	return e.subscriptions.add(e, f, who, true)
}

// subscribeSigned subscribes to the user data of the account of a signature.
func (e *entry) subscribeSigned(f *flight, _ *credentials) error {
	if err := e.keys.hold(e, f.request.Who); err != nil {
		return err
	}
	return e.subscriptions.add(e, f, f.request.Who, false)
}

// add adds a subscription. Its answer is queued before its messages.
func (s *subscriptions) add(e *entry, f *flight, who account.Identity, own bool) error {
	if !who.Scopes.Has(account.ScopeRead) {
		return binance.ErrKey
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := func(other subscription) bool { return other.account == who.Account }
	switch {
	case slices.ContainsFunc(s.list, taken):
		return errSubscribed
	case len(s.list) == maxSubscriptions || s.total == maxTotal:
		return errTooMany
	}
	added := subscription{s.total, who.Account, own}
	s.total++
	s.list = append(s.list, added)

	f.out.Object()
	f.out.Int("subscriptionId", int64(added.id))
	f.out.EndObject()
	f.land = func(answer []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.list, added) {
			answer = append([]byte(nil), answer...)
			e.Subscriber().Push(answer)
			return
		}
		topics := map[feed.Topic]*feed.Envelope{{Kind: feed.User, Account: who.Account}: added.envelope()}
		e.live.Feed.SubscribeIn(e.Subscriber(), topics, answer)
	}
	return nil
}

// envelope returns the envelope of a subscription's messages.
func (s subscription) envelope() *feed.Envelope {
	return &feed.Envelope{Wrap: func(frame []byte) []byte { return s.event(stream.Payload(frame)) }}
}

// event returns the frame of an event.
func (s subscription) event(payload []byte) []byte {
	w := message(len(payload) + len(`{"subscriptionId":65535,"event":}`))
	w.Object()
	w.Int("subscriptionId", int64(s.id))
	w.Raw("event", payload)
	w.EndObject()
	return framed(w)
}

// remove removes the subscriptions that match, and tells each its end.
func (s *subscriptions) remove(e *entry, match func(subscription) bool) (found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(one subscription) bool {
		if !match(one) {
			return false
		}
		found = true
		w := wire.NewWriter(nil)
		w.Object()
		w.Word("e", "eventStreamTerminated")
		w.Int("E", millis(e.live.Facade.Now()))
		w.EndObject()
		topics := []feed.Topic{{Kind: feed.User, Account: one.account}}
		e.live.Feed.Unsubscribe(e.Subscriber(), topics, one.event(w.Bytes()))
		return true
	})
	return found
}

// endOwn ends the subscription of the session's key.
func (s *subscriptions) endOwn(e *entry) {
	s.remove(e, func(one subscription) bool { return one.own })
}

// unsubscribe ends one subscription, or all.
func (e *entry) unsubscribe(f *flight, _ *credentials) error {
	const name = "subscriptionId"
	id, all := 0, !f.request.Has(name)
	if !all {
		id = int(f.request.Int(name, 0, maxTotal, 0))
	}
	if err := f.request.Err(); err != nil {
		return err
	}
	f.out.Object()
	f.out.EndObject()
	found := e.subscriptions.remove(e, func(one subscription) bool { return all || one.id == id })
	if !found && !all {
		return errNotSubscribe
	}
	return nil
}

// listSubscriptions writes the ids of the subscriptions.
func (e *entry) listSubscriptions(f *flight, _ *credentials) error {
	s := &e.subscriptions
	s.mu.Lock()
	defer s.mu.Unlock()
	f.out.Array()
	for _, one := range s.list {
		f.out.Object()
		f.out.Int("subscriptionId", int64(one.id))
		f.out.EndObject()
	}
	f.out.EndArray()
	return nil
}
