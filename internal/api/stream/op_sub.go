package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// maxSubscriptions is how many streams a connection may have.
const maxSubscriptions = 1024

// sub subscribes to streams, to all of them or to none.
func sub(c *conn, r *api.Request, id string) error {
	topics, err := c.topics(r)
	if err != nil {
		return err
	}
	if c.server.Feed.Subscriptions(c.subscriber, topics) > maxSubscriptions {
		return bourse.Errorf(bourse.CodeRefused, "A connection may have at most %d streams", maxSubscriptions)
	}
	c.server.Feed.Subscribe(c.subscriber, topics, answer(id, nil))
	return errAnswered
}

// topics reads the names of streams.
func (c *conn) topics(r *api.Request) ([]feed.Topic, error) {
	if err := r.Require("streams"); err != nil {
		return nil, err
	}
	names, err := r.TextOrTexts("streams", maxSubscriptions)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, bourse.Errorf(bourse.CodeMissing, "Missing data")
	}
	if !c.admitNames(len(names)) {
		return nil, api.ErrTooMany
	}

	catalogue := c.server.View.Catalogue()
	topics := make([]feed.Topic, len(names))
	for i, name := range names {
		if topics[i], err = topic(catalogue, name, c.identity.Account); err != nil {
			return nil, err
		}
	}
	return topics, nil
}
