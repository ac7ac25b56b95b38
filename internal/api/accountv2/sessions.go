package accountv2

import (
	"cmp"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// LogInFields are the fields of a log-in.
var LogInFields = api.Fields{"email", "password", "remember"}

// LogIn starts a session with the fields of a request, and returns its secret.
func (a *Account) LogIn(c *v2.Call) (account.Secret, error) {
	given := texts(c, "email", "password")
	in := account.LogIn{
		Email: given[0], Password: given[1], Remember: c.Bool("remember"), Act: c.Act(account.CaseLogin),
	}
	if err := c.Err(); err != nil {
		return "", err
	}
	return a.Accounts.LogIn(c.Context, in)
}

// logIn starts a session and answers with its secret.
func (a *Account) logIn(c *v2.Call) error {
	secret, err := a.LogIn(c)
	if err != nil {
		return err
	}
	c.Out.Word("apiKey", string(secret))
	return nil
}

// sessions lists the account's sessions.
func (a *Account) sessions(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
		return err
	}

	v2.WritePart(c, "sessions", p, a.Accounts.Sessions(c.Who.Account), func(s *account.Session) { writeSession(c, s) })
	return nil
}

// unknown stands for the parts of a client that its user agent does not tell.
const unknown = "Unknown"

func writeSession(c *v2.Call, s *account.Session) {
	browser, system, device := client(s.Agent)
	c.Out.Uint("sid", uint64(s.ID))
	c.Out.Seconds("lastAct", s.Used)
	c.Out.Text("browser", cmp.Or(browser, unknown))
	c.Out.Text("os", cmp.Or(system, unknown))
	c.Out.Text("device", cmp.Or(device, unknown))
	c.Out.Maybe("ip", s.Address)
	c.Out.Seconds("created", s.Created)
	c.Out.Seconds("expires", s.Expires)
	c.Out.Bool("current", s.ID == c.Who.Session)
}

// one returns the session that the path names.
func one(c *v2.Call) account.SessionID {
	if c.Segment("sid") == "current" {
		return c.Who.Session
	}
	return account.SessionID(c.SegmentID("sid"))
}

// session writes one session.
func (a *Account) session(c *v2.Call) error {
	id := one(c)
	if err := c.Err(); err != nil {
		return err
	}

	s, err := a.Accounts.Session(c.Who.Account, id)
	if err != nil {
		return err
	}
	writeSession(c, &s)
	return nil
}

// endSession ends a session.
func (a *Account) endSession(c *v2.Call) error {
	id := one(c)
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.EndSession(c.Context, c.Who.Account, id, c.Visit())
}

// endSessions ends all sessions, including the request's own.
func (a *Account) endSessions(c *v2.Call) error {
	return a.Accounts.EndSessions(c.Context, c.Who.Account, 0)
}

// endOthers ends all sessions but the request's own.
func (a *Account) endOthers(c *v2.Call) error {
	return a.Accounts.EndSessions(c.Context, c.Who.Account, c.Who.Session)
}
