package teller

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Destination reads the fields address and memo; absent is empty.
func Destination(c *api.Call) (address, memo string) { return c.Text("address"), c.Text("memo") }

// JudgeFields judges the fields address and memo.
func (w *Way) JudgeFields(c *api.Call) Verdict {
	address, memo := Destination(c)
	if c.Err() != nil {
		return Verdict{}
	}
	return w.Judge(address, memo)
}

// Moved reads the field amount, which must be positive.
func Moved(c *api.Call, parse func(string) (bourse.Amount, error)) bourse.Amount {
	a := api.Read(c.Form, "amount", parse)
	if a.IsZero() {
		c.Fail(api.Invalid("amount", "must be greater than zero"))
	}
	return a
}

// AddressName reads the name of an address book entry; absent is empty.
func AddressName(c *api.Call, field string) string {
	name := c.Text(field)
	if c.Has(field) && !account.ValidAddressName(name) {
		c.Fail(api.Invalid(field, "want 1 to 255 printable characters"))
	}
	return name
}
