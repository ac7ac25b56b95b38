package accountv2

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// cases shows what a second factor is asked for.
func (a *Account) cases(c *v2.Call) error {
	f, err := a.Accounts.Factors(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	writeCases(c, f.Cases)
	return nil
}

func writeCases(c *v2.Call, on account.Cases) {
	c.Out.Name("cases")
	c.Out.Object()
	for i, word := range account.CaseWords {
		c.Out.Bool(word, on.Has(1<<i))
	}
	c.Out.EndObject()
}

// setCases switches cases on and off; what is not named stays.
func (a *Account) setCases(c *v2.Call) error {
	if err := c.Require("cases"); err != nil {
		return err
	}
	given, err := c.Bools("cases")
	if err != nil {
		return err
	}
	var on, off account.Cases
	for _, word := range slices.Sorted(maps.Keys(given)) {
		bit := slices.Index(account.CaseWords[:], word)
		if bit < 0 {
			return api.Invalid("cases", "names none of the cases")
		}
		if given[word] {
			on |= 1 << bit
		} else {
			off |= 1 << bit
		}
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	now, err := a.Accounts.SetCases(c.Context, c.Who, on, off, act)
	if err != nil {
		return err
	}
	writeCases(c, now)
	return nil
}
