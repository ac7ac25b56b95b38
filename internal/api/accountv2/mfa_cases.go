package accountv2

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// cases writes the cases that demand a second factor.
func (a *Account) cases(c *v2.Call) error {
	f, err := a.Accounts.Factors(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	writeCases(c, f.Cases)
	return nil
}

// caseDescriptions describe the cases to people, by bit.
var caseDescriptions = [len(account.CaseWords)]string{"Logging in", "Withdrawals and transfers", "New API keys"}

func writeCases(c *v2.Call, on account.Cases) {
	c.Out.Name("cases")
	c.Out.Object()
	for i, word := range account.CaseWords {
		c.Out.Name(word)
		c.Out.Object()
		c.Out.Text("description", caseDescriptions[i])
		c.Out.Bool("enabled", on.Has(1<<i))
		c.Out.EndObject()
	}
	c.Out.EndObject()
}

// setCases switches cases on and off; absent ones stay unchanged.
func (a *Account) setCases(c *v2.Call) error {
	c.Require("cases")
	given := c.Bools("cases")

	var on, off account.Cases
	for _, word := range slices.Sorted(maps.Keys(given)) {
		bit := slices.Index(account.CaseWords[:], word)
		switch {
		case bit < 0:
			c.Fail(api.Invalid("cases", "names none of the cases"))
		case given[word]:
			on |= 1 << bit
		default:
			off |= 1 << bit
		}
	}

	act := c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	now, err := a.Accounts.SetCases(c.Context, c.Who, on, off, act)
	if err != nil {
		return err
	}
	writeCases(c, now)
	return nil
}
