package browser

import (
	"errors"
	"net/http"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// Stream returns the handler of a stream that belongs to the account of the cookie, and to
// none without a live session.
func (s *Sessions) Stream(streams *stream.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret, err := s.secret(r.Context(), r, s.From(r))
		switch {
		case errors.Is(err, account.ErrUnauthorized), err == nil && secret == "":
			streams.ServeHTTP(w, r)
		case err != nil:
			v2.Refuse(w, err)
		default:
			streams.AcceptAs(w, r, secret)
		}
	})
}
