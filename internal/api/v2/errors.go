package v2

import (
	"errors"
	"net/http"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// statuses maps codes to their HTTP status. Any other code refuses a well-formed request:
// 406.
var statuses = map[codes.Code]int{
	codes.MissingData: http.StatusBadRequest, codes.ValidationError: http.StatusBadRequest,

	codes.Unauthorized: http.StatusUnauthorized, codes.LoginFailed: http.StatusUnauthorized,
	codes.WrongPassword: http.StatusUnauthorized, codes.InvalidVerificationCode: http.StatusUnauthorized,

	codes.InvalidSignature: http.StatusForbidden, codes.RequestExpired: http.StatusForbidden,
	codes.RequestRepeated: http.StatusConflict,

	codes.InvalidKey: http.StatusForbidden, codes.Forbidden: http.StatusForbidden,
	codes.Invalid2FA: http.StatusForbidden, codes.AccountInactive: http.StatusForbidden,
	codes.AlreadyLoggedIn:  http.StatusForbidden,
	codes.TermsNotAccepted: http.StatusForbidden,

	codes.NotFound: http.StatusNotFound, codes.InvalidEndpoint: http.StatusNotFound,

	codes.MethodNotAllowed: http.StatusMethodNotAllowed, codes.AlreadyConfigured: http.StatusMethodNotAllowed,
	codes.NotConfigured: http.StatusMethodNotAllowed,

	codes.Conflict:            http.StatusConflict,
	codes.RateLimit:           http.StatusTooManyRequests,
	codes.InternalServerError: http.StatusInternalServerError,
	codes.Timeout:             http.StatusGatewayTimeout,
	codes.Require2FA:          http.StatusNetworkAuthenticationRequired,
}

// statusOf returns the HTTP status of a code.
func statusOf(code codes.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusNotAcceptable
}

// public returns the error for clients, with V2's code; nil if err is internal. It replaces
// two messages: of [bourse.InsufficientFunds], which begins with V1's reason, and of the
// demand of a second factor, which V2 answers with the place of it alone.
func public(err error) *api.Error {
	e := api.Known(err)
	if e == nil {
		return nil
	}

	told := &api.Error{Code: codes.V2(e.Code), Message: e.Message}
	var factor *account.FactorError
	var known *bourse.Error
	switch {
	case errors.As(err, &factor):
		told.Message = factor.Place
	case errors.As(err, &known) && known.Reason == bourse.InsufficientFunds:
		told.Message = "Less is available than amount and fee"
	}
	return told
}
