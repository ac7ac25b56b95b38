package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is an exchange's refusal.
type Error struct {
	// Path is the endpoint, or the operation of a stream.
	Path string
	// Status is the status of the answer: 200 if the exchange understood the request and
	// refused it; zero on a stream.
	Status int
	// Code names the reason, such as INSUF_FUNDS; empty if the exchange names none.
	Code string
	// Message is the exchange's sentence, or the status if there is none.
	Message string
	// RetryAfter is the time after which a request beyond a limit may succeed; zero if the
	// exchange does not say it.
	RetryAfter time.Duration
	// Limit is the limit that the request counted against, if the exchange tells it.
	Limit Limit
}

// Limit is the state of a limit of requests, from the headers RateLimit-Limit,
// RateLimit-Remaining and RateLimit-Reset.
type Limit struct {
	// Limit is the number of requests that an unused limit allows at once, Remaining the
	// number that it allows now.
	Limit, Remaining int
	// Reset is the time until Remaining equals Limit again.
	Reset time.Duration
}

// Error returns path and sentence.
func (e *Error) Error() string { return e.Path + ": " + e.Message }

// The errors that errors.Is finds.
var (
	// ErrOutcomeUnknown means that the request may have been carried out: the connection
	// broke before the answer, the exchange does not know yet, or something between sent a
	// signed request twice.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrTooManyRequests means that a limit was reached; nothing was carried out.
	ErrTooManyRequests = errors.New("too many requests")
	// ErrUnauthorized means that the key is malformed, unknown, revoked or expired.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrOrderNotFound means that the account has no such order or, for a cancel, that the
	// order is done.
	ErrOrderNotFound = errors.New("order not found")
	// ErrListNotFound means the same of a list of orders.
	ErrListNotFound = errors.New("list not found")
	// ErrAlreadySent means that a withdrawal cannot be canceled any more.
	ErrAlreadySent = errors.New("withdrawal already sent")
)

// sentences maps the sentences that V1 promises word for word to their errors.
var sentences = map[string]error{
	"Outcome unknown":         ErrOutcomeUnknown,
	"Too many requests":       ErrTooManyRequests,
	"Unauthorized":            ErrUnauthorized,
	"Order not found":         ErrOrderNotFound,
	"List not found":          ErrListNotFound,
	"Withdrawal already sent": ErrAlreadySent,
}

// repeated is the code of the refusal of a signed request that was taken before.
const repeated = "REQUEST_REPEATED"

// Is reports whether the refusal is one of this package's errors.
func (e *Error) Is(target error) bool {
	return sentences[e.Message] == target || e.Status == http.StatusTooManyRequests && target == ErrTooManyRequests ||
		e.Code == repeated && target == ErrOutcomeUnknown
}

// passing lists the codes of refusals after which the same request may succeed. A signed one
// expires in the first second after a start of the exchange; each attempt is signed anew.
var passing = []string{
	"RATE_LIMIT", "UNAVAILABLE", "DISK_FULL", "HISTORY_BEHIND", "TIMEOUT", "INTERNAL_SERVER_ERROR", "REQUEST_EXPIRED",
}

// passes reports whether an error is a refusal after which the same request may succeed.
func passes(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError ||
		e.Is(ErrOutcomeUnknown) || e.Is(ErrTooManyRequests) || slices.Contains(passing, e.Code))
}

// ofEdge lists the codes of refusals that precede the check of the client id: the outcome of an
// earlier request with the same id stays unknown.
var ofEdge = []string{
	"INVALID_KEY", "INVALID_SIGNATURE", "UNAUTHORIZED", "FORBIDDEN", "REQUIRE_2FA", "INVALID_2FA", "VALIDATION_ERROR",
	"MISSING_DATA", "NOT_FOUND", "INVALID_ADDRESS", "",
}

func isOfEdge(err error) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(ofEdge, e.Code)
}

// refusal returns the error of an answer, or nil. The body of a status other than 200 and 404
// means nothing.
func refusal(path string, res *http.Response, body []byte) error {
	e := &Error{Path: path, Status: res.StatusCode, Message: res.Status}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNotFound {
		e.RetryAfter = headerSeconds(res.Header, "Retry-After")
		e.Limit = Limit{
			Limit: headerCount(res.Header, "RateLimit-Limit"), Remaining: headerCount(res.Header, "RateLimit-Remaining"),
			Reset: headerSeconds(res.Header, "RateLimit-Reset"),
		}
		return e
	}

	var answer struct {
		Success     *bool
		Error, Code string
	}
	err := json.Unmarshal(body, &answer)
	switch {
	case res.StatusCode == http.StatusNotFound:
		e.Code = answer.Code
		if answer.Error != "" {
			e.Message = answer.Error
		}
		return e
	case err != nil:
		return fmt.Errorf("%s: the answer is none of V1: %w", path, err)
	case answer.Success == nil:
		return fmt.Errorf("%s: the answer is none of V1: it has no success", path)
	case *answer.Success:
		return nil
	}
	e.Code, e.Message = answer.Code, answer.Error
	return e
}

// headerCount returns a header's number; zero if there is none.
func headerCount(h http.Header, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get(name)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func headerSeconds(h http.Header, name string) time.Duration {
	return time.Duration(headerCount(h, name)) * time.Second
}
