package binance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// Code is a code of the documented interface.
type Code int

// The codes that answers have.
const (
	codeUnknown       Code = -1000
	codeUnauthorized  Code = -1002
	codeTooFast       Code = -1003
	codeTimeout       Code = -1007
	codeServerBusy    Code = -1008
	codeFilter        Code = -1013
	codeComposition   Code = -1014
	codeTooManyOrders Code = -1015
	codeUnsupported   Code = -1020
	codeTimestamp     Code = -1021
	codeSignature     Code = -1022
	codeIllegal       Code = -1100
	codeTooMany       Code = -1101
	codeMandatory     Code = -1102
	codeUnread        Code = -1104
	codeEmpty         Code = -1105
	codeNotRequired   Code = -1106
	codeOverflow      Code = -1108
	codePrecision     Code = -1111
	codeNotTIF        Code = -1114
	codeTIF           Code = -1115
	codeType          Code = -1116
	codeSide          Code = -1117
	codeInterval      Code = -1120
	codeSymbol        Code = -1121
	codeStatusWord    Code = -1122
	codeLookup        Code = -1127
	codeCombination   Code = -1128
	codeInvalid       Code = -1130
	codeTicker        Code = -1139
	codeRestriction   Code = -1145
	codeDuplicate     Code = -1151
	codeTimeUnit      Code = -1194
	codeLegType       Code = -1158
	codeLimitBelow    Code = -1165
	codeLimitAbove    Code = -1166
	codeStopAbove     Code = -1196
	codeStopBelow     Code = -1197
	codeProfitBelow   Code = -1198
	codeProfitAbove   Code = -1199
	codeStatus        Code = -1220
	codeRejected      Code = -2010
	codeCancel        Code = -2011
	codeNoOrder       Code = -2013
	codeKeyFormat     Code = -2014
	codeKey           Code = -2015
	codeHalfReplaced  Code = -2021
	codeReplace       Code = -2022
	codeAmend         Code = -2038
	codeNotClient     Code = -2039
	codeMemo          Code = -4008
	codeLimited       Code = -4015
	codeNoCoin        Code = -4018
	codeClosed        Code = -4019
	codeMultiple      Code = -4021
	codeMinimum       Code = -4022
	codeBalance       Code = -4026
	codeCommission    Code = -4028
	codeAddress       Code = -4033
	codeWalletLookup  Code = -4047
)

// statuses are the HTTP statuses of codes; any other has 400.
var statuses = map[Code]int{
	codeUnknown:       http.StatusInternalServerError,
	codeUnauthorized:  http.StatusUnauthorized,
	codeTooFast:       http.StatusTooManyRequests,
	codeTimeout:       http.StatusGatewayTimeout,
	codeServerBusy:    http.StatusServiceUnavailable,
	codeTooManyOrders: http.StatusTooManyRequests,
	codeKeyFormat:     http.StatusUnauthorized,
	codeKey:           http.StatusUnauthorized,
}

// Error is an error for clients.
type Error struct {
	Code Code
	// Status is the HTTP status, or zero for that of the code.
	Status  int
	Message string
	// Data, if not nil, is a JSON value that explains the error.
	Data []byte
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// HTTP returns the HTTP status.
func (e *Error) HTTP() int {
	if e.Status != 0 {
		return e.Status
	}
	if status, known := statuses[e.Code]; known {
		return status
	}
	return http.StatusBadRequest
}

// Errorf returns an error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Errors of requests. Bots compare some of these messages.
var (
	errInternal   = Errorf(codeUnknown, "An unknown error occurred while processing the request.")
	errMissing    = &Error{Code: codeUnsupported, Status: http.StatusNotFound, Message: "There is no such endpoint."}
	errMethod     = &Error{Code: codeUnsupported, Status: http.StatusMethodNotAllowed, Message: "The endpoint has no such method."}
	errTooLong    = &Error{Code: codeTooMany, Status: http.StatusRequestEntityTooLarge, Message: "The body is too long."}
	errBrokenOff  = Errorf(codeIllegal, "The body breaks off.")
	errIllegal    = Errorf(codeIllegal, "Illegal characters found in a parameter.")
	errTwice      = Errorf(codeTooMany, "Duplicate values for a parameter detected.")
	errTooMany    = Errorf(codeTooMany, "Too many parameters sent for this endpoint.")
	errSymbol     = Errorf(codeSymbol, "Invalid symbol.")
	errBusy       = Errorf(codeTooFast, "Too many requests; Retry-After tells when to go on.")
	errManyOrders = Errorf(codeTooManyOrders, "Too many new orders; Retry-After tells when to go on.")
	errNoKey      = Errorf(codeKeyFormat, "API-key format invalid.")
	errKey        = Errorf(codeKey, "Invalid API-key, IP, or permissions for action.")
	errSignature  = Errorf(codeSignature, "Signature for this request is not valid.")
	errTimestamp  = Errorf(codeTimestamp, "Timestamp for this request is outside of the recvWindow.")
	errRepeated   = Errorf(codeTimestamp, "This request was taken before; sign it again with another timestamp.")
	errTimeout    = Errorf(codeTimeout, "Timeout waiting for response from backend server. "+
		"Send status unknown; execution status unknown.")
	errServerBusy = Errorf(codeServerBusy, "Server is currently overloaded with other requests. Please try again later.")
	errNoOrder    = Errorf(codeNoOrder, "Order does not exist.")
	errNoList     = Errorf(codeNoOrder, "Order list does not exist.")
	errSide       = Errorf(codeSide, "Invalid side.")
	errStatusWord = Errorf(codeStatusWord, "Invalid symbolStatus.")
	errTicker     = Errorf(codeTicker, "Invalid ticker type.")
	errStatus     = Errorf(codeStatus, "The symbol's status does not match the requested symbolStatus.")
)

// The errors of words that are none of a list, for Params.One.
var (
	errSelfTrade   = invalid("selfTradePreventionMode")
	errResponse    = invalid("newOrderRespType")
	errReplaceMode = invalid("cancelReplaceMode")
	errLimitMode   = invalid("orderRateLimitExceededMode")
)

func missing(name string) *Error {
	return Errorf(codeMandatory, "Mandatory parameter '%s' was not sent, was empty/null, or malformed.", name)
}

func neither(a, b string) *Error {
	return Errorf(codeMandatory, "Param '%s' or '%s' must be sent, but both were empty/null!", a, b)
}

func invalid(name string) *Error {
	return Errorf(codeInvalid, "Data sent for parameter '%s' is not valid.", name)
}

func illegal(name string) *Error {
	return Errorf(codeIllegal, "Illegal characters found in parameter '%s'.", shortened(name))
}

func illegalIn(name, legal string) *Error {
	return Errorf(codeIllegal, "Illegal characters found in parameter '%s'; legal range is '%s'.", name, legal)
}

func unread(read, sent int) *Error {
	return Errorf(codeUnread, "Not all sent parameters were read; read '%d' parameter(s) but was sent '%d'.", read, sent)
}

// filter returns the error for an order that a filter refuses.
func filter(name string) *Error { return Errorf(codeFilter, "Filter failure: %s", name) }

// shortened cuts a client's text for an error message.
func shortened(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// rejected returns the error for an order that the exchange does not take.
func rejected(message string) *Error { return Errorf(codeRejected, "%s", message) }

// refusals are the errors for the reasons of the exchange. A reason without an entry is no
// reason for a request of this interface, and is told by its word.
var refusals = map[bourse.Reason]*Error{
	bourse.InsufficientFunds: rejected("Account has insufficient balance for requested action."),
	bourse.BelowMinOrder:     filter("NOTIONAL"),
	bourse.MarketClosed:      rejected("Market is closed."),
	bourse.TooManyOrders:     filter("MAX_NUM_ORDERS"),
	bourse.DuplicateClientID: rejected("Duplicate order sent."),
	bourse.WouldTake:         rejected("Order would immediately match and take."),
	bourse.PriceOutOfRange:   filter("PERCENT_PRICE_BY_SIDE"),
	bourse.AccountFrozen:     rejected("This account may not place or cancel orders."),
	bourse.Overflow:          filter("LOT_SIZE"),
	bourse.TradeLimit:        rejected("The account's limit for trades is reached."),

	bourse.UnknownMarket:   errSymbol,
	bourse.UnknownAccount:  errKey,
	bourse.NoCollar:        rejected("Stop loss orders are not supported for this symbol."),
	bourse.OrderNotFound:   Errorf(codeCancel, "Unknown order sent."),
	bourse.ListNotFound:    Errorf(codeCancel, "Unknown order list sent."),
	bourse.NothingLeft:     rejected("The requested quantity is not above what the order has traded."),
	bourse.MarketHaltedNow: Errorf(codeCancel, "Market is closed."),
	bourse.TooMany:         rejected("The exchange takes no further orders."),
	bourse.Voided:          rejected("Refused by the operator."),
}

// refused returns the error for a reason; nil for reason zero.
func refused(reason bourse.Reason) error {
	if reason == 0 {
		return nil
	}
	return Refusal(reason)
}

// Refusal returns the error for a reason, which must not be zero.
func Refusal(reason bourse.Reason) *Error {
	if e := refusals[reason]; e != nil {
		return e
	}
	return rejected("Refused: " + reason.String())
}

// kinds are the errors for the kinds of our own errors.
var kinds = map[bourse.Code]*Error{
	bourse.CodeUnauthorized: errKey,
	bourse.CodeForbidden:    errKey,
	bourse.CodeBusy:         errBusy,
	bourse.CodeUnavailable:  errServerBusy,
	bourse.CodeFull:         errServerBusy,
	bourse.CodeUnknown:      errTimeout,
	bourse.CodeBehind:       errServerBusy,
}

// named maps an exchange's error to Binance's, for errors that have a code of their own there.
var named = map[*bourse.Error]*Error{
	account.ErrSignature: errSignature,
	account.ErrClock:     errTimestamp,
	account.ErrRepeated:  errRepeated,
	api.ErrBrokenOff:     errBrokenOff,
	api.ErrTooLong:       errTooLong,
}

// Known returns the error that a client reads; nil if err is internal.
func Known(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var ours *bourse.Error
	if errors.As(err, &ours) {
		switch {
		case named[ours] != nil:
			return named[ours]
		case ours.Reason != 0:
			return Refusal(ours.Reason)
		case kinds[ours.Code] != nil:
			return kinds[ours.Code]
		}
		return Errorf(codeInvalid, "%s", ours.Message)
	}
	if coded := api.Known(err); coded != nil && coded.Code != codes.InternalServerError {
		return Errorf(codeInvalid, "%s", coded.Message)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errTimeout
	}
	return nil
}
