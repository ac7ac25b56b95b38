package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// The SQL databases in the data directory, unless they are on a server.
const (
	AccountsDB = "accounts.db"
	HistoryDB  = "history.db"
)

// accountsPlace and historyPlace are what messages call the databases.
func (n *Node) accountsPlace() string {
	if n.Accounts != "" {
		return "accounts on the server"
	}
	return AccountsDB
}

func (n *Node) historyPlace() string {
	if n.History != "" {
		return "history on the server (its schema " + sqlhistory.Schema + " may be dropped: it is rebuilt from the journal)"
	}
	return HistoryDB + " (it may be deleted: it is rebuilt from the journal)"
}

// at returns where a database is: at its URL, or else in the data directory.
func (n *Node) at(url, file string) string {
	if url != "" {
		return url
	}
	return filepath.Join(n.Data, file)
}

// openStores opens the databases.
func (n *Node) openStores(ctx context.Context) error {
	keep, err := accounts.Open(ctx, n.at(n.Accounts, AccountsDB))
	if err != nil {
		return fmt.Errorf("%s: %w", n.accountsPlace(), err)
	}
	n.closers = append(n.closers, keep)
	if err := sqlstore.Bind(n.Data, n.Accounts); err != nil {
		return err
	}
	store, err := sqlhistory.Open(ctx, n.at(n.History, HistoryDB))
	if err != nil {
		return fmt.Errorf("%s: %w", n.historyPlace(), err)
	}
	n.store = store
	n.closers = append(n.closers, store)
	o := account.Options{
		Store: keep, Clock: time.Now, Random: rand.Reader, OnRevoke: func(key bourse.KeyID) { n.streams.Revoke(key) },
	}
	if n.Accounts != "" {
		o.Grace = keysOutlive
		n.servers = append(n.servers, &server{name: "accounts", ask: keep.Reach, answered: func() { n.accounts.Reached() }})
	}
	if n.History != "" {
		n.servers = append(n.servers, &server{name: "history", answered: func() {}, ask: func(ctx context.Context) error {
			_, err := store.Cursor(ctx)
			return err
		}})
	}
	if o.Seal, err = n.seed(accountsDir); err != nil {
		return err
	}
	o.Mailer, o.Issuer, o.Hold, o.Captcha, o.Limits = n.mailer(), "Bourse", n.Hold, n.Captcha, n.People
	o.ConfirmPassword = n.ConfirmPassword
	if !n.Sandbox {
		o.Cases = account.CaseWithdrawal | account.CaseAPIKey
	}
	o.Ready = func(kind bourse.CommandKind) error { return n.sequencer.Takes(kind) }
	o.NetworkName = func(id bourse.NetworkID) string { return string(n.view.Catalogue().Networks[id].Symbol) }
	o.OnFailure = func(what string, err error) {
		n.Log.Error("accounts", slog.String("failed", what), slog.Any("error", err))
	}
	o.OnForged = func(what string, err error) {
		n.metrics.forged.Inc()
		n.Log.Error("the accounts' store was changed by somebody else", slog.String("refused", what), slog.Any("error", err))
	}
	n.accounts = account.NewService(o)
	return nil
}

// accountsDir holds the key that seals the secrets of second factors: it is not
// where the database is.
const accountsDir = "accounts"

// mailer returns what carries letters.
func (n *Node) mailer() account.Mailer {
	switch {
	case n.Mail != nil:
		n.post = mail.NewQueue(n.Mail, time.After, func(err error) {
			n.Log.Warn("a letter was not carried", slog.Any("error", err))
		})
		return n.post
	case n.Sandbox:
		n.letters = new(mail.Box)
		return n.letters
	}
	return mail.None{}
}

// accountsError explains accounts that the journal does not know: they are what is left
// of commands that it had.
func (n *Node) accountsError(err error) error {
	if errors.Is(err, account.ErrMismatch) {
		return fmt.Errorf("%s: %w. Either it is another exchange's, or the journal, which ends at %s, was cut back: "+
			"delete nothing; restore the missing segments, or accounts and journal from one backup", n.accountsPlace(), err, anchor.At(n.foundTip))
	}
	return fmt.Errorf("%s: %w", n.accountsPlace(), err)
}

// historyName names the history where it is a witness that is not to be deleted.
func (n *Node) historyName() string {
	if n.History != "" {
		return "history on the server"
	}
	return HistoryDB
}

// mailLetters carries letters to the mail server, where there is one.
func (n *Node) mailLetters(ctx context.Context) error {
	if n.post != nil {
		n.post.Run(ctx)
	}
	return nil
}

// forgetHistory removes the history, which is made again. A pruned journal cannot make it
// again: then it stays, and the start holds it against the journal as ever.
func (n *Node) forgetHistory(ctx context.Context) error {
	if stub, err := n.files.Stub(); err != nil || stub != nil {
		return err
	}
	if n.History != "" {
		return sqlhistory.Drop(ctx, n.History)
	}
	for _, suffix := range [...]string{"", "-wal", "-shm"} {
		if err := n.disk.Remove(HistoryDB + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// server is a store on a server, which can be away.
type server struct {
	name string
	// ask asks it something small, answered is told that it answered.
	ask      func(context.Context) error
	answered func()
	away     bool
}

// attend tells the accounts what the journal decided, and looks whether the
// servers are there. It has a goroutine of its own, because a server can be silent
// for a while.
func (n *Node) attend(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, s := range n.servers {
			n.look(ctx, s)
		}
		if err := n.accounts.Confirm(ctx); err != nil && ctx.Err() == nil {
			n.Log.Error("the store of accounts lags behind the journal", slog.Any("error", err))
		}
	}
}

// look asks a server, and logs when it goes and when it is back.
func (n *Node) look(ctx context.Context, s *server) {
	asked, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := s.ask(asked)
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		s.answered()
		if s.away {
			n.Log.Info("a database is back", slog.String("store", s.name))
		}
	case !s.away:
		n.Log.Error("a database is away; trading goes on", slog.String("store", s.name), slog.Any("error", err))
	}
	s.away = err != nil
}
