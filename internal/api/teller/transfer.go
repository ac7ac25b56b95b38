package teller

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// Transfer is a request to move money to the account of an e-mail address.
type Transfer struct {
	// Route has only the asset.
	Route
	Asked *bourse.Withdraw
	// field names the field with the e-mail address, and email is its value.
	field, email string
	// message is the sender's text for the recipient.
	message string
}

// ReadTransfer reads the fields amount and memo, and the e-mail address in a field.
func ReadTransfer(c *api.Call, asset *bourse.Asset, field string) *Transfer {
	t := &Transfer{Route: Route{Asset: asset}, Asked: &bourse.Withdraw{Asset: asset.ID}, field: field}
	t.Asked.Amount = Moved(c, func(s string) (bourse.Amount, error) { return bourse.ParseAmount(s, asset.Scale) })

	t.message = c.Text("memo")
	if !account.ValidMessage(t.message) {
		c.Fail(api.Invalid("memo", "want at most 255 bytes without control characters"))
	}
	t.email = c.Text(field)
	return t
}

// Says describes a transfer in plain words for the letter of a second factor.
func (t *Transfer) Says() string {
	return fmt.Sprintf("Transfer %s %s to %s", t.Asked.Amount.Format(t.Asset.Scale), t.Asset.Symbol,
		account.Plain(t.email))
}

// unknownWeighs is the number of orders that a transfer to an unknown address costs,
// which slows down probing for addresses that have accounts.
const unknownWeighs = 500

// noAccount is the reason for an address that has no account.
const noAccount = "no account has this e-mail address"

// Give pays a transfer to the account of its e-mail address. The errors are those of Pay, and
// codes.InvalidAddress if the address cannot have the money.
//
// Addresses change hands: a request with a name whose address cannot have the money now may
// repeat one whose address could. It gets the first outcome, if there is one.
func (t *Teller) Give(c *api.Call, to *Transfer, act account.Act) (bourse.Outcome, error) {
	p := t.giving(c, to, act)
	err := t.address(c, to)
	var misplaced *MisplacedError
	if err != nil && !errors.As(err, &misplaced) {
		return bourse.Outcome{}, err
	}
	if err == nil {
		return t.Pay(c.Context, p)
	}

	if to.Asked.Named() {
		to.Asked.Again = true
		if o, err := p.Send(); err != nil || o.Reason != bourse.NotAskedBefore {
			return o, err
		}
	}
	if misplaced.why == noAccount {
		c.Charge(unknownWeighs)
	}
	return bourse.Outcome{}, api.Errorf(codes.InvalidAddress, "%s", misplaced)
}

// address directs a transfer to the account of its e-mail address. The error is a
// *MisplacedError if the address cannot have the money now.
func (t *Teller) address(c *api.Call, to *Transfer) error {
	found, known, err := t.Accounts.ByEmail(c.Context, to.email)
	var malformed *bourse.Error
	switch {
	case errors.As(err, &malformed) && malformed.Code == bourse.CodeInvalid:
		return api.Errorf(codes.InvalidAddress, "%s: not an e-mail address", to.field)
	case err != nil:
		return err
	case !known:
		return &MisplacedError{to.field, noAccount}
	case found.ID == c.Who.Account:
		return &MisplacedError{to.field, "it is your own"}
	}
	to.Asked.Internal = found.ID
	return nil
}

// giving returns the payment of a transfer.
func (t *Teller) giving(c *api.Call, to *Transfer, act account.Act) *Payment {
	act.What = to.Says()
	command := &bourse.Command{
		Kind: bourse.CommandTransfer, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: to.Asked},
	}
	return &Payment{
		Who: c.Who, Act: act, Asked: to.Asked,
		Check: func() error { return to.Refused(t.Precheck(c.Who.Account, &to.Route, to.Asked), to.Asked) },
		Send:  func() (bourse.Outcome, error) { return t.Accounts.Transfer(c.Context, command, to.message) },
	}
}
