package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Reset is a change of a person's row that operators order.
type Reset struct {
	Account bourse.AccountID
	// Factors takes the authenticator application and the passkeys away.
	Factors bool
	// Email is the new address; empty leaves the old one.
	Email string
}

// ordered is a row that operators ordered, which waits for them.
type ordered struct {
	row AccountRow
	// parts tells whether the reset removes the second factors, changes the address, or both.
	parts bourse.ResetParts
	// was is the address before.
	was string
	// kept is set once the command was taken: until then nothing waits for the row in the journal.
	kept bool
}

// what describes a reset for its holder.
func (o *ordered) what() string {
	what := "the end of "
	if o.parts&bourse.ResetEmail != 0 {
		what = fmt.Sprintf("a new address, %s, and the end of ", maskEmail(o.row.Email))
	}
	if o.parts&bourse.ResetFactors != 0 {
		what += "the authenticator application, the passkeys, "
	}
	return what + "all sessions and all keys"
}

// PrepareReset makes the row of a reset and returns the command that replaces the person's row by it.
// The row lies beside the old one until the journal takes the command, which may wait for days, or until
// it does not wait any more. Call Ordered with the outcome. The errors are those of person, and
// *bourse.Errors with CodeInvalid and CodeConflict.
func (s *Service) PrepareReset(ctx context.Context, r Reset) (bourse.Command, error) {
	cmd := bourse.Command{
		Kind: bourse.CommandResetPerson, Account: r.Account, Hold: min(recovery(s.secureCommand(r.Account, 0)).Hold, bourse.MaxHold),
	}
	if !r.Factors && r.Email == "" {
		return cmd, bourse.Errorf(bourse.CodeInvalid, "factors or email: one of them must be given")
	}
	var err error
	if r.Email != "" {
		if r.Email, err = NormalizeEmail(r.Email); err != nil {
			return cmd, err
		}
	}

	if err := s.Ready(bourse.CommandAct); err != nil {
		return cmd, err
	}
	defer s.LockPerson(r.Account)()
	row, err := s.person(ctx, r.Account)
	if err != nil {
		return cmd, err
	}
	if r.Email == row.Email {
		return cmd, bourse.Errorf(bourse.CodeInvalid, "email: it is the account's address")
	}
	o := &ordered{was: row.Email}
	cmd.Operators = &bourse.OperatorCommand{Was: row.digest()}
	if r.Factors {
		o.parts |= bourse.ResetFactors
		row.TOTP, row.TOTPUsed, row.Passkeys = nil, false, nil
	}
	if r.Email != "" {
		// The row keeps no code of an earlier change, by which a holder of an old mailbox could undo this one.
		o.parts |= bourse.ResetEmail
		row.Email, row.Undos = r.Email, nil
	}
	cmd.Level = uint8(o.parts)
	if row.Salt, err = s.newSalt(); err != nil {
		return cmd, err
	}
	if err := s.Store.AddPersonChange(ctx, &row); errors.Is(err, ErrTaken) {
		return cmd, errEmailTaken
	} else if err != nil {
		return cmd, err
	}

	o.row = row
	cmd.Access = &bourse.Access{Digest: row.digest()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.persons[cmd.Access.Digest] = &o.row
	s.ordered[cmd.Access.Digest] = o
	return cmd, nil
}

// LockPerson keeps the requests of an account's holder from changing the row and from making sessions and
// keys, until unlock is called. A reset holds the lock: without it, a request that began with the old row
// could end after the reset and undo it.
func (s *Service) LockPerson(id bourse.AccountID) (unlock func()) { return s.naming.Lock(id) }

// Ordered takes the outcome of the command of a reset, nil if it was taken or waits. The holder is told
// of what waits. A row whose command was not taken is dropped.
func (s *Service) Ordered(ctx context.Context, cmd *bourse.Command, outcome error) {
	digest := cmd.Access.Digest
	s.mu.Lock()
	o := s.ordered[digest]
	waits := false
	if o != nil {
		if outcome != nil && notTaken(outcome) {
			s.dropOrdered(digest, o)
		} else {
			o.kept, waits = true, true
		}
	}
	s.mu.Unlock()
	if waits && s.Awaited()[digest] != 0 {
		s.tell(ctx, o.row.ID, o.was, "Operators of the exchange ordered "+o.what()+
			". It is done once a second one has approved it. If you did not ask for it, write to us at once.")
	}
}

// AwaitedEmail returns the new address of a reset that waits; empty if it has none.
func (s *Service) AwaitedEmail(digest bourse.RowDigest) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if o := s.ordered[digest]; o != nil && o.parts&bourse.ResetEmail != 0 {
		return o.row.Email
	}
	return ""
}

// dropOrdered removes a row that nothing waits for. The caller holds mu.
func (s *Service) dropOrdered(digest bourse.RowDigest, o *ordered) {
	delete(s.ordered, digest)
	delete(s.persons, digest)
	s.open.Dropped = append(s.open.Dropped, bourse.Token(o.row.Salt))
}

// settleOrdered drops the rows without a waiting act, and returns the rows that became the accounts'.
// It calls awaited without mu, because awaited may wait for a frame that waits for mu, and only for rows
// whose command has an outcome: for another row an act may begin to wait meanwhile.
func (s *Service) settleOrdered() (done []*ordered) {
	s.mu.Lock()
	var kept []bourse.RowDigest
	for digest, o := range s.ordered {
		if s.persons[digest] == nil {
			delete(s.ordered, digest)
			done = append(done, o)
		} else if o.kept {
			kept = append(kept, digest)
		}
	}
	s.mu.Unlock()
	if len(kept) == 0 {
		return done
	}

	awaited := s.Awaited()
	for _, digest := range kept {
		if awaited[digest] != 0 {
			continue
		}
		s.mu.Lock()
		if o := s.ordered[digest]; s.persons[digest] == nil {
			delete(s.ordered, digest)
			done = append(done, o)
		} else {
			s.dropOrdered(digest, o)
		}
		s.mu.Unlock()
	}
	return done
}

// tellReset ends the codes of an account whose row was reset, and tells its holder at the old and the
// new address.
func (s *Service) tellReset(ctx context.Context, o *ordered) {
	s.dropCodes(o.row.ID, o.was, o.row.Email)
	if o.parts&bourse.ResetFactors != 0 {
		s.log(ctx, o.row.ID, changedFactor, Visit{}, byOperator)
	}
	if o.parts&bourse.ResetEmail != 0 {
		s.log(ctx, o.row.ID, changedEmail, Visit{}, byOperator)
	}

	what := "Operators of the exchange ordered " + o.what() + ". It is done, and withdrawals wait."
	s.tellAll(ctx, &o.row, what)
	if o.parts&bourse.ResetEmail != 0 {
		s.tell(ctx, o.row.ID, o.was, what)
	}
}
