package browser

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// errTerms is the error for what needs the current terms.
var errTerms = api.Errorf(codes.TermsNotAccepted, "Accept the current terms first")

// acceptTerms notes that the account accepts a version of the terms.
func (s *Sessions) acceptTerms(c *v2.Call) error {
	c.Require("version")
	version := c.Text("version")
	if err := c.Err(); err != nil {
		return err
	}
	return s.Accounts.AcceptTerms(c.Context, c.Who.Account, version, c.Visit())
}

// NeedTerms has V1's endpoints that trade, withdraw or make keys need accepted terms.
func (s *Sessions) NeedTerms(endpoints []api.Endpoint) []api.Endpoint {
	for i := range endpoints {
		e := &endpoints[i]
		if answer := e.Answer; needTerms(e.Class, e.Scope, e.Path, "/api_keys/new") {
			e.Answer = func(c *api.Call) error {
				if err := s.terms(c.Who.Account); err != nil {
					return err
				}
				return answer(c)
			}
		}
	}
	return endpoints
}

// NeedTermsV2 has V2's endpoints that withdraw or make keys need accepted terms.
func (s *Sessions) NeedTermsV2(endpoints []v2.Endpoint) []v2.Endpoint {
	for i := range endpoints {
		e := &endpoints[i]
		if answer := e.Answer; needTerms(e.Class, e.Scope, e.Method+e.Path, "POST/api-keys") {
			e.Answer = func(c *v2.Call) error {
				if err := s.terms(c.Who.Account); err != nil {
					return err
				}
				return answer(c)
			}
		}
	}
	return endpoints
}

// needTerms reports whether an endpoint needs accepted terms: it moves money or names where money
// goes, or makes a key, which pages could not ask later. Cancels and reads never do.
func needTerms(class api.Class, scope account.Scopes, path, newKey string) bool {
	return path == newKey || class == api.Orders && (scope == account.ScopeTrade || scope == account.ScopeWithdraw)
}

func (s *Sessions) terms(id bourse.AccountID) error {
	if s.Accounts.AcceptedTerms(id) {
		return nil
	}
	return errTerms
}
