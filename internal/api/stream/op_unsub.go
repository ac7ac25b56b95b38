package stream

import "github.com/bourse-exchange/bourse/internal/api"

// unsub unsubscribes from streams, from all of them or from none.
func unsub(c *conn, r *api.Request, id string) error {
	topics, err := c.topics(r)
	if err != nil {
		return err
	}
	c.server.Feed.Unsubscribe(c.subscriber, topics, answer(id, nil))
	return errAnswered
}
