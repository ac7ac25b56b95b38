package codes

// Code identifies an error to clients.
type Code string

// The codes of the interfaces. The reasons of the engine are codes as well, by their words.
const (
	MissingData             Code = "MISSING_DATA"
	ValidationError         Code = "VALIDATION_ERROR"
	Unauthorized            Code = "UNAUTHORIZED"
	InvalidKey              Code = "INVALID_KEY"
	InvalidSignature        Code = "INVALID_SIGNATURE"
	RequestExpired          Code = "REQUEST_EXPIRED"
	RequestRepeated         Code = "REQUEST_REPEATED"
	Forbidden               Code = "FORBIDDEN"
	AlreadyLoggedIn         Code = "ALREADY_LOGGED_IN"
	TermsNotAccepted        Code = "TERMS_NOT_ACCEPTED"
	LoginFailed             Code = "LOGIN_FAILED"
	WrongPassword           Code = "WRONG_PASSWORD"
	InvalidVerificationCode Code = "INVALID_VERIFICATION_CODE"
	Require2FA              Code = "REQUIRE_2FA"
	Invalid2FA              Code = "INVALID_2FA"
	AlreadyConfigured       Code = "ALREADY_CONFIGURED"
	NotConfigured           Code = "NOT_CONFIGURED"
	InvalidEndpoint         Code = "INVALID_ENDPOINT"
	MethodNotAllowed        Code = "METHOD_NOT_ALLOWED"
	NotFound                Code = "NOT_FOUND"
	Conflict                Code = "CONFLICT"
	NotAcceptable           Code = "NOT_ACCEPTABLE"
	LimitOutOfRange         Code = "LIMIT_OUT_OF_RANGE"
	AlreadyCanceled         Code = "ALREADY_CANCELED"
	AlreadyDone             Code = "ALREADY_DONE"
	RateLimit               Code = "RATE_LIMIT"
	HistoryBehind           Code = "HISTORY_BEHIND"
	DiskFull                Code = "DISK_FULL"
	Unavailable             Code = "UNAVAILABLE"
	Timeout                 Code = "TIMEOUT"
	InternalServerError     Code = "INTERNAL_SERVER_ERROR"
)

// The codes that only V2 has, in place of reasons of the engine.
const (
	AccountInactive  Code = "ACCOUNT_INACTIVE"
	InsufBalance     Code = "INSUF_BALANCE"
	AmountOutOfRange Code = "AMOUNT_OUT_OF_RANGE"
	FeeOutOfRange    Code = "FEE_OUT_OF_RANGE" // the engine's word is the same
	InvalidNetwork   Code = "INVALID_NETWORK"
	InvalidAddress   Code = "INVALID_ADDRESS"
	AlreadySent      Code = "ALREADY_SENT"
)

// Entry describes a code.
type Entry struct {
	Code Code
	// Meaning is the cause of the error, Next the client's next step.
	Meaning, Next string
	// InV2 is the code of V2 for the same, empty if it is Code.
	InV2 Code
}

// entries finds the entry of a code.
var entries = func() map[Code]*Entry {
	found := make(map[Code]*Entry, len(List))
	for i := range List {
		found[List[i].Code] = &List[i]
	}
	return found
}()

// Listed reports whether a code is in List.
func Listed(c Code) bool { return entries[c] != nil }

// V2 returns V2's code for the meaning of a code.
func V2(c Code) Code {
	if e := entries[c]; e != nil && e.InV2 != "" {
		return e.InV2
	}
	return c
}
