package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

// time writes the exchange's time.
func (s *Spot) time(c *api.Call) error {
	c.Out.Time("time", s.View.Now())
	return nil
}
