package account

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Identity is an authenticated caller.
type Identity struct {
	Account bourse.AccountID
	// Key names the key; a session has an id above FirstSession, which no key has.
	Key    bourse.KeyID
	Scopes Scopes
	// Session is zero for a key.
	Session SessionID
	// Expires is the end of the secret's validity; zero for never.
	Expires bourse.Time
}

// Account is a customer's account.
type Account struct {
	ID bourse.AccountID
	// Email is normalised; empty for an account without a person, such as a simulated
	// trader's.
	Email   string
	Created bourse.Time
	// Frozen accounts place no orders; they can still read and cancel.
	Frozen bool
}

// Key is an API key without its secret.
type Key struct {
	ID      bourse.KeyID
	Account bourse.AccountID
	// Name is chosen by the owner.
	Name string
	// Kind never changes.
	Kind   KeyKind
	Scopes Scopes
	// Addresses are the networks that the key may be used from; none means any.
	Addresses []netip.Prefix
	// Expires is zero for a key without expiry; Revoked is zero for a live key.
	Expires bourse.Time
	Created bourse.Time
	Revoked bourse.Time
	// Used is the time of the last use, accurate to a minute; zero for never.
	Used bourse.Time
}

// NewKey is a request for a key.
type NewKey struct {
	// Name has up to 128 bytes; it may be empty.
	Name string
	// Kind is KindSecret if zero. A key of KindEd25519 has a PublicKey.
	Kind      KeyKind
	PublicKey ed25519.PublicKey
	// Scopes are DefaultScopes if zero.
	Scopes Scopes
	// Addresses are the networks that the key may be used from; none means any.
	Addresses []netip.Prefix
	// Expires is zero for never.
	Expires bourse.Time
	// Once is the client's idempotency key for Request; see OrderKey.
	Once    bourse.ClientID
	Request Digest
}

// The bounds of client input, in bytes; maxAddresses counts networks.
const (
	maxEmail     = 254 // RFC 5321, 4.5.3.1.3, without the brackets
	maxLocal     = 64  // RFC 5321, 4.5.3.1.1
	maxName      = 128
	maxAddresses = 32
)

// NormalizeEmail returns the unique form of an e-mail address: trimmed and in lower case,
// since no mail system in use distinguishes people by case. Quotes, comments and display
// names are refused. The error is an *bourse.Error with CodeInvalid.
func NormalizeEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, domain, _ := strings.Cut(s, "@")
	if len(s) > maxEmail || len(local) > maxLocal || !dotted(local, localChar) || !dotted(domain, domainChar) {
		return "", bourse.Errorf(bourse.CodeInvalid, "email: not an e-mail address")
	}
	return s, nil
}

// dotted reports whether s is a sequence of non-empty words of good characters, separated
// by dots.
func dotted(s string, good func(byte) bool) bool {
	for word := range strings.SplitSeq(s, ".") {
		if word == "" {
			return false
		}
		for _, c := range []byte(word) {
			if !good(c) {
				return false
			}
		}
	}
	return true
}

func domainChar(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }

func localChar(c byte) bool { return domainChar(c) || strings.IndexByte("!#$%&'*+/=?^_`{|}~", c) >= 0 }

// ParseAddresses reads a list of addresses and networks like
// 192.0.2.7,2001:db8::/32. The error is an *bourse.Error with CodeInvalid.
func ParseAddresses(list string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for word := range strings.SplitSeq(list, ",") {
		p, err := parsePrefix(strings.TrimSpace(word))
		if err != nil {
			return nil, bourse.Errorf(bourse.CodeInvalid, "addresses: %q is neither an address nor a network", word)
		}
		prefixes = append(prefixes, p)
	}
	return prefixes, nil
}

func parsePrefix(s string) (netip.Prefix, error) {
	if strings.Contains(s, "/") {
		return netip.ParsePrefix(s)
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(a.WithZone(""), a.BitLen()), nil
}

// check validates k and fills in its defaults.
func (k *NewKey) check(now bourse.Time) error {
	if k.Scopes == 0 {
		k.Scopes = DefaultScopes
	}

	switch {
	case len(k.Name) > maxName || strings.ContainsFunc(k.Name, control):
		return bourse.Errorf(bourse.CodeInvalid, "name: at most %d bytes, no control characters", maxName)
	case !k.Scopes.valid():
		return bourse.Errorf(bourse.CodeInvalid, "scopes: unknown")
	case k.Expires != 0 && k.Expires <= now:
		return bourse.Errorf(bourse.CodeInvalid, "expires: in the past")
	}

	var err error
	if k.Addresses, err = CheckAddresses(k.Addresses); err != nil {
		return err
	}
	return k.checkKind()
}

// CheckAddresses returns the networks that a key may be used from, in their one form. The error is an
// *bourse.Error with CodeInvalid.
func CheckAddresses(list []netip.Prefix) ([]netip.Prefix, error) {
	if len(list) > maxAddresses {
		return nil, bourse.Errorf(bourse.CodeInvalid, "addresses: at most %d", maxAddresses)
	}

	addresses := make([]netip.Prefix, len(list))
	for i, p := range list {
		if !p.IsValid() || p.Addr().Is4In6() {
			return nil, bourse.Errorf(bourse.CodeInvalid, "addresses: %s is no network", p)
		}
		addresses[i] = p.Masked()
	}
	return addresses, nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// ByID returns an account; false if there is none.
func (s *Service) ByID(ctx context.Context, id bourse.AccountID) (Account, bool, error) {
	row, err := s.person(ctx, id)
	if errors.Is(err, ErrNone) || errors.Is(err, ErrForged) {
		row.Account, err = Account{ID: id}, nil // the journal alone knows the account
	}
	if err != nil {
		return Account{}, false, err
	}
	return s.standing(row.Account)
}

// ByEmail returns the account of an e-mail address; false if there is none. The
// error may be an *bourse.Error with CodeInvalid.
func (s *Service) ByEmail(ctx context.Context, email string) (Account, bool, error) {
	email, err := NormalizeEmail(email)
	if err != nil {
		return Account{}, false, err
	}
	row, ok, err := s.personOf(ctx, email)
	if err != nil || !ok {
		return Account{}, false, err
	}
	return s.standing(row.Account)
}

// standing adds the account's state in the journal; false if the journal has no such
// account.
func (s *Service) standing(a Account) (Account, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.account(a.ID)
	if f == nil {
		return Account{}, false, nil
	}
	a.Frozen = f.frozen
	return a, true, nil
}
