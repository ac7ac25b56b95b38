package accountv2

import (
	"strings"

	"github.com/bourse-exchange/bourse/internal/account"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// activity lists the account's events, newest first.
func (a *Account) activity(c *v2.Call) error {
	before, limit := c.Cursor()
	if err := c.Err(); err != nil {
		return err
	}

	rows, err := a.Accounts.Activity(c.Context, c.Who.Account, before, limit+1)
	if err != nil {
		return err
	}
	id := func(e *account.Activity) uint64 { return e.ID }
	v2.WriteCursor(c, limit, rows, id, func(e *account.Activity) {
		c.Out.Seconds("time", e.Time)
		c.Out.Word("kind", e.Kind)
		c.Out.Maybe("ip", e.Address)
		c.Out.Maybe("device", device(e.Agent))
		c.Out.Maybe("detail", e.Detail)
	})
	return nil
}

// device formats a user agent for display.
func device(agent string) string {
	browser, system, kind := client(agent)
	var words []string
	for _, w := range []string{browser, system, kind} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
