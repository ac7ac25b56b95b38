package node

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// mayAct returns an error if another process has become the exchange, by the fence of the accounts: this
// one must send nothing to the outside. A node of a cluster sends nothing either while it cannot ask.
func (n *Node) mayAct(ctx context.Context) error {
	err := n.keep.Holds(ctx)
	if n.Member == nil && !errors.Is(err, accounts.ErrFenced) {
		return nil // trading and its letters go on while the accounts are away
	}
	return err
}

// fencedMailer carries letters while its node may act.
type fencedMailer struct {
	mailer account.Mailer
	mayAct func(context.Context) error
}

// Send carries a letter.
func (f fencedMailer) Send(ctx context.Context, m *account.Mail) error {
	if err := f.mayAct(ctx); err != nil {
		return err
	}
	return f.mailer.Send(ctx, m)
}
