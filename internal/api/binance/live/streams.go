package live

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// maxStreams bounds the streams of a connection.
const maxStreams = 1024

// streams is the protocol of a connection of streams. All but Revoke and Expire belong to its
// reader.
type streams struct {
	*stream.Conn

	live   *Live
	use    stream.Use
	parser parser
	// first are the streams that the address names.
	first []string

	// mu guards the rest: the reader and Expire change it.
	mu sync.Mutex
	// combined is set if messages come with the name of their stream.
	combined bool
	// names are the topics of the streams, by name, and order is their order.
	names map[string]feed.Topic
	order []string
}

// stranger is the holder of no key.
var stranger account.Identity

// first checks the streams that an address names. A word that is no name of a stream is
// ignored: clients number their connections so.
func (l *Live) first(r *http.Request, names []string) (first []string, err error) {
	if len(names) > maxStreams {
		return nil, errManyStreams
	}
	for _, name := range names {
		if strings.ContainsAny(name, "@!") {
			_, err = l.topic(name)
		} else if binance.IsListenKey(name) {
			_, err = l.Facade.Listens.Find(name, l.Facade.From(r))
		} else {
			continue
		}
		if err != nil {
			return nil, err
		}
		first = append(first, name)
	}
	return first, nil
}

// Begin subscribes to the streams of the address.
func (s *streams) Begin() {
	if len(s.first) == 0 {
		return
	}
	if err := s.subscribe(s.first, nil); err != nil {
		s.End(ws.StatusPolicyViolation, err.Error(), true)
	}
	s.first = nil
}

// Meter counts a frame.
func (s *streams) Meter(_ ws.OpCode, size int) error {
	return s.use.Frame(s.live.Server, payer(s.Conn, stranger), size)
}

// Leave leaves all streams.
func (s *streams) Leave() { s.live.Feed.Leave(s.Subscriber()) }

// Lost closes the connection: there is no state to send in place of a lost message.
func (s *streams) Lost(*feed.Hold) { s.End(tryAgain, "messages were lost", true) }

// Codes of errors of this protocol.
const (
	codeProperty = 0
	codeValue    = 1
	codeRequest  = 2
	codeJSON     = 3
)

// The errors of requests.
var (
	errNotRequest  = binance.Problem(codeJSON, "Invalid JSON: the message must be one object with method, params and id")
	errUnsupported = binance.Problem(codeRequest, "Invalid request: method must be one of SUBSCRIBE, UNSUBSCRIBE, "+
		"LIST_SUBSCRIPTIONS, SET_PROPERTY and GET_PROPERTY")
	errBadID       = binance.Problem(codeRequest, "Invalid request: request ID must be an integer, a short string or null")
	errNames       = binance.Problem(codeRequest, "Invalid request: params must be an array of names of streams")
	errManyStreams = binance.Problem(codeRequest, "Invalid request: a connection may have at most 1024 streams")
	errOften       = binance.Problem(codeRequest, "Invalid request: too many requests, try again in a second")
	errProperty    = binance.Problem(codeProperty, "Unknown property")
	errBoolean     = binance.Problem(codeValue, "Invalid value type: expected Boolean")
)

// Handle carries out a request.
func (s *streams) Handle(message []byte) error {
	r, err := s.parser.parse(message)
	switch {
	case !s.use.Request():
		err = errOften
	case errors.Is(err, errNotJSON):
		err = errNotRequest
	case errors.Is(err, errID):
		err = errBadID
	case err != nil:
		err = errUnsupported
	default:
		err = s.carryOut(&r)
	}
	if err != nil {
		s.Subscriber().Push(problem(err, r.id))
	}
	return nil
}

// carryOut carries out a request and queues its answer.
func (s *streams) carryOut(r *request) error {
	switch r.method {
	case "SUBSCRIBE":
		return s.change(r, s.subscribe)
	case "UNSUBSCRIBE":
		return s.change(r, s.unsubscribe)
	case "LIST_SUBSCRIPTIONS":
		s.list(r.id)
		return nil
	case "SET_PROPERTY":
		return s.setProperty(r)
	case "GET_PROPERTY":
		return s.getProperty(r)
	}
	return errUnsupported
}

// change reads the names of streams and carries out their change.
func (s *streams) change(r *request, do func(names []string, answer []byte) error) error {
	names, ok := texts(r.params, maxStreams)
	if !ok || len(names) == 0 {
		return errNames
	}
	return do(names, result(r.id, null))
}

// subscribe adds all of the named streams or, on an error, none.
func (s *streams) subscribe(names []string, answer []byte) error {
	if !s.use.Names(s.live.Server, payer(s.Conn, stranger), len(names)) {
		return errOften
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	added, topics := map[string]feed.Topic{}, make([]feed.Topic, 0, len(names))
	for _, name := range names {
		t, err := s.topic(name)
		if err != nil {
			return err
		}
		topics = append(topics, t)
		if _, has := s.names[name]; !has {
			added[name] = t
		}
	}
	if len(s.names)+len(added) > maxStreams {
		return errManyStreams
	}

	for _, name := range names {
		if t, isNew := added[name]; isNew {
			delete(added, name)
			s.names[name], s.order = t, append(s.order, name)
		}
	}
	s.live.Feed.SubscribeIn(s.Subscriber(), s.envelopes(names), answer)
	s.live.Publisher.due(topics)
	s.watch()
	return nil
}

// topic returns the topic of a stream's name or a listen key.
func (s *streams) topic(name string) (feed.Topic, error) {
	if !binance.IsListenKey(name) {
		return s.live.topic(name)
	}
	who, err := s.live.Facade.Listens.Find(name, s.From())
	if err != nil {
		return feed.Topic{}, err
	}
	return feed.Topic{Kind: feed.User, Account: who.Account}, nil
}

// unsubscribe leaves the named streams that the connection has.
func (s *streams) unsubscribe(names []string, answer []byte) error {
	if !s.use.Names(s.live.Server, payer(s.Conn, stranger), len(names)) {
		return errOften
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(names, answer)
	return nil
}

// leave leaves the named streams that the connection has. The caller holds mu.
func (s *streams) leave(names []string, answer []byte) {
	left := map[feed.Topic]struct{}{}
	for _, name := range names {
		if t, has := s.names[name]; has {
			delete(s.names, name)
			left[t] = struct{}{}
		}
	}
	for _, t := range s.names {
		delete(left, t) // two listen keys may be of one account
	}
	topics := slices.Collect(maps.Keys(left))
	s.order = slices.DeleteFunc(s.order, func(name string) bool { _, has := s.names[name]; return !has })
	s.live.Feed.Unsubscribe(s.Subscriber(), topics, answer)
}

// listenCheck is the time between two checks of the listen keys of a connection.
const listenCheck = bourse.Second

// watch has the listen keys checked. The caller holds mu.
func (s *streams) watch() {
	for name := range s.names {
		if binance.IsListenKey(name) {
			s.WatchExpiry(bourse.TimeOf(s.live.Facade.Clock()) + listenCheck)
			return
		}
	}
}

// Expire leaves the user data whose listen keys have ended.
func (s *streams) Expire(bourse.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		if !binance.IsListenKey(name) {
			continue
		}
		if _, err := s.live.Facade.Listens.Find(name, s.From()); err != nil {
			s.leave([]string{name}, s.expired(name))
		}
	}
	s.watch()
}

// Revoke does nothing: Expire finds listen keys whose API key was revoked.
func (s *streams) Revoke(bourse.KeyID) {}

// expired returns the last message of a listen key. The caller holds mu.
func (s *streams) expired(name string) []byte {
	w := message(192)
	w.Object()
	w.Word("e", "listenKeyExpired")
	w.Int("E", millis(s.live.Facade.Now()))
	w.Word("listenKey", name)
	frame := done(w)
	if s.combined {
		return combining(name).Wrap(frame)
	}
	return frame
}

// list answers with the names of the streams.
func (s *streams) list(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := message(64)
	w.Object()
	w.Name("result")
	w.Array()
	for _, name := range s.order {
		w.String(name)
	}
	w.EndArray()
	w.Number("id", id)
	w.EndObject()
	s.Subscriber().Push(framed(w))
}

// property is the only property: whether messages have the name of their stream.
const property = `"combined"`

// setProperty sets a property.
func (s *streams) setProperty(r *request) error {
	name, word, err := pair(r.params)
	switch {
	case err != nil:
		return err
	case name != property:
		return errProperty
	case word != "true" && word != "false":
		return errBoolean
	}

	// Each stream gets another envelope, under the lock of subscriptions.
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.use.Names(s.live.Server, payer(s.Conn, stranger), len(s.order)) {
		return errOften
	}
	s.combined = word == "true"
	s.live.Feed.SubscribeIn(s.Subscriber(), s.envelopes(s.order), result(r.id, null))
	return nil
}

// getProperty answers with a property.
func (s *streams) getProperty(r *request) error {
	name, word, err := pair(r.params)
	switch {
	case err != nil:
		return err
	case name != property || word != "":
		return errProperty
	}
	word = "false"
	if s.combined {
		word = "true"
	}
	s.Subscriber().Push(result(r.id, word))
	return nil
}

// envelopes returns the topics of named streams, and the envelopes of their messages.
func (s *streams) envelopes(names []string) map[feed.Topic]*feed.Envelope {
	list := make(map[feed.Topic]*feed.Envelope, len(names))
	for _, name := range names {
		t := s.names[name]
		switch {
		case !s.combined:
			list[t] = nil
		case t.Kind == feed.User:
			list[t] = combining(name)
		default:
			list[t] = s.live.envelope(name)
		}
	}
	return list
}

// envelope returns the envelope of a public stream.
func (l *Live) envelope(name string) *feed.Envelope {
	if known, has := l.envelopes.Load(name); has {
		return known.(*feed.Envelope)
	}
	e, _ := l.envelopes.LoadOrStore(name, combining(name))
	return e.(*feed.Envelope)
}

// combining returns an envelope that names the stream of a message.
func combining(name string) *feed.Envelope {
	return &feed.Envelope{Wrap: func(frame []byte) []byte {
		payload := stream.Payload(frame)
		w := message(len(payload) + len(name) + 32)
		w.Object()
		w.Text("stream", name)
		w.Raw("data", payload)
		w.EndObject()
		return framed(w)
	}}
}

// result returns the frame of an answer with a JSON value.
func result(id, value string) []byte {
	w := message(64)
	w.Object()
	w.Number("result", value)
	w.Number("id", id)
	w.EndObject()
	return framed(w)
}

// problem returns the frame of the answer for an error.
func problem(err error, id string) []byte {
	known := binance.Known(err)
	if known == nil {
		known = errNotRequest
	}
	w := message(128)
	w.Object()
	w.Int("code", int64(known.Code))
	w.Text("msg", known.Message)
	w.Number("id", id)
	w.EndObject()
	return framed(w)
}
