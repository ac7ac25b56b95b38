package account_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestInsiderOnSessions changes and adds rows of sessions with SQL. None of them opens
// an account, there is an alarm, and the other sessions are good.
func TestInsiderOnSessions(t *testing.T) {
	hash := sha256.Sum256([]byte(string(stolen)))
	const insert = `INSERT INTO sessions (id, account, hash, agent, created, expires, last_used, salt)
		SELECT id + ?, account, ?, agent, created, expires, last_used, salt FROM sessions WHERE id = 1`
	for what, change := range map[string]struct {
		statement string
		args      []any
	}{
		"a session beside":   {insert, []any{1000, hash[:]}},
		"another hash":       {"UPDATE sessions SET hash = ? WHERE id = 1", []any{hash[:]}},
		"another account":    {"UPDATE sessions SET account = 3 - account WHERE id = 1", nil},
		"an account beyond":  {"UPDATE sessions SET account = -1 WHERE id = 1", nil},
		"a later expiry":     {"UPDATE sessions SET expires = expires + 1 WHERE id = 1", nil},
		"another salt":       {"UPDATE sessions SET salt = randomblob(16) WHERE id = 1", nil},
		"the other's number": {"UPDATE sessions SET id = 2000 WHERE id = 1", nil},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.join(ada)
			r.join(mallory)
			_, victim := r.session(ada)
			_, other := r.session(ada)
			r.behind(change.statement, change.args...)

			r.gone("the insider's secret", stolen)
			if _, err := r.Authenticate(t.Context(), victim, visit.From); (err == nil) != (what == "a session beside") {
				t.Errorf("the session that was changed: %v", err)
			}
			r.who(other)
			if len(r.forged) != 1 {
				t.Errorf("alarms %v", r.forged)
			}
			r.restart()
			if len(r.forged) != 0 {
				t.Errorf("after the rows are removed: alarms %v", r.forged)
			}
			if who, _ := r.session(ada); len(r.Sessions(who.Account)) < 2 {
				t.Errorf("sessions %+v", r.Sessions(who.Account))
			}
		})
	}
}

// TestEndedSessionStaysEnded puts the row of an ended session back.
func TestEndedSessionStaysEnded(t *testing.T) {
	for what, end := range map[string]func(*rig, account.Identity) error{
		"by its holder": func(r *rig, who account.Identity) error {
			return r.EndSession(r.t.Context(), who.Account, who.Session, visit)
		},
		"by a new password": func(r *rig, who account.Identity) error {
			who.Session = 0
			return r.ChangePassword(r.t.Context(), who, password, "battery staple", act(1, ""))
		},
	} {
		r := newRig(t)
		r.join(ada)
		who, secret := r.session(ada)
		r.behind("CREATE TABLE kept AS SELECT * FROM sessions")
		if err := end(r, who); err != nil {
			t.Fatal(what, err)
		}
		r.behind("INSERT INTO sessions SELECT * FROM kept")
		r.gone(what, secret)
	}
}

// TestInsiderOnPeople changes rows of people with SQL, in every column that says how
// somebody gets in. Nobody gets in by the row, neither the holder nor the insider, with
// an alarm; other accounts are good, and a start goes on.
func TestInsiderOnPeople(t *testing.T) {
	const victim = " WHERE email = 'ada@example.com'"
	for what, statement := range map[string]string{
		"another's password":                  "UPDATE accounts SET password = (SELECT password FROM accounts WHERE email = 'mallory@example.com')" + victim,
		"no password":                         "UPDATE accounts SET password = ''" + victim,
		"another's address":                   "UPDATE accounts SET email = 'thief@example.com'" + victim,
		"no application":                      "UPDATE accounts SET totp = NULL, totp_used = 0" + victim,
		"another application":                 "UPDATE accounts SET totp = randomblob(60)" + victim,
		"codes by mail":                       "UPDATE accounts SET totp_used = 0" + victim,
		"no cases":                            "UPDATE accounts SET cases = ''" + victim,
		"malformed cases":                     "UPDATE accounts SET cases = 'NOTHING'" + victim,
		"another salt":                        "UPDATE accounts SET salt = randomblob(16)" + victim,
		"a way back":                          `UPDATE accounts SET undos = '[{"email":"thief@example.com","code":"","expires":9e18}]'` + victim,
		"a later way back":                    `UPDATE accounts SET undos = json_replace(undos, '$[0].expires', 9000000000000000)` + victim,
		"a way back without an application":   `UPDATE accounts SET undos = json_remove(undos, '$[0].totp')` + victim,
		"a way back with another application": `UPDATE accounts SET undos = json_replace(undos, '$[0].totp', 'AAAA')` + victim,
		"a way back with codes by mail":       `UPDATE accounts SET undos = json_set(undos, '$[0].totp_used', json('false'))` + victim,
		"no passkey":                          `UPDATE accounts SET passkeys = '[]'` + victim,
		"another passkey":                     `UPDATE accounts SET passkeys = json_replace(passkeys, '$[0].public_key', 'AAAA')` + victim,
		"another authenticator":               `UPDATE accounts SET passkeys = json_replace(passkeys, '$[0].credential', 'AAAA')` + victim,
		"one more passkey":                    `UPDATE accounts SET passkeys = json_insert(passkeys, '$[1]', json_extract(passkeys, '$[0]'))` + victim,
		"a passkey that may be copied":        `UPDATE accounts SET passkeys = json_replace(passkeys, '$[0].synced', json('true'))` + victim,
		"a passkey of fewer signatures":       `UPDATE accounts SET passkeys = json_replace(passkeys, '$[0].counter', 0)` + victim,
		"malformed passkeys":                  "UPDATE accounts SET passkeys = '{'" + victim,
		"a way back without a passkey":        `UPDATE accounts SET undos = json_remove(undos, '$[0].passkeys')` + victim,
		"a way back with another passkey":     `UPDATE accounts SET undos = json_replace(undos, '$[0].passkeys[0].public_key', 'AAAA')` + victim,
		"malformed ways back":                 "UPDATE accounts SET undos = '{'" + victim,
		"swapped rows": `UPDATE accounts SET password = (SELECT o.password FROM accounts o WHERE o.id <> accounts.id),
			salt = (SELECT o.salt FROM accounts o WHERE o.id <> accounts.id)` + victim,
		"a change of itself": `INSERT INTO person_changes SELECT randomblob(16), id, email,
			(SELECT password FROM accounts WHERE email = 'mallory@example.com'), NULL, 0, '', '[]', '[]' FROM accounts` + victim,
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.join(ada)
			r.join(mallory)
			who, secret := r.session(ada)
			r.forge(who.Account, func(row *account.AccountRow) {
				row.TOTP, row.TOTPUsed, row.Cases = []byte("sealed"), true, account.CaseWithdrawal
				row.Passkeys = []account.Passkey{{Number: 1, Name: "phone", Credential: []byte("id"), PublicKey: []byte("key"), Counter: 9}}
				row.Undos = []account.Undo{{
					Email: "old@example.com", Expires: bourse.TimeOf(r.now) + bourse.Day, TOTP: []byte("sealed"), TOTPUsed: true,
					Passkeys: row.Passkeys,
				}}
			})
			r.behind(statement)

			_, err := r.logIn(account.LogIn{Email: ada, Password: password})
			if what == "a change of itself" { // there is no command for it
				if err != nil || len(r.forged) != 0 {
					t.Errorf("logged in with %v and alarms %v", err, r.forged)
				}
				return
			}
			if !errors.Is(err, account.ErrLogIn) || len(r.forged) != 1 {
				t.Errorf("the holder logs in with %v and alarms %v", err, r.forged)
			}
			refused(t, r, who)
			if who := r.who(secret); who.Account == 0 {
				t.Error("a session of before is not good any more")
			}
			r.session(mallory)
		})
	}
}

// refused wants no way into account of a row that was forged.
func refused(t *testing.T, r *rig, who account.Identity) {
	t.Helper()
	const thief = "thief@example.com"
	for _, email := range []string{ada, thief} {
		before, _ := r.box.Last(email)
		if err := r.ForgotPassword(t.Context(), email, visit); err != nil {
			t.Error(err)
		}
		if _, err := r.logIn(account.LogIn{Email: email, Password: password}); err == nil {
			t.Errorf("%s logs in", email)
		}
		if letter, _ := r.box.Last(email); letter != before {
			t.Errorf("%s got %+v", email, letter)
		}
		if a, found, err := r.ByEmail(t.Context(), email); found || err != nil {
			t.Errorf("%s is %+v %v", email, a, err)
		}
	}
	wantCode(t, r.ChangePassword(t.Context(), who, password, "battery staple", act(1, "")), bourse.CodeForbidden)
	wantCode(t, r.SecondFactor(t.Context(), who, act(2, "")), bourse.CodeForbidden)
	_, err := r.Factors(t.Context(), who.Account)
	wantCode(t, err, bourse.CodeForbidden)
	wantCode(t, r.ResetFactor(t.Context(), who.Account), bourse.CodeForbidden)
	if len(r.forged) != 1 {
		t.Errorf("alarms %v, want one for all uses", r.forged)
	}
}

// TestOldPersonPutBack puts the row back that an account had before its password, its
// address or its second factor was changed.
func TestOldPersonPutBack(t *testing.T) {
	for what, change := range map[string]func(*rig, account.Identity) error{
		"password": func(r *rig, who account.Identity) error {
			return r.ChangePassword(r.t.Context(), who, password, "battery staple", act(1, ""))
		},
		"factor": func(r *rig, who account.Identity) error {
			r.useTOTP(who)
			return nil
		},
		"address": func(r *rig, who account.Identity) error {
			return r.tryChangeEmail(who, ada, "lovelace@example.com", 0)
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.join(ada)
			who, _ := r.session(ada)
			r.behind("CREATE TABLE kept AS SELECT * FROM accounts")
			if err := change(r, who); err != nil {
				t.Fatal(err)
			}
			r.behind("DELETE FROM accounts")
			r.behind("INSERT INTO accounts SELECT * FROM kept")
			if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); !errors.Is(err, account.ErrLogIn) || len(r.forged) != 1 {
				t.Errorf("logged in with %v and alarms %v", err, r.forged)
			}
		})
	}
}

// TestForgedPersonWhileRunning changes a row while the exchange runs, where every
// request reads it.
func TestForgedPersonWhileRunning(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.beside("UPDATE accounts SET email = 'thief@example.com'")
	_, err := r.logIn(account.LogIn{Email: ada, Password: password})
	if !errors.Is(err, account.ErrLogIn) {
		t.Errorf("logged in with %v", err)
	}
	refused(t, r, who)
}

// TestOperatorSetsAPersonRight lets an operator give a forged row its holder's address:
// nothing else of the row counts, and its holder comes back by a reset.
func TestOperatorSetsAPersonRight(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.useTOTP(who)
	_, key := r.createKey(who.Account, account.NewKey{})
	r.behind("UPDATE accounts SET email = 'thief@example.com', totp_used = 0, cases = 'LOGIN'")
	if err := r.EndAccess(t.Context(), who.Account, ""); !errors.Is(err, account.ErrForged) {
		t.Errorf("without an address: %v", err)
	}
	if err := r.EndAccess(t.Context(), who.Account, ada); err != nil {
		t.Fatal(err)
	}
	r.gone("a key", key)
	r.restart()
	if len(r.forged) != 0 {
		t.Errorf("alarms %v", r.forged)
	}
	if err := r.ForgotPassword(t.Context(), ada, visit); err != nil {
		t.Fatal(err)
	}
	if err := r.ResetPassword(t.Context(), ada, r.code(ada), password, visit); err != nil {
		t.Fatal(err)
	}
	who, _ = r.session(ada)
	if f, err := r.Factors(t.Context(), who.Account); err != nil || f.Prepared || f.Used || f.Cases != 0 {
		t.Errorf("%+v %v", f, err)
	}
}

// TestChangeOfAPersonSurvives changes people, with commands that arrive, arrive unheard
// of and never arrive, and wants a restart to find what the journal decided.
func TestChangeOfAPersonSurvives(t *testing.T) {
	const next, moved = "battery staple", "lovelace@example.com"
	for breaks, changed := range map[breakage]bool{0: true, unanswered: true, late: true, lost: false} {
		for what, change := range map[string]func(*rig, account.Identity) error{
			"password": func(r *rig, who account.Identity) error {
				r.breaks = breaks
				return r.ChangePassword(r.t.Context(), who, password, next, act(1, ""))
			},
			"address": func(r *rig, who account.Identity) error {
				return r.tryChangeEmail(who, ada, moved, breaks)
			},
		} {
			t.Run(fmt.Sprintf("%s %d", what, breaks), func(t *testing.T) {
				r := newRig(t)
				r.join(ada)
				who, _ := r.session(ada)
				if err := change(r, who); (err == nil) != (breaks == 0) {
					t.Errorf("changed with %v", err)
				}
				in, out := account.LogIn{Email: ada, Password: next}, account.LogIn{Email: ada, Password: password}
				if what == "address" {
					in = account.LogIn{Email: moved, Password: password}
				}
				if !changed {
					in, out = out, in
				}
				for range 2 {
					r.restart()
					if _, err := r.logIn(in); err != nil {
						t.Errorf("what counts: %v", err)
					}
					if _, err := r.logIn(out); !errors.Is(err, account.ErrLogIn) {
						t.Errorf("what does not: %v", err)
					}
					if len(r.forged) != 0 {
						t.Errorf("alarms %v", r.forged)
					}
					r.settled(who.Account)
				}
			})
		}
	}
}

// settled wants nothing to wait for a decision, and no address to be reserved.
func (r *rig) settled(but bourse.AccountID) {
	r.t.Helper()
	if err := errors.Join(
		r.store.PersonChanges(r.t.Context(), func(row *account.AccountRow) error { return fmt.Errorf("%+v waits", row) }),
		r.store.Accounts(r.t.Context(), func(row *account.AccountRow) error {
			if row.ID != but {
				return fmt.Errorf("%+v is left", row)
			}
			return nil
		}),
	); err != nil {
		r.t.Error(err)
	}
}

// tryChangeEmail changes an address, with a breakage of its command.
func (r *rig) tryChangeEmail(who account.Identity, from, to string, breaks breakage) error {
	r.t.Helper()
	r.changeEmail(who, from, to)
	r.breaks = breaks
	return r.VerifyEmail(r.t.Context(), who, r.code(to), visit)
}

// TestUndecidedPerson reads the row of a person whose change was decided, and which the
// store has not been told of.
func TestUndecidedPerson(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.breaks = unanswered
	if err := r.ChangePassword(t.Context(), who, password, "battery staple", act(1, "")); err == nil {
		t.Error("it was answered")
	}
	if _, err := r.logIn(account.LogIn{Email: ada, Password: "battery staple"}); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); !errors.Is(err, account.ErrLogIn) {
		t.Errorf("the old password: %v", err)
	}
	if len(r.forged) != 0 {
		t.Errorf("alarms %v", r.forged)
	}
}

// TestSessionWithoutARow begins sessions whose commands arrive unheard of, or never, and
// wants them to open nothing and to be told nobody.
func TestSessionWithoutARow(t *testing.T) {
	for _, breaks := range []breakage{unanswered, late, lost} {
		r := newRig(t)
		r.join(ada)
		who, _ := r.session(ada)
		for range 3 {
			r.breaks = breaks
			if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); err == nil {
				t.Error("it was answered")
			}
			r.arrive()
		}
		for range 2 {
			r.restart()
			if list := r.Sessions(who.Account); len(list) != 1 || len(r.forged) != 0 {
				t.Errorf("%d: sessions %+v, alarms %v", breaks, list, r.forged)
			}
		}
	}
}

// TestLogInsAreLimited wants log-ins of an account, each of which is journaled, to be
// limited, and wrong ones to journal nothing.
func TestLogInsAreLimited(t *testing.T) {
	r := newLimitedRig(t, account.Limits{LogIns: 3})
	r.join(ada)
	r.join(mallory)
	before := r.engine.Seq()
	for range 5 {
		if _, err := r.logIn(account.LogIn{Email: ada, Password: "wrong horse"}); !errors.Is(err, account.ErrLogIn) {
			t.Error(err)
		}
	}
	if r.engine.Seq() != before {
		t.Errorf("wrong passwords wrote %d commands", r.engine.Seq()-before)
	}
	for range 3 {
		r.session(ada)
	}
	before = r.engine.Seq()
	_, err := r.logIn(account.LogIn{Email: ada, Password: password})
	wantCode(t, err, bourse.CodeBusy)
	if r.engine.Seq() != before {
		t.Errorf("a log-in too many wrote %d commands", r.engine.Seq()-before)
	}
	r.session(mallory)
	r.now = r.now.Add(time.Hour)
	r.session(ada)
}

// TestNoRowWithoutRoom asks for what needs a row and a command while the journal takes
// none, and wants no row to be written.
func TestNoRowWithoutRoom(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	id, _ := r.createKey(who.Account, account.NewKey{Name: "one"})
	full := bourse.Errorf(bourse.CodeUnavailable, "The disk is full")
	r.Ready = func(bourse.CommandKind) error { return full }
	rows := r.dump()
	_, err := r.Create(t.Context(), mallory)
	_, _, ofKey := r.CreateKey(t.Context(), who.Account, account.NewKey{})
	_, ofLogIn := r.logIn(account.LogIn{Email: ada, Password: password})
	for _, err := range []error{
		err, ofKey, ofLogIn,
		r.ChangeKey(t.Context(), who, &account.Key{ID: id, Account: who.Account, Name: "two", Scopes: account.ScopeRead}, visit),
		r.ChangePassword(t.Context(), who, password, "battery staple", act(1, "")),
	} {
		if !errors.Is(err, full) {
			t.Errorf("refused with %v", err)
		}
	}
	if now := r.dump(); now != rows {
		t.Errorf("rows were written:\n%s\nbefore\n%s", now, rows)
	}
}

// dump returns the rows that say who gets in.
func (r *rig) dump() string {
	r.t.Helper()
	var b strings.Builder
	if err := errors.Join(
		r.store.Accounts(r.t.Context(), func(row *account.AccountRow) error { fmt.Fprintf(&b, "%+v\n", row); return nil }),
		r.store.PersonChanges(r.t.Context(), func(row *account.AccountRow) error { fmt.Fprintf(&b, "%+v\n", row); return nil }),
		r.store.Keys(r.t.Context(), func(row *account.KeyRow) error { fmt.Fprintf(&b, "%+v\n", row); return nil }),
		r.store.KeyChanges(r.t.Context(), func(c *account.KeyChange) error { fmt.Fprintf(&b, "%+v\n", c); return nil }),
		r.store.Sessions(r.t.Context(), func(row *account.SessionRow) error { fmt.Fprintf(&b, "%+v\n", row); return nil }),
	); err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}
