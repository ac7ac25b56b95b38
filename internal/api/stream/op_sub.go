package stream

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
)

const (
	// maxSubscriptions bounds the streams of a connection.
	maxSubscriptions = 1024
	// maxResumed bounds the streams that a request resumes or begins with a state.
	maxResumed = 64
)

// sub subscribes to all of the named streams or, on an error, to none. A stream in since
// begins with the messages that its client missed, a paced one with the state.
func sub(c *session, f *api.Form, id string) error {
	names, topics, err := c.topics(f)
	if err != nil {
		return err
	}
	if c.server.Feed.Subscriptions(c.subscriber, topics) > maxSubscriptions {
		return bourse.Errorf(bourse.CodeRefused, "A connection may have at most %d streams", maxSubscriptions)
	}
	if err := c.server.current(c.gone); err != nil {
		return err
	}
	resumed, err := c.resumed(f, names, topics)
	if err != nil {
		return err
	}
	c.begins(names, topics, resumed)

	plain := make([]feed.Topic, 0, len(topics))
	for i, t := range topics {
		if _, resumes := resumed[names[i]]; !resumes {
			plain = append(plain, t)
		}
	}
	c.server.Feed.Subscribe(c.subscriber, plain, answer(id, nil))

	ctx, cancel := context.WithTimeout(c.gone, resumeFor)
	defer cancel()
	for i, t := range topics {
		if since, resumes := resumed[names[i]]; resumes {
			delete(resumed, names[i]) // named twice, it is resumed once
			c.resume(ctx, t, since)
		}
	}
	return errAnswered
}

// currentFor bounds the time for which a request waits for the view of its node.
const currentFor = 2 * time.Second

// errBehind is the error for streams at a node whose view is behind.
var errBehind = bourse.Errorf(bourse.CodeUnavailable, "This node is behind the one that leads; subscribe again in a moment, or at another node")

// current waits until the view shows all that a client may have seen.
func (s *Server) current(ctx context.Context) error {
	if s.Current == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, currentFor)
	defer cancel()
	if s.Current(ctx) != nil {
		return errBehind
	}
	return nil
}

// resumed parses the field since: the last number that the client has of some of the named
// streams.
func (c *session) resumed(f *api.Form, names []string, topics []feed.Topic) (map[string]uint64, error) {
	since := f.Counts("since", maxResumed)
	if err := f.Err(); err != nil {
		return nil, err
	}

	known := 0
	counted := make(map[string]bool, len(since))
	for i, name := range names {
		if _, resumes := since[name]; !resumes || counted[name] {
			continue
		}
		counted[name] = true
		known++
		if c.server.Feed.Has(c.subscriber, topics[i]) {
			return nil, bourse.Errorf(bourse.CodeRefused, "since: the connection has %s already", quoted(name))
		}
	}
	if known < len(since) {
		return nil, api.Invalid("since", "must name streams of this request only")
	}
	if since, known = c.withPaced(since, names, topics); known > maxResumed {
		return nil, bourse.Errorf(bourse.CodeRefused, "At most %d streams of a request may begin with a state", maxResumed)
	}
	if known > 0 && !c.server.Limits.AdmitWork(api.Reads, c.payer(), known) {
		return nil, bourse.ErrBusy
	}
	return since, c.resumable(since, names, topics)
}

// withPaced adds the paced streams that the connection lacks to the resumed ones, and returns the
// number of all. The trades of a tape are followed from now on, without a state.
func (c *session) withPaced(since map[string]uint64, names []string, topics []feed.Topic) (map[string]uint64, int) {
	for i, t := range topics {
		if !t.Kind.Paced() || t.Kind == feed.PacedTape || c.server.Feed.Has(c.subscriber, t) {
			continue
		}
		if since == nil {
			since = map[string]uint64{}
		}
		since[names[i]] = 0
	}
	return since, len(since)
}

// topics parses the names of streams.
func (c *session) topics(f *api.Form) ([]string, []feed.Topic, error) {
	f.Require("streams")
	names := f.TextOrTexts("streams", maxSubscriptions)
	if len(names) == 0 {
		f.Fail(bourse.Errorf(bourse.CodeMissing, "Missing data"))
	}
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	if !c.use.Names(c.server, c.payer(), len(names)) {
		return nil, nil, bourse.ErrBusy
	}

	catalogue := c.server.View.Catalogue()
	topics := make([]feed.Topic, len(names))
	var err error
	for i, name := range names {
		if topics[i], err = topic(catalogue, name, c.identity.Account); err != nil {
			return nil, nil, err
		}
	}
	return names, topics, nil
}
