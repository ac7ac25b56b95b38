package stream

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// retryClose is the pause before the close of a connection is submitted again.
const retryClose = time.Second / 4

// arm journals that the end of the connection cancels an account's open orders. Later
// calls have no effect.
func (c *session) arm(account bourse.AccountID) error {
	if c.armed != 0 {
		return nil
	}
	if !c.server.Limits.Admit(api.Cancels, api.Payer{Account: account, Source: c.from}) {
		return bourse.ErrBusy
	}

	o, err := c.server.Submit(context.Background(), &bourse.Command{
		Kind: bourse.CommandCancelOnClose, Account: account,
	})
	switch {
	case err != nil:
		return err
	case o.Reason == bourse.TooMany:
		return bourse.Errorf(bourse.CodeRefused,
			"An account may have at most %d connections with cancel_on_close", bourse.MaxConnections)
	case o.Reason != 0:
		return api.Refused(o.Reason, "")
	}
	c.armed = bourse.ConnectionID(o.ID)
	return nil
}

// disarm journals the end of an armed connection, which cancels its account's open
// orders. It tries until the journal has it or the server closes: then the next start of
// the exchange closes the connection.
func (c *session) disarm() {
	if c.armed == 0 {
		return
	}
	closed := bourse.Command{Kind: bourse.CommandConnectionClosed, Account: c.identity.Account, Connection: c.armed}
	for {
		if _, err := c.server.Submit(context.Background(), &closed); err == nil {
			return
		}
		select {
		case <-c.server.After(retryClose):
		case <-c.server.closing:
			return
		}
	}
}
