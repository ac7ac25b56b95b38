package walletv1

import "github.com/bourse-exchange/bourse/internal/api"

var validateFields = api.Fields{"asset", "network", "address", "memo"}

// validate reports whether an address, a memo, both or neither are valid.
func (w *Wallet) validate(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}
	v := r.JudgeFields(c)
	if err := c.Err(); err != nil {
		return err
	}

	if c.Has("address") {
		c.Out.Bool("valid_address", v.Address)
	}
	if c.Has("memo") {
		c.Out.Bool("valid_memo", v.Memo)
	}
	if c.Has("address") {
		c.Out.Bool("internal", v.Internal)
	}
	return nil
}
