package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// maxSubscriptions bounds the streams of a connection.
const maxSubscriptions = 1024

// sub subscribes to all of the named streams or, on an error, to none.
func sub(c *conn, f *api.Form, id string) error {
	topics, err := c.topics(f)
	if err != nil {
		return err
	}

	if c.server.Feed.Subscriptions(c.subscriber, topics) > maxSubscriptions {
		return bourse.Errorf(bourse.CodeRefused, "A connection may have at most %d streams", maxSubscriptions)
	}
	c.server.Feed.Subscribe(c.subscriber, topics, answer(id, nil))
	return errAnswered
}

// topics parses the names of streams.
func (c *conn) topics(f *api.Form) ([]feed.Topic, error) {
	f.Require("streams")
	names := f.TextOrTexts("streams", maxSubscriptions)
	if len(names) == 0 {
		f.Fail(bourse.Errorf(bourse.CodeMissing, "Missing data"))
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if !c.admitNames(len(names)) {
		return nil, bourse.ErrBusy
	}

	catalogue := c.server.View.Catalogue()
	topics := make([]feed.Topic, len(names))
	var err error
	for i, name := range names {
		if topics[i], err = topic(catalogue, name, c.identity.Account); err != nil {
			return nil, err
		}
	}
	return topics, nil
}
