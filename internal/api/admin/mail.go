package admin

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Letters keeps the mail of a sandbox instead of sending it.
type Letters interface {
	// Last returns the last letter to an address; false if there is none.
	Last(to string) (account.Mail, bool)
}

// mailLast shows the last letter to an address.
func (s *Server) mailLast(_ context.Context, args jsontext.Value) (any, error) {
	var a struct {
		Email string `json:"email"`
	}
	if err := read(args, &a); err != nil {
		return nil, err
	}

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
