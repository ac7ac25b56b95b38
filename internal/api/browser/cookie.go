package browser

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// The names of the cookies of customers and operators. Browsers take one with this prefix only
// from the host itself, over TLS or from loopback, and for all of its paths.
const (
	cookieName         = "__Host-bourse"
	operatorCookieName = cookieName + "-operator"
)

// CookieName returns the name of the cookie. A sandbox adds a mark, such as its port, because exchanges on
// one host get the cookies of each other.
func CookieName(mark string) string { return withMark(cookieName, mark) }

// OperatorCookieName is CookieName for the cookie of operators.
func OperatorCookieName(mark string) string { return withMark(operatorCookieName, mark) }

func withMark(name, mark string) string {
	if mark == "" {
		return name
	}
	return name + "-" + mark
}

// Sessions are the sessions whose secret is in a cookie.
type Sessions struct {
	Accounts *account.Service
	// Cookie is the cookie's name.
	Cookie string
	// Sandbox is set where the money is not real; pages then show a ribbon and the faucet.
	Sandbox bool
	// From returns the client's address.
	From func(*http.Request) netip.Addr
	Now  func() time.Time
}

// errKey is the error for a request with a key beside or in place of a cookie.
var errKey = api.Errorf(codes.ValidationError, "Paths below /web take the cookie of a page, and no key")

// Secret returns the secret in the cookie of a request. A session that has ended is none,
// and its cookie is removed.
func (s *Sessions) Secret(c *api.Call) (account.Secret, bool, error) {
	for _, name := range [...]string{"Authorization", "Bourse-Key"} {
		if _, given := c.HTTP.Header[name]; given {
			return "", false, errKey
		}
	}

	secret, err := s.secret(c.Context, c.HTTP, c.From)
	if errors.Is(err, account.ErrUnauthorized) {
		s.drop(c.Header)
		return "", false, nil
	}
	return secret, secret != "", err
}

// secret returns the secret in a request's cookie; empty without a cookie. The error is
// ErrUnauthorized for any secret but that of a live session. Such ones do not count as
// invalid secrets of their source: an ended session makes a guest, whom no neighbour's limit
// may keep from logging in again.
func (s *Sessions) secret(ctx context.Context, r *http.Request, from netip.Addr) (account.Secret, error) {
	given := r.CookiesNamed(s.Cookie)
	switch len(given) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", account.ErrUnauthorized
	}

	secret := account.Secret(given[0].Value)
	who, err := s.Accounts.Authenticate(ctx, secret, from)
	if err == nil && who.Session == 0 { // an API key
		err = account.ErrUnauthorized
	}
	return secret, err
}

// put sets the cookie to the secret of a session, which the browser forgets when it closes,
// or keeps until the session expires.
func (s *Sessions) put(h http.Header, secret account.Secret, who *account.Identity, keep bool) {
	age := 0
	if keep {
		age = max(int((who.Expires-bourse.TimeOf(s.Now()))/bourse.Second), 1)
	}
	s.set(h, string(secret), age)
}

// drop removes the cookie.
func (s *Sessions) drop(h http.Header) { s.set(h, "", -1) }

// set sets the cookie to a value for a number of seconds; zero is until the browser closes.
func (s *Sessions) set(h http.Header, value string, age int) { SetCookie(h, s.Cookie, value, age) }

// SetCookie sets a cookie that scripts cannot read and pages of other sites do not send, for a
// number of seconds; zero is until the browser closes, a negative one removes it.
func SetCookie(h http.Header, name, value string, age int) {
	c := http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	h.Add("Set-Cookie", c.String())
}
