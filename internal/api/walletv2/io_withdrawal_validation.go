package walletv2

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var validationFields = api.Fields{"address", "memo"}

// validation reports whether an address, a memo, both or neither are valid.
func (w *Wallet) validation(c *v2.Call) error {
	listed := w.networkOf(c, "network", c.Segment("network"))
	if err := c.Err(); err != nil {
		return err
	}

	way, err := w.Way(listed)
	if err != nil {
		return err
	}
	v := way.JudgeFields(c.Call)
	if err := c.Err(); err != nil {
		return err
	}

	judged := func(name, about string, good bool) {
		if c.Has(about) {
			c.Out.Bool(name, good)
		} else {
			c.Out.Null(name)
		}
	}
	judged("validAddress", "address", v.Address)
	judged("validMemo", "memo", v.Memo)
	judged("internal", "address", v.Internal)
	return nil
}
