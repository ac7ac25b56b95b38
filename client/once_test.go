package client

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestOnceKeepsTheDoubt wants a refusal that does not reach the first attempt to leave its
// outcome unknown, and an answer about the order to settle it.
func TestOnceKeepsTheDoubt(t *testing.T) {
	unknown := &Error{Status: 200, Code: "TIMEOUT", Message: "Outcome unknown"}
	for _, c := range []struct {
		then    []error
		unknown bool
		calls   int
	}{
		{[]error{nil}, false, 2},
		{[]error{&Error{Status: 429, Code: "RATE_LIMIT"}, nil}, false, 3},
		{[]error{&Error{Status: 200, Code: "UNAVAILABLE"}, &Error{Status: 200, Code: "DISK_FULL"}, nil}, false, 4},
		{[]error{&Error{Status: 200, Code: "INSUF_FUNDS"}}, false, 2},
		{[]error{&Error{Status: 200, Code: "INVALID_KEY"}}, true, 2},
		{[]error{&Error{Status: 200, Code: "REQUIRE_2FA"}}, true, 2},
		{[]error{&Error{Status: 200, Code: "REQUEST_EXPIRED"}, nil}, false, 3},
		{[]error{&Error{Status: 200, Code: "INVALID_SIGNATURE"}}, true, 2},
		{[]error{&Error{Status: 200, Code: "REQUEST_REPEATED"}, nil}, false, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			_, err := once(t.Context(), func() (nothing, error) {
				calls++
				if calls == 1 {
					return nothing{}, unknown
				}
				return nothing{}, c.then[calls-2]
			})
			if errors.Is(err, ErrOutcomeUnknown) != c.unknown || calls != c.calls {
				t.Errorf("%v: %d calls, %v", c.then, calls, err)
			}
		})
	}
}

// TestFinal wants streams to end for errors that stay, and for no other.
func TestFinal(t *testing.T) {
	for code, want := range map[string]bool{
		"HISTORY_BEHIND": false, "UNAVAILABLE": false, "INTERNAL_SERVER_ERROR": false, "RATE_LIMIT": false, "TIMEOUT": false,
		"REQUEST_EXPIRED": false, "INVALID_SIGNATURE": true,
		"INVALID_KEY": true, "UNAUTHORIZED": true, "FORBIDDEN": true, "VALIDATION_ERROR": true, "NOT_FOUND": true,
	} {
		if got := final(&Error{Code: code}); got != want {
			t.Errorf("%s ends a stream: %v, want %v", code, got, want)
		}
	}
}
