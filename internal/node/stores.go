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
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// Names of the SQL databases in the data directory, unless they are on a server.
const (
	AccountsDB = "accounts.db"
	HistoryDB  = "history.db"
)

// accountsPlace names the database of accounts in messages.
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

// at returns a database's URL, or else its path in the data directory.
func (n *Node) at(url, file string) string {
	if url != "" {
		return url
	}
	return filepath.Join(n.Data, file)
}

// accountsAt returns the URL or the path of the accounts.
func (n *Node) accountsAt() string {
	if n.Accounts == "" && n.Common != "" {
		return filepath.Join(n.Common, AccountsDB)
	}
	return n.at(n.Accounts, AccountsDB)
}

// accountsSeal returns the key of the accounts' secrets, and makes it if there is none.
func (n *Node) accountsSeal() (seal [32]byte, err error) {
	if n.Common == "" {
		return disk.Secret(n.disk, accountsSecret)
	}
	d, err := disk.Open(n.Common)
	if err != nil {
		return seal, fmt.Errorf("what the nodes share: %w", err)
	}
	seal, err = disk.Secret(d, accountsSecret)
	return seal, errors.Join(err, d.Close())
}

// openStores opens the databases.
func (n *Node) openStores(ctx context.Context) error {
	keep, err := accounts.Open(ctx, n.accountsAt())
	if err != nil {
		return fmt.Errorf("%s: %w", n.accountsPlace(), err)
	}
	n.keep = keep
	n.closers = append(n.closers, keep)
	n.keep = keep
	if err := sqlstore.Bind(n.Data, n.Accounts); err != nil {
		return err
	}

	if n.notices, err = notice.Open(ctx, keep, time.Now); err != nil {
		return fmt.Errorf("%s: %w", n.accountsPlace(), err)
	}

	store, err := sqlhistory.Open(ctx, n.at(n.History, HistoryDB))
	if err != nil {
		return fmt.Errorf("%s: %w", n.historyPlace(), err)
	}
	n.store = store
	n.closers = append(n.closers, store)

	o := account.Options{
		Store: keep, Clock: time.Now, Random: rand.Reader, OnRevoke: func(key bourse.KeyID) { n.streams.Revoke(key) },
		Exchange: n.identity.Exchange, Behind: n.role.Raise != 0,
	}
	if n.Accounts != "" {
		o.Grace = keysOutlive
		n.remote = append(n.remote,
			&remoteStore{name: "accounts", ask: keep.Reach, answered: func() { n.accounts.Reached() }})
	}
	if n.History != "" {
		n.remote = append(n.remote,
			&remoteStore{name: "history", answered: func() {}, ask: func(ctx context.Context) error {
				_, err := store.Cursor(ctx)
				return err
			}})
	}

	if o.Seal, err = n.accountsSeal(); err != nil {
		return err
	}
	mailer := n.mailer()
	o.Mailer, o.Issuer, o.Hold, o.Captcha, o.Limits = mailer, n.Brand.Name, n.Hold, n.Captcha, n.People
	o.Letters, o.Support = n.Brand.Letters, n.Brand.SupportText()
	o.Pages = n.pagesAt(n.PublicURL)
	o.Terms = n.Brand.Terms.Version
	o.AlwaysConfirm = n.AlwaysConfirm
	if n.Sandbox == nil {
		o.Cases = account.CaseWithdrawal | account.CaseAPIKey
	}

	o.Awaited = func() map[bourse.RowDigest]bourse.ResetParts { return n.office.Awaited() }
	o.Ready = func(kind bourse.CommandKind) error { return n.sequencer.Takes(kind) }
	o.NetworkName = func(id bourse.NetworkID) string { return string(n.view.Catalogue().Networks[id].Symbol) }
	o.OnFailure = func(what string, err error) {
		n.Log.Error("accounts", slog.String("failed", what), slog.Any("error", err))
	}
	o.OnForged = func(what string, err error) {
		n.metrics.forged.Inc()
		n.Log.Error("the accounts' store was changed by somebody else", slog.String("refused", what),
			slog.Any("error", err))
	}
	n.accounts = account.NewService(o)
	n.office, err = operator.NewService(operator.Options{
		Store: keep, Mailer: mailer, Clock: time.Now, Random: rand.Reader, Issuer: n.Brand.Name, Seal: o.Seal, Log: n.Log,
		LockPerson: n.accounts.LockPerson, OnForged: o.OnForged,
	})
	return err
}

// pagesAt returns what letters name the pages by: the URL of the settings or, in a sandbox without
// one, the address that is listened on. In production that may be an address of the machine alone.
func (n *Node) pagesAt(configured string) func() string {
	return func() string {
		if configured == "" && n.Sandbox != nil {
			return n.PublicURL // known once the listener is open
		}
		return configured
	}
}

// enterAccounts keeps lower incarnations of the exchange, and lower terms of its cluster, from the accounts. It
// comes before the accounts' first write. An exchange that begins does not enter those of another one, which it would keep out for good.
func (n *Node) enterAccounts(ctx context.Context) error {
	if n.sequencer.Applied() == 0 {
		err := n.keep.Accounts(ctx, func(row *account.AccountRow) error {
			if row.ID != 0 {
				return account.ErrMismatch
			}
			return nil
		})
		if err != nil {
			return n.accountsError(err)
		}
	}
	at := accounts.Tenure{Incarnation: max(n.incarnation(), 1), Term: n.Term}
	if err := n.keep.Enter(ctx, at, n.fail); err != nil {
		return fmt.Errorf("%s: %w", n.accountsPlace(), err)
	}
	return nil
}

// openPeople reconciles accounts and operators' access with the journal. Accounts come first: they show whether
// the store is another exchange's, from which nothing may be removed.
func (n *Node) openPeople(ctx context.Context) error {
	if err := n.accounts.Open(ctx); err != nil {
		return n.accountsError(err)
	}
	if err := n.office.Open(ctx); err != nil {
		return n.accountsError(err)
	}
	return nil
}

// accountsSecret is the file with the key that seals the secrets of second factors and of
// keys that sign. It lies outside the database.
const accountsSecret = "accounts/seed"

// mailer returns the carrier of letters.
func (n *Node) mailer() account.Mailer {
	switch {
	case n.Mail != nil:
		n.post = mail.NewQueue(fencedMailer{n.Mail, n.mayAct}, time.After, func(err error) {
			n.Log.Warn("a letter was not carried", slog.Any("error", err))
		})
		return n.post
	case n.Sandbox != nil:
		n.letters = mail.NewBox(func() bourse.Time { return bourse.TimeOf(time.Now()) })
		return fencedMailer{n.letters, n.mayAct}
	}
	return mail.None{}
}

// accountsError explains accounts that the journal does not know: it may have lost the
// commands that made them.
func (n *Node) accountsError(err error) error {
	if errors.Is(err, account.ErrMismatch) {
		return fmt.Errorf("%s: %w. Either it is another exchange's, or the journal, which ends at %s, was cut back: "+
			"delete nothing; restore the missing segments, or accounts and journal from one backup",
			n.accountsPlace(), err, anchor.At(n.foundTip))
	}
	return fmt.Errorf("%s: %w", n.accountsPlace(), err)
}

// historyName names the history in errors that count on it as a witness.
func (n *Node) historyName() string {
	if n.History != "" {
		return "history on the server"
	}
	return HistoryDB
}

// mailLetters carries letters to the mail server, if there is one.
func (n *Node) mailLetters(ctx context.Context) error {
	if n.post != nil {
		n.post.Run(ctx)
	}
	return nil
}

// forgetHistory removes the history, to be made again from the journal. If the journal is
// pruned, the history stays, and the start checks it as usual.
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
