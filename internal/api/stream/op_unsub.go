package stream

import "github.com/bourse-exchange/bourse/internal/api"

// unsub unsubscribes from all of the named streams or, on an error, from none.
func unsub(c *session, f *api.Form, id string) error {
	_, topics, err := c.topics(f)
	if err != nil {
		return err
	}
	for _, t := range topics {
		delete(c.began, t)
	}
	c.server.Feed.Unsubscribe(c.subscriber, topics, answer(id, nil))
	return errAnswered
}
