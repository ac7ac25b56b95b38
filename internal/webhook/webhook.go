package webhook

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

const (
	// mostEndpoints bounds the endpoints, each of which has a goroutine and a connection.
	mostEndpoints = 16
	// mostURL bounds a URL, in bytes.
	mostURL = 512
	// mostCause bounds the text of a failure, in bytes.
	mostCause = 200
)

// ID is the id of an endpoint.
type ID uint64

// Endpoint is a URL that bulletins are delivered to.
type Endpoint struct {
	ID      ID
	URL     string
	Kinds   Kinds
	Created bourse.Time
	// Sealed is the encrypted secret.
	Sealed []byte
	Progress
}

// Progress is how far an endpoint's deliveries are.
type Progress struct {
	// After is the place of the last bulletin that was delivered or that the endpoint does not
	// want; Delivered counts those delivered.
	After     history.BulletinPlace
	Delivered uint64
	// Failing is the time of the first failure since the last delivery, or zero.
	Failing bourse.Time
	// Disabled is the time when deliveries ended, or zero; Cause tells why.
	Disabled bourse.Time
	Cause    string
}

// Store keeps endpoints. Every write is durable when it returns.
type Store interface {
	// Webhooks returns all endpoints by ascending id.
	Webhooks(ctx context.Context) ([]Endpoint, error)
	// AddWebhook adds an endpoint and sets its id.
	AddWebhook(ctx context.Context, e *Endpoint) error
	// MoveWebhook sets an endpoint's progress. It does nothing without the endpoint.
	MoveWebhook(ctx context.Context, id ID, p *Progress) error
	// RemoveWebhook removes an endpoint.
	RemoveWebhook(ctx context.Context, id ID) error
}

// Kinds selects bulletins: words of kinds, as account.tier, and areas, as account, which select
// all kinds of the area, later ones too.
type Kinds []string

// ParseKinds reads a selection of a comma-separated list. The error is an *bourse.Error.
func ParseKinds(text string) (Kinds, error) {
	var kinds Kinds
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if !selects(word) {
			return nil, bourse.Errorf(bourse.CodeInvalid, "kinds: unknown kind %q; there are %s", word, strings.Join(words(), ", "))
		}
		if !slices.Contains(kinds, word) {
			kinds = append(kinds, word)
		}
	}
	return kinds, nil
}

// String returns the list that ParseKinds reads.
func (k Kinds) String() string { return strings.Join(k, ",") }

// Has reports whether a kind is selected.
func (k Kinds) Has(kind history.BulletinKind) bool {
	word := kind.String()
	return word != "" && slices.ContainsFunc(k, func(selected string) bool { return within(word, selected) })
}

// within reports whether a kind's word is selected by a word.
func within(word, selected string) bool {
	return word == selected || strings.HasPrefix(word, selected+".")
}

// selects reports whether a word selects any kind.
func selects(word string) bool {
	return slices.ContainsFunc(words(), func(kind string) bool { return within(kind, word) })
}

// words returns the words of all kinds.
func words() (list []string) {
	for k := history.BulletinKind(1); k <= history.LastBulletinKind; k++ {
		list = append(list, k.String())
	}
	return list
}

// Rules bound the URLs of endpoints.
type Rules struct {
	// Plain permits http, Private addresses that are not public.
	Plain, Private bool
}

// check refuses a URL that is malformed or against the rules. Names are resolved, and their
// addresses checked, by each connection. The error is an *bourse.Error.
func (r Rules) check(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > mostURL || u.Hostname() == "" || u.Opaque != "":
		return bourse.Errorf(bourse.CodeInvalid, "url: must be as https://HOST/PATH, of at most %d bytes", mostURL)
	case u.Scheme != "https" && (u.Scheme != "http" || !r.Plain):
		return bourse.Errorf(bourse.CodeInvalid, "url: must begin with https://")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return bourse.Errorf(bourse.CodeInvalid, "url: must have no user, query or fragment; the signature proves the sender")
	}
	if address, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := r.admit(address); err != nil {
			return bourse.Errorf(bourse.CodeInvalid, "url: %v", err)
		}
	}
	return nil
}

// Host returns the host of an endpoint, which may be logged: a path may be a secret of the
// receiver.
func (e *Endpoint) Host() string { return hostOf(e.URL) }

// Stub returns the URL of an endpoint without its path, for callers that may not know the path.
func (e *Endpoint) Stub() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	if u.Path == "" || u.Path == "/" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + "://" + u.Host + "/…"
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
