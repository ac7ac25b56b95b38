package v2

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Code identifies an error to clients.
type Code string

// The codes.
const (
	MissingData             Code = "MISSING_DATA"
	ValidationError         Code = "VALIDATION_ERROR"
	Unauthorized            Code = "UNAUTHORIZED"
	LoginFailed             Code = "LOGIN_FAILED"
	WrongPassword           Code = "WRONG_PASSWORD"
	InvalidVerificationCode Code = "INVALID_VERIFICATION_CODE"
	InvalidKey              Code = "INVALID_KEY"
	Forbidden               Code = "FORBIDDEN"
	Invalid2FA              Code = "INVALID_2FA"
	AccountInactive         Code = "ACCOUNT_INACTIVE"
	AlreadyLoggedIn         Code = "ALREADY_LOGGED_IN"
	NotFound                Code = "NOT_FOUND"
	InvalidEndpoint         Code = "INVALID_ENDPOINT"
	MethodNotAllowed        Code = "METHOD_NOT_ALLOWED"
	AlreadyConfigured       Code = "ALREADY_CONFIGURED"
	NotConfigured           Code = "NOT_CONFIGURED"
	InsufBalance            Code = "INSUF_BALANCE"
	AmountOutOfRange        Code = "AMOUNT_OUT_OF_RANGE"
	FeeOutOfRange           Code = "FEE_OUT_OF_RANGE"
	InvalidNetwork          Code = "INVALID_NETWORK"
	InvalidAddress          Code = "INVALID_ADDRESS"
	AlreadySent             Code = "ALREADY_SENT"
	LimitOutOfRange         Code = "LIMIT_OUT_OF_RANGE"
	NotAcceptable           Code = "NOT_ACCEPTABLE"
	Conflict                Code = "CONFLICT"
	RateLimit               Code = "RATE_LIMIT"
	InternalServerError     Code = "INTERNAL_SERVER_ERROR"
	Timeout                 Code = "TIMEOUT"
	Require2FA              Code = "REQUIRE_2FA"
)

// statuses maps each code to its HTTP status.
var statuses = map[Code]int{
	MissingData: http.StatusBadRequest, ValidationError: http.StatusBadRequest,

	Unauthorized: http.StatusUnauthorized, LoginFailed: http.StatusUnauthorized,
	WrongPassword: http.StatusUnauthorized, InvalidVerificationCode: http.StatusUnauthorized,

	InvalidKey: http.StatusForbidden, Forbidden: http.StatusForbidden, Invalid2FA: http.StatusForbidden,
	AccountInactive: http.StatusForbidden, AlreadyLoggedIn: http.StatusForbidden,

	NotFound: http.StatusNotFound, InvalidEndpoint: http.StatusNotFound,

	MethodNotAllowed: http.StatusMethodNotAllowed, AlreadyConfigured: http.StatusMethodNotAllowed,
	NotConfigured: http.StatusMethodNotAllowed,

	InsufBalance: http.StatusNotAcceptable, AmountOutOfRange: http.StatusNotAcceptable,
	FeeOutOfRange: http.StatusNotAcceptable, InvalidNetwork: http.StatusNotAcceptable,
	InvalidAddress: http.StatusNotAcceptable, AlreadySent: http.StatusNotAcceptable,
	LimitOutOfRange: http.StatusNotAcceptable, NotAcceptable: http.StatusNotAcceptable,

	Conflict:            http.StatusConflict,
	RateLimit:           http.StatusTooManyRequests,
	InternalServerError: http.StatusInternalServerError,
	Timeout:             http.StatusGatewayTimeout,
	Require2FA:          http.StatusNetworkAuthenticationRequired,
}

// general maps error kinds to codes.
var general = map[bourse.Code]Code{
	bourse.CodeMissing:      MissingData,
	bourse.CodeInvalid:      ValidationError,
	bourse.CodeUnauthorized: InvalidKey,
	bourse.CodeForbidden:    Forbidden,
	bourse.CodeNotFound:     NotFound,
	bourse.CodeConflict:     Conflict,
	bourse.CodeRefused:      NotAcceptable,
	bourse.CodeBusy:         RateLimit,
	bourse.CodeUnavailable:  InternalServerError,
	bourse.CodeUnknown:      Timeout,
	bourse.CodeBehind:       RateLimit,
}

// named maps errors with a code of their own.
var named = map[*bourse.Error]Code{
	account.ErrLogIn:         LoginFailed,
	account.ErrPassword:      WrongPassword,
	account.ErrVerification:  InvalidVerificationCode,
	account.ErrWhichSignUp:   InvalidVerificationCode,
	account.ErrWrongFactor:   Invalid2FA,
	account.ErrConfigured:    AlreadyConfigured,
	account.ErrNotConfigured: NotConfigured,

	api.ErrNoEndpoint: InvalidEndpoint,
	api.ErrMethod:     MethodNotAllowed,
	api.ErrNoSecret:   Unauthorized,
	api.ErrHasSecret:  AlreadyLoggedIn,
}

// refused maps the engine's reasons with a code of their own; other reasons use general.
var refused = map[bourse.Reason]Code{
	bourse.BelowMinWithdrawal: AmountOutOfRange,
	bourse.Overflow:           AmountOutOfRange,
	bourse.FeeOutOfRange:      FeeOutOfRange,
	bourse.NotOnNetwork:       InvalidNetwork,
	bourse.MemoNotAllowed:     InvalidAddress,
	bourse.UnknownAccount:     InvalidAddress,
	bourse.AccountFrozen:      AccountInactive,
	bourse.WithdrawalsClosed:  Forbidden,
	bourse.DuplicateRequest:   Conflict,
}

// errBalance replaces the engine's message for [bourse.InsufficientFunds], which names the
// reason as V1 knows it.
var errBalance = &Error{InsufBalance, "Less is available than amount and fee"}

// Error is an error for clients with its code.
type Error struct {
	Code    Code
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// public returns the error for clients; nil if err is internal.
func public(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}

	var factor *account.FactorError
	if errors.As(err, &factor) {
		return &Error{Require2FA, factor.Place}
	}

	var known *bourse.Error
	if !errors.As(err, &known) {
		return nil
	}

	if known.Reason == bourse.InsufficientFunds {
		return errBalance
	}
	code, ok := named[known]
	if !ok {
		code, ok = refused[known.Reason]
	}
	if !ok {
		code = general[known.Code]
	}
	return &Error{code, known.Message}
}
