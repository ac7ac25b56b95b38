package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// check refuses what would keep the exchange from serving, before anything is
// founded or replayed for it. What it finds good may still fail later.
func (o *Options) check(ctx context.Context) error {
	if o.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey); err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
	}
	// The address is not kept: until the exchange serves, clients are to be
	// turned away at once rather than wait.
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return err
	}
	return l.Close()
}

// errNoReason says that nobody would know why a command has no effect.
var errNoReason = errors.New("a command is voided, and a journal accepted, with a --reason of at most 1024 bytes of text only")

// needsReason reports whether an operator decides something and does not say why.
func (o *Options) needsReason() bool {
	return (o.Void != 0 || o.AcceptJournal != 0) && (o.Reason == "" || len(o.Reason) > journal.MaxReason || !utf8.ValidString(o.Reason))
}
