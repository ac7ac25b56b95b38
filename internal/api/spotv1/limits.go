package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

// limits lists the caller's limits: the account's with a key, the source's without.
func (s *Spot) limits(c *api.Call) error {
	c.Out.Name("limits")
	c.Out.Array()
	for _, l := range c.Limits.List(c.Payer()) {
		c.Out.Object()
		c.Out.Word("class", l.Class)
		c.Out.Word("scope", l.Scope)
		c.Out.Uint("limit", uint64(l.Limit))
		c.Out.Uint("remaining", uint64(l.Left))
		c.Out.Uint("reset", uint64(l.Reset()))
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}
