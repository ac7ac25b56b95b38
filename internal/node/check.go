package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// check refuses settings that would keep the exchange from serving, before a journal is
// made or replayed. A setting that passes may still fail later.
func (o *Options) check(ctx context.Context) error {
	if _, err := certificate.Open(o.Certificate, o.Data, o.Log); err != nil {
		return err
	}

	if err := o.checkDesk(); err != nil {
		return err
	}
	if _, err := certificate.Open(o.AdminCertificate, o.Data, o.Log); err != nil {
		return fmt.Errorf("operators: %w", err)
	}

	// The listener is closed again: until the exchange serves, clients are to be refused
	// at once rather than wait.
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return err
	}
	return l.Close()
}

// errNoReason refuses a void or an acceptance without a usable reason.
var errNoReason = errors.New("a command is voided, and a journal accepted, with a --reason of at most 1024 bytes of text only")

// needsReason reports whether a void or an acceptance lacks a usable reason.
func (o *Options) needsReason() bool {
	return (o.Void != 0 || o.AcceptJournal != 0) &&
		(o.Reason == "" || len(o.Reason) > journal.MaxReason || !utf8.ValidString(o.Reason))
}
