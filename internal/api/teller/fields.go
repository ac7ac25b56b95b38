package teller

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Destination reads the fields address and memo; what is absent is empty.
func Destination(c *api.Call) (address, memo string, err error) {
	if address, err = c.Text("address"); err != nil {
		return "", "", err
	}
	memo, err = c.Text("memo")
	return address, memo, err
}

// JudgeFields judges an address, a memo or both, which a request must hold.
func (w *Way) JudgeFields(c *api.Call) (Verdict, error) {
	if !c.Has("address") && !c.Has("memo") {
		return Verdict{}, api.Missing("address")
	}
	address, memo, err := Destination(c)
	if err != nil {
		return Verdict{}, err
	}
	return w.Judge(address, memo), nil
}

// Amount reads a field with a decimal, which parse turns into ledger units.
func Amount(c *api.Call, field string, parse func(string) (bourse.Amount, error)) (bourse.Amount, error) {
	text, err := c.Text(field)
	if err != nil {
		return bourse.Amount{}, err
	}
	a, err := parse(text)
	if err != nil {
		return bourse.Amount{}, api.Invalid(field, err.Error())
	}
	return a, nil
}

// Moved reads the field amount: how much is to move, which is not nothing.
func Moved(c *api.Call, parse func(string) (bourse.Amount, error)) (bourse.Amount, error) {
	a, err := Amount(c, "amount", parse)
	if err == nil && a.IsZero() {
		err = api.Invalid("amount", "must be greater than zero")
	}
	return a, err
}

// AddressName reads a name of an entry of an address book; absent is empty.
func AddressName(c *api.Call, field string) (string, error) {
	name, err := c.Text(field)
	if err != nil || !c.Has(field) {
		return "", err
	}
	if !account.ValidAddressName(name) {
		return "", api.Invalid(field, "want 1 to 255 letters, digits and spaces")
	}
	return name, nil
}
