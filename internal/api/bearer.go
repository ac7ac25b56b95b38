package api

import (
	"net/http"
	"strings"

	"github.com/bourse-exchange/bourse/internal/account"
)

// Bearer returns the key in the header Authorization. shown is false without the header, ok
// unless there is one header with the scheme Bearer.
func Bearer(h http.Header) (key account.Secret, shown, ok bool) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", false, false
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true, false
	}
	return account.Secret(strings.TrimSpace(secret)), true, true
}
