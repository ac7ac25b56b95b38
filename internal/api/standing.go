package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
)

// Standing is the state of a payer's limit. The zero Standing means no limit.
type Standing struct {
	// Limit is the number of requests at once after a pause, Left the number of further
	// ones now.
	Limit, Left int
	// Full is the time until Left is Limit, Next the time until Left is not zero.
	Full, Next time.Duration
}

// Reset returns Full in whole seconds, rounded up.
func (s Standing) Reset() int { return seconds(s.Full) }

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// Names of the headers with a Standing. Their spelling is not net/http's canonical one.
const (
	headerLimit     = "RateLimit-Limit"
	headerRemaining = "RateLimit-Remaining"
	headerReset     = "RateLimit-Reset"
	headerExpose    = "Access-Control-Expose-Headers"
)

// exposed names the headers of limits to pages of other origins.
const exposed = headerLimit + ", " + headerRemaining + ", " + headerReset + ", Retry-After"

var onlyLimits = []string{exposed}

// tell sets the headers of a limit that was applied. A writer with SetLimit appends the
// numbers itself, without an allocation.
func (s Standing) tell(w http.ResponseWriter) {
	if s.Limit == 0 {
		return
	}

	h := w.Header()
	switch others := h[headerExpose]; {
	case len(h[headerOrigin]) == 0: // pages of our own origin read all headers
	case len(others) == 0:
		h[headerExpose] = onlyLimits
	default:
		h[headerExpose] = []string{strings.Join(others, ", ") + ", " + exposed}
	}

	if writer, ok := w.(interface {
		SetLimit(limit, remaining, reset int)
	}); ok {
		writer.SetLimit(s.Limit, s.Left, s.Reset())
		return
	}
	h[headerLimit] = []string{strconv.Itoa(s.Limit)}
	h[headerRemaining] = []string{strconv.Itoa(s.Left)}
	h[headerReset] = []string{strconv.Itoa(s.Reset())}
}

// retryAfter sets the seconds after which a refused client may try again, at least one.
func retryAfter(h http.Header, wait time.Duration) {
	h["Retry-After"] = []string{strconv.Itoa(max(seconds(wait), 1))}
}

// Limited is a limit of a client.
type Limited struct {
	// Class is the kind of requests that count; Scope is account or source: all requests of
	// one account, or of one source, count together.
	Class, Scope string
	Standing
}

// Words of limits for clients.
const (
	scopeAccount = "account"
	scopeSource  = "source"
)

var classWords = [classes]string{
	Reads: "reads", Orders: "orders", Cancels: "cancels", Frames: "frames", Subscriptions: "subscriptions",
}

// List returns the limits of a payer that are set: the account's own or, without an account,
// the source's. It counts nothing.
func (l *Limiter) List(who Payer) (list []Limited) {
	if l == nil {
		return nil
	}
	add := func(class, scope string, s Standing) {
		if s.Limit > 0 {
			list = append(list, Limited{class, scope, s})
		}
	}

	now := l.now()
	if who.Account != 0 {
		for class, table := range l.accounts {
			add(classWords[class], scopeAccount, table.look(who.Account, now))
		}
		return list
	}

	source := account.Neighbourhood(who.Source)
	add("requests", scopeSource, l.sources[Reads].look(source, now))
	add(classWords[Frames], scopeSource, l.sources[Frames].look(source, now))
	add(classWords[Subscriptions], scopeSource, l.sources[Subscriptions].look(source, now))
	add("invalid_keys", scopeSource, l.failures.look(source, now))
	return list
}
