package binance_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// TestReasons wants a code for each reason of the exchange: one of theirs with their text
// where bots compare it, and the reason's word for one that is no answer to a request here.
func TestReasons(t *testing.T) {
	type told struct {
		code   binance.Code
		status int
		text   string
	}
	want := map[bourse.Reason]told{
		bourse.InsufficientFunds: {-2010, 400, "Account has insufficient balance for requested action."},
		bourse.BelowMinOrder:     {-1013, 400, "Filter failure: NOTIONAL"},
		bourse.MarketClosed:      {-2010, 400, "Market is closed."},
		bourse.TooManyOrders:     {-1013, 400, "Filter failure: MAX_NUM_ORDERS"},
		bourse.DuplicateClientID: {-2010, 400, "Duplicate order sent."},
		bourse.WouldTake:         {-2010, 400, "Order would immediately match and take."},
		bourse.PriceOutOfRange:   {-1013, 400, "Filter failure: PERCENT_PRICE_BY_SIDE"},
		bourse.AccountFrozen:     {-2010, 400, "This account may not place or cancel orders."},
		bourse.Overflow:          {-1013, 400, "Filter failure: LOT_SIZE"},
		bourse.NoCollar:          {-2010, 400, "Stop loss orders are not supported for this symbol."},
		bourse.TradeLimit:        {-2010, 400, "The account's limit for trades is reached."},
		bourse.UnknownMarket:     {-1121, 400, "Invalid symbol."},
		bourse.UnknownAccount:    {-2015, 401, "Invalid API-key, IP, or permissions for action."},
		bourse.OrderNotFound:     {-2011, 400, "Unknown order sent."},
		bourse.ListNotFound:      {-2011, 400, "Unknown order list sent."},
		bourse.NothingLeft:       {-2010, 400, "The requested quantity is not above what the order has traded."},
		bourse.MarketHaltedNow:   {-2011, 400, "Market is closed."},
		bourse.TooMany:           {-2010, 400, "The exchange takes no further orders."},
		bourse.Voided:            {-2010, 400, "Refused by the operator."},
	}
	reasons := 0
	for n := 1; n < 256; n++ {
		reason := bourse.Reason(n)
		if reason.String() == "UNKNOWN" {
			continue
		}
		reasons++
		expected, listed := want[reason]
		if !listed {
			expected = told{-2010, 400, "Refused: " + reason.String()}
		}
		direct, wrapped := binance.Refusal(reason), binance.Known(api.Refused(reason, ""))
		if got := (told{direct.Code, direct.HTTP(), direct.Message}); got != expected || wrapped.Message != direct.Message || wrapped.Code != direct.Code {
			t.Errorf("%s is %v and %v, want %v", reason, got, wrapped, expected)
		}
	}
	if reasons < len(want) || reasons < 40 {
		t.Errorf("%d reasons", reasons)
	}
}

// TestKinds wants a code for each kind of error of ours.
func TestKinds(t *testing.T) {
	for kind, want := range map[bourse.Code][2]int{
		bourse.CodeMissing: {-1130, 400}, bourse.CodeInvalid: {-1130, 400}, bourse.CodeNotFound: {-1130, 400},
		bourse.CodeConflict: {-1130, 400}, bourse.CodeRefused: {-1130, 400},
		bourse.CodeUnauthorized: {-2015, 401}, bourse.CodeForbidden: {-2015, 401},
		bourse.CodeBusy: {-1003, 429}, bourse.CodeUnavailable: {-1008, 503}, bourse.CodeFull: {-1008, 503},
		bourse.CodeUnknown: {-1007, 504}, bourse.CodeBehind: {-1008, 503},
	} {
		e := binance.Known(bourse.Errorf(kind, "x"))
		if got := [2]int{int(e.Code), e.HTTP()}; got != want {
			t.Errorf("kind %d is %v, want %v", kind, got, want)
		}
	}
	for err, want := range map[error]int{
		account.ErrSignature: -1022, account.ErrClock: -1021, account.ErrRepeated: -1021, account.ErrUnauthorized: -2015,
	} {
		if e := binance.Known(err); int(e.Code) != want || e.Status != 0 || e.HTTP() >= http.StatusInternalServerError {
			t.Errorf("%v is %v, want %d", err, e, want)
		}
	}
	if e := binance.Known(errors.New("inside")); e != nil {
		t.Errorf("an internal error is told: %v", e)
	}
}

// TestInternalErrors wants a defect inside to be told by a fixed text and logged.
func TestInternalErrors(t *testing.T) {
	d := open(t, api.Limits{})
	d.Unknown = true
	a := d.sign(d.alice, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&"+limit("BUY", "0.1", "40000"))
	if a.code() != -1007 || a.status != http.StatusGatewayTimeout || !strings.Contains(a.body, "execution status unknown") {
		t.Errorf("an unknown outcome is %d %s", a.status, a.body)
	}
}
