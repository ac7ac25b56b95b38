package p2pv1

import "github.com/bourse-exchange/bourse/internal/api"

// mostSymbols bounds the symbols of a request, as in the lists of assets.
const mostSymbols = 50

// Endpoints returns the endpoints of the interface.
func Endpoints() []api.Endpoint {
	return []api.Endpoint{
		{Path: "/fiats", Fields: api.Fields{"symbols", "offset"}, Answer: empty("fiats")},
		{Path: "/assets", Fields: api.Fields{"symbols", "offset"}, Answer: empty("assets")},
	}
}

// empty returns the endpoint of a list that has no rows.
func empty(name string) func(*api.Call) error {
	return func(c *api.Call) error {
		c.Texts("symbols", mostSymbols)
		c.Offset()
		if err := c.Err(); err != nil {
			return err
		}
		c.Out.Name(name)
		c.Out.Array()
		c.Out.EndArray()
		return nil
	}
}
