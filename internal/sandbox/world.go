package sandbox

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// Options choose the contents of a sandbox.
type Options struct {
	// Wide lists test assets and markets, to make the lists long.
	Wide bool
	// Bots keep the main markets moving, and give a new exchange a past.
	Bots bool
	// BlockTime is the time between blocks of the embedded networks; zero makes blocks on
	// demand alone.
	BlockTime bourse.Time
	// Host is the Unix socket of a Host in another process, which has the embedded networks; empty for networks
	// in this one. With it a signer is in another process, too.
	Host string
	// Real are networks of test chains with nodes of their own, which are connected in place of the embedded
	// ones; empty for those.
	Real []connect.Settings
}

// Exchange is the exchange that a sandbox surrounds.
type Exchange struct {
	// Data is its data directory.
	Data      string
	View      *view.View
	Sequencer *sequencer.Sequencer
	Accounts  *account.Service
	Board     *wallet.Board
	// Signer asks the signer in another process for its networks; nil if the exchange signs
	// itself.
	Signer func(context.Context) ([]signer.Account, error)
	// Now is the machine's time.
	Now func() bourse.Time
	// Progress returns a reporter of the progress of long work.
	Progress func(what string) func(done, total int64)
	Log      *slog.Logger
}

// World surrounds an exchange whose money is not real with a catalogue, simulated traders
// and their past, and networks.
//
// Join is called first, then List and MakePast, then the attachments are opened, one after
// the other. After that the other methods are safe for concurrent use.
type World struct {
	Options

	exchange Exchange
	// networks are the opened networks.
	networks []*embedded
}

// New returns a sandbox that has joined no exchange.
func New(o Options) *World { return &World{Options: o} }

// Join gives the sandbox its exchange.
func (w *World) Join(x Exchange) { w.exchange = x }

// List defines the catalogue, and opens and funds the traders' accounts, unless they are
// there.
func (w *World) List(ctx context.Context) error {
	if err := w.listCatalogue(ctx); err != nil {
		return fmt.Errorf("catalogue of the sandbox: %w", err)
	}
	if !w.Bots {
		return nil
	}
	if err := w.openTraders(ctx); err != nil {
		return fmt.Errorf("accounts of the simulated traders: %w", err)
	}
	return nil
}

func (w *World) listCatalogue(ctx context.Context) error {
	commands := Catalogue(w.Wide)
	markets := 0
	for i := range commands {
		if commands[i].Kind == bourse.CommandDefineMarket {
			markets++
		}
	}
	if len(w.exchange.View.Catalogue().Markets)-1 >= markets {
		return nil
	}
	return w.carry(ctx, commands)
}

// carry takes commands through the line together; the first refusal is the error.
func (w *World) carry(ctx context.Context, commands []bourse.Command) error {
	for _, r := range w.exchange.Sequencer.DoAll(ctx, commands) {
		if err := r.Refusal(); err != nil {
			return err
		}
	}
	return nil
}
