package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Letters keeps the mail of a sandbox instead of sending it.
type Letters interface {
	// Last returns the last letter to an address; false if there is none.
	Last(to string) (account.Mail, bool)
}

type mailLastArgs struct {
	Email string `json:"email"`
}

// mailLast shows the last letter to an address.
func (s *Server) mailLast(_ context.Context, a mailLastArgs) (any, error) {
	if s.Letters == nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "this exchange sends its mail; only a sandbox shows it")
	}

	to, err := account.NormalizeEmail(a.Email)
	if err != nil {
		return nil, err
	}

	m, found := s.Letters.Last(to)
	if !found {
		return nil, bourse.Errorf(bourse.CodeNotFound, "no letter was sent to this address")
	}

	return struct {
		Subject string `json:"subject"`
		Code    string `json:"code"`
		Text    string `json:"text"`
	}{m.Subject, m.Code, m.Text}, nil
}
