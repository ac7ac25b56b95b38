package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// invitedFor is how long an invitation is good.
	invitedFor = bourse.Day
	// maxName bounds a name, in bytes.
	maxName = 100
)

// Sequencer sequences commands.
type Sequencer interface {
	// Do submits a command and waits for its outcome.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
}

// Options are the parts of a service.
type Options struct {
	Store     Store
	Sequencer Sequencer
	View      *view.View
	Mailer    account.Mailer
	Clock     func() time.Time
	Random    io.Reader
	// Issuer is the exchange's name in the passkeys of operators.
	Issuer string
	// Seal is the key of the accounts' secrets, of which the service derives its own.
	Seal [32]byte
	Log  *slog.Logger
	// LockPerson keeps the holder of an account from changing anything until unlock is called.
	LockPerson func(bourse.AccountID) (unlock func())
	// OnForged is called for a row that is not the journal's.
	OnForged func(what string, err error)
}

// Service invites operators, adds them, makes their keys, authenticates them, and writes to the owners. Safe for
// concurrent use.
type Service struct {
	Options
	// party is what passkeys are bound to; nil for none. Set before requests are served.
	party *account.Party
	// challenges is the key of challenges. A start draws another one, and so ends the old ones.
	challenges [32]byte

	mu sync.Mutex
	// sessions are by the hash of their secret, used are the challenges that were answered, by
	// the time of their end. Guarded by mu.
	sessions map[[32]byte]*session
	used     map[string]bourse.Time
	last     account.SessionID
	// ended counts the endings of each operator's access, leaving has the operators whose keys are still to
	// be removed. Guarded by mu.
	ended   map[bourse.OperatorID]uint64
	leaving map[bourse.OperatorID]bool
	// dropping is held while keys are removed. left has an element if there are such keys.
	dropping sync.Mutex
	left     chan struct{}

	// disabled are the operators whom the current frame disabled. Owned by the goroutine that applies.
	disabled []bourse.OperatorID
}

// NewService returns a service without sessions. Only reading the random source fails.
func NewService(o Options) (*Service, error) {
	s := &Service{
		Options: o, sessions: map[[32]byte]*session{}, used: map[string]bourse.Time{}, ended: map[bourse.OperatorID]uint64{},
		leaving: map[bourse.OperatorID]bool{}, left: make(chan struct{}, 1),
	}
	if _, err := io.ReadFull(o.Random, s.challenges[:]); err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	return s, nil
}

// SetParty lets operators register and use passkeys. Call it before requests are served.
func (s *Service) SetParty(p *account.Party) { s.party = p }

// Guarded reports whether commands of operators come as acts alone.
func (s *Service) Guarded() bool {
	g := s.View.Catalogue().Genesis
	return g != nil && !g.Sandbox && s.View.HasOwner()
}

// Invite makes an invitation and returns its code. In production the first operator is an owner,
// and afterwards the machine's socket invites one only with a reason: the operator is then added a
// day after the acceptance. The errors are *bourse.Errors and the store's.
func (s *Service) Invite(ctx context.Context, i *Invitation) (account.Secret, error) {
	var err error
	if i.Email, err = account.NormalizeEmail(i.Email); err != nil {
		return "", err
	}
	i.Name = strings.TrimSpace(i.Name)
	g := s.View.Catalogue().Genesis
	switch guarded := s.Guarded(); {
	case i.By != 0 && i.Reason == "":
		return "", bourse.Errorf(bourse.CodeInvalid, "reason: must not be empty")
	case len(i.Name) > maxName || len(i.Reason) > bourse.MaxActReason:
		return "", bourse.Errorf(bourse.CodeInvalid, "name or reason: too long")
	case guarded && i.Reason == "":
		return "", bourse.Errorf(bourse.CodeRefused, "%s: owners invite operators in the console", bourse.OperatorsOnly)
	case i.By == 0 && !guarded && i.Reason != "":
		return "", bourse.Errorf(bourse.CodeRefused, "the exchange has no owner: there is no glass to break")
	case i.By == 0 && !guarded && !g.Sandbox && i.Role != bourse.RoleOwner:
		return "", bourse.Errorf(bourse.CodeRefused, "%s", bourse.OwnerFirst)
	}

	now := bourse.TimeOf(s.Clock())
	i.Expires = now + invitedFor
	code, err := s.newCode(i)
	if err != nil {
		return "", err
	}
	i.Code = sha256.Sum256(code)
	if err := s.Store.AddInvitation(ctx, i, now); err != nil {
		return "", err
	}
	return account.Secret(hex.EncodeToString(code)), nil
}

var errNoInvitation = bourse.Errorf(bourse.CodeNotFound, "no such invitation, or it was used or has ended")

// Accepted is the outcome of an accepted invitation.
type Accepted struct {
	// Operator is the new operator; zero while Act waits.
	Operator bourse.OperatorID
	// Act is the act that adds the operator; zero if none was needed.
	Act bourse.Seq
	// Fingerprint is that of the operator's passkey.
	Fingerprint string
}

// Waits reports whether the operator is added by an act that waits.
func (a *Accepted) Waits() bool { return a.Operator == 0 }

// add writes a row, then sequences its command. A refusal removes the row.
func (s *Service) add(ctx context.Context, row *Row, i *Invitation) (made Accepted, err error) {
	if err := s.Store.AddOperator(ctx, row); err != nil {
		return made, err
	}
	made.Fingerprint = row.Fingerprint()

	cmd := bourse.Command{Kind: bourse.CommandAddOperator, Token: row.Token, Operators: &bourse.OperatorCommand{
		Define: bourse.Operator{Role: i.Role, Enabled: true, Digest: row.Digest()},
	}}
	if i.Reason != "" {
		act, err := s.Order(ctx, i.By, i.Reason, &cmd)
		made.Act = act.ID
		return made, s.dropped(ctx, row, err)
	}
	r, err := s.Sequencer.Do(ctx, &cmd)
	if err == nil && r.Outcome.Reason != 0 {
		err = refused(r.Outcome.Reason)
	}
	made.Operator = bourse.OperatorID(r.Outcome.ID)
	return made, s.dropped(ctx, row, err)
}

// Approve has a second operator approve a waiting act, which is carried out. The digest is that of
// the act. The errors are *bourse.Errors and those of the sequencer.
func (s *Service) Approve(ctx context.Context, by bourse.OperatorID, id bourse.Seq, digest bourse.ActDigest) error {
	acts := s.View.Acts()
	at := slices.IndexFunc(acts, func(a bourse.Act) bool { return a.ID == id })
	if at < 0 || acts[at].By[0] == 0 {
		return refused(bourse.ActNotFound)
	}
	if cmd, reset := ResetOf(&acts[at]); reset {
		defer s.LockPerson(cmd.Account)()
		ctx = context.WithoutCancel(ctx) // the lock is for as long as the command is under way
	}
	return s.sequence(ctx, &bourse.Command{Kind: bourse.CommandApproveAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{acts[at].By[0], by}, Act: id, Digest: digest,
	}})
}

// Drop has an operator end a waiting act. The errors are *bourse.Errors and those of the sequencer.
func (s *Service) Drop(ctx context.Context, by bourse.OperatorID, id bourse.Seq, digest bourse.ActDigest) error {
	return s.sequence(ctx, &bourse.Command{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{by}, Act: id, Digest: digest,
	}})
}

// sequence sequences a command. A refusal is an error.
func (s *Service) sequence(ctx context.Context, cmd *bourse.Command) error {
	r, err := s.Sequencer.Do(ctx, cmd)
	if err == nil && r.Outcome.Reason != 0 {
		err = refused(r.Outcome.Reason)
	}
	return err
}

// refused returns the error for a reason of the exchange.
func refused(reason bourse.Reason) error {
	message := reason.String()
	if reason == bourse.ActOutdated {
		message += ": what it sets was set since it was ordered; drop it, look at what there is now, and order it anew"
	}
	return &bourse.Error{Code: bourse.CodeRefused, Reason: reason, Message: message}
}

// dropped removes the row of a refused command. After an unknown outcome the row stays.
func (s *Service) dropped(ctx context.Context, row *Row, err error) error {
	var known *bourse.Error
	if errors.As(err, &known) && known.Code == bourse.CodeRefused {
		if err := s.Store.DropOperator(context.WithoutCancel(ctx), row.Token); err != nil {
			s.Log.Error("the row of a refused operator stays", slog.Any("error", err))
		}
	}
	return err
}

// Order orders a command in the name of an operator, or, without one, as a break-glass act, and
// writes to all owners about the latter at once. Status is [bourse.ActWaits] if the act waits. The
// errors are *bourse.Errors and those of the sequencer.
func (s *Service) Order(
	ctx context.Context, by bourse.OperatorID, reason string, cmd *bourse.Command,
) (bourse.Act, error) {
	var token bourse.Token
	if _, err := io.ReadFull(s.Random, token[:]); err != nil {
		return bourse.Act{}, fmt.Errorf("drawing a token: %w", err)
	}
	ordered := record.NewAct(s.View.Catalogue().Genesis, by, token, reason, cmd)
	r, err := s.Sequencer.Do(ctx, &ordered)
	if err == nil && r.Outcome.Reason != 0 {
		err = refused(r.Outcome.Reason)
	}
	if err != nil {
		return bourse.Act{}, err
	}

	for _, act := range s.View.Acts() {
		if act.ID != r.Seq {
			continue
		}
		if by == 0 {
			s.tellOwners(ctx, &act)
		}
		return act, nil
	}
	return bourse.Act{ID: r.Seq, By: [2]bourse.OperatorID{by}, Status: bourse.ActDone}, nil
}

// Awaited returns the parts of the resets of persons that wait, by the digests of their rows.
func (s *Service) Awaited() map[bourse.RowDigest]bourse.ResetParts {
	awaited := map[bourse.RowDigest]bourse.ResetParts{}
	for _, act := range s.View.Acts() {
		if cmd, reset := ResetOf(&act); reset {
			awaited[cmd.Access.Digest] = bourse.ResetParts(cmd.Level)
		}
	}
	return awaited
}

// ResetOf returns the reset of a person that an act orders; false for other acts.
func ResetOf(a *bourse.Act) (cmd bourse.Command, reset bool) {
	reset = record.Ordered(a.Record, &cmd) && cmd.Kind == bourse.CommandResetPerson
	return cmd, reset
}

// Newcomers returns the addresses of the operators whom acts add, by the acts. An act whose row is not there has none.
func (s *Service) Newcomers(ctx context.Context, acts []bourse.Act) (map[bourse.Seq]string, error) {
	by, emails := map[bourse.RowDigest]bourse.Seq{}, map[bourse.Seq]string{}
	for i := range acts {
		var cmd bourse.Command
		if record.Ordered(acts[i].Record, &cmd) && cmd.Kind == bourse.CommandAddOperator {
			by[cmd.Operators.Define.Digest] = acts[i].ID
		}
	}
	if len(by) == 0 {
		return emails, nil
	}

	rows, err := s.Store.Operators(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if act, adds := by[rows[i].Digest()]; adds {
			emails[act] = rows[i].Email
		}
	}
	return emails, nil
}

// Remind writes to the owners about the break-glass acts that wait: the process may have ended
// before it did.
func (s *Service) Remind(ctx context.Context) {
	for _, act := range s.View.Acts() {
		if act.By[0] == 0 {
			s.tellOwners(ctx, &act)
		}
	}
}

// tellOwners mails a break-glass act to each enabled owner. A letter that is not carried is no
// error of the act.
func (s *Service) tellOwners(ctx context.Context, act *bourse.Act) {
	list, err := s.List(ctx)
	if err != nil {
		s.Log.Error("owners were not told of an act", slog.Any("act", act.ID), slog.Any("error", err))
		return
	}
	what, reason := account.PlainTo(act.What, bourse.MaxActReason), account.PlainTo(act.Reason, bourse.MaxActReason)
	if joins, err := s.Newcomers(ctx, []bourse.Act{*act}); err == nil && joins[act.ID] != "" {
		what += "\n\nThe operator's address is " + account.Plain(joins[act.ID]) + "."
	}
	for i := range list {
		o := &list[i]
		if !o.Enabled || o.Role != bourse.RoleOwner || o.Email == "" {
			continue
		}
		m := &account.Mail{To: o.Email, Subject: "The glass was broken", Text: fmt.Sprintf(
			"Somebody on the exchange's machine ordered, without an operator:\n\n%s\n\nReason: %s\n\n"+
				"It is act %d, and is carried out at %s unless an owner drops it before.",
			what, reason, act.ID, act.Due.Std().UTC().Format(time.RFC3339))}
		if err := s.Mailer.Send(context.WithoutCancel(ctx), m); err != nil {
			s.Log.Error("an owner was not told of an act", slog.Any("operator", o.ID), slog.Any("act", act.ID),
				slog.Any("error", err))
		}
	}
}

// Listed is an operator and what its row says: nothing if there is no row, or another one than the journal's.
type Listed struct {
	bourse.Operator
	Email, Name string
	// Fingerprint is that of the passkey.
	Fingerprint string
}

// List returns the operators by ascending id.
func (s *Service) List(ctx context.Context) ([]Listed, error) {
	rows, err := s.Store.Operators(ctx)
	if err != nil {
		return nil, err
	}
	byToken := map[bourse.Token]*Row{}
	for i := range rows {
		byToken[rows[i].Token] = &rows[i]
	}

	operators := s.View.Operators()
	list := make([]Listed, len(operators))
	for i := range operators {
		list[i].Operator = operators[i]
		row := byToken[operators[i].Token]
		if row == nil || row.Digest() != operators[i].Digest {
			s.OnForged("operator", fmt.Errorf("operator %d has no row, or not the journal's", operators[i].ID))
			continue
		}
		list[i].Email, list[i].Name, list[i].Fingerprint = row.Email, row.Name, row.Fingerprint()
	}
	return list, nil
}
