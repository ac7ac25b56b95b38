package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limitedChecks need an exchange with limits of requests.
var limitedChecks = []check{limitsListed, limitsTold, limitsApplied}

func TestLimited(t *testing.T) { examine(t, limitedChecks) }

// limits asks for the limits of a key or, without one, of this machine, and returns them by
// class.
func (x *exam) limits(body fields, scope string) map[string]*value {
	x.Helper()
	a := x.post("/limits", body)
	x.succeeds(a)
	rows := map[string]*value{}
	for _, row := range a.value.get("limits").items {
		x.match(row, `{"class":"#text","scope":"`+scope+`","limit":"#id","remaining":"#int","reset":"#int"}`)
		if class := row.get("class").text; rows[class] == nil {
			rows[class] = row
		} else {
			x.Errorf("%s is listed twice", class)
		}
	}
	return rows
}

func limitsListed(x *exam) {
	x.covers("SPOT-LIM-1")
	a := x.account()
	own := x.limits(fields{"api_key": a.key}, "account")
	for _, class := range []string{"reads", "orders", "cancels", "frames", "subscriptions"} {
		row := own[class]
		if row == nil {
			x.Fatalf("%s are not listed", class)
		}
		want, reset := number(row.get("limit").text), "0"
		if class == "reads" { // this request
			n, _ := strconv.Atoi(string(want))
			want, reset = number(strconv.Itoa(n-1)), "1"
		}
		x.equal("remaining "+class, row.get("remaining").text, string(want))
		x.equal("reset of "+class, row.get("reset").text, reset)
	}

	all := x.limits(fields{}, "source")
	for _, class := range []string{"requests", "frames", "subscriptions", "invalid_keys"} {
		if all[class] == nil {
			x.Errorf("%s are not listed", class)
		}
	}
	if len(own) != 5 || len(all) != 4 {
		x.Errorf("%d and %d limits are listed", len(own), len(all))
	}
	x.fails(x.post("/limits", fields{"api_key": "useless"}), "Unauthorized")
}

// toldLimit expects the headers of a limit right after the one request that it has counted.
func (x *exam) toldLimit(a *answer, row *value) {
	x.Helper()
	n, _ := strconv.Atoi(row.get("limit").text)
	x.equal("RateLimit-Limit", a.header.Get("RateLimit-Limit"), strconv.Itoa(n))
	x.equal("RateLimit-Remaining", a.header.Get("RateLimit-Remaining"), strconv.Itoa(n-1))
	x.equal("RateLimit-Reset", a.header.Get("RateLimit-Reset"), "1")
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"} {
		x.lists(a, "Access-Control-Expose-Headers", name)
	}
}

func limitsTold(x *exam) {
	x.covers("SPOT-LIM-2")
	rows := x.limits(fields{"api_key": x.account().key}, "account")
	first := x.account()
	x.toldLimit(first.post("/open_orders", fields{"offset": 0}), rows["reads"])
	x.toldLimit(first.post("/open_orders/cancel", fields{"obid": 1}), rows["cancels"])
	x.toldLimit(first.try(untouched.limit("BUY", "10", "1")), rows["orders"])
	x.toldLimit(x.account().v2(http.MethodGet, "/balances", nil), rows["reads"])

	a := x.send(http.MethodPost, "/spot/nothing", "{}", nil)
	x.equal("RateLimit-Limit where there is nothing", a.header.Get("RateLimit-Limit"), "")
}

// spendReads asks as an account until its limit of reads refuses. It asks the exchange itself, because
// TestMutations would change hundreds of answers that say the same.
func (x *exam) spendReads(a *account) {
	x.Helper()
	body := `{"api_key":"` + a.key + `","offset":0}`
	for range 2000 {
		res, err := x.exchange.send(http.MethodPost, x.exchange.url+"/spot/open_orders", body, nil)
		if err != nil {
			x.broken("%v", err)
		}
		if res.status != http.StatusOK {
			return
		}
	}
	x.Fatalf("2000 reads are within the limit")
}

func limitsApplied(x *exam) {
	x.covers("SPOT-LIM-3")
	a := x.account()
	ask := func() *answer { return a.post("/open_orders", fields{"offset": 0}) }
	var refused *answer
	for range 100 {
		x.spendReads(a)
		if refused = ask(); refused.status != http.StatusOK {
			break // otherwise the limit has filled by one meanwhile
		}
	}
	if refused.status != http.StatusTooManyRequests {
		x.Fatalf("status %d beyond the limit, want 429", refused.status)
	}
	x.match(refused.value, `{"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`)
	x.equal("RateLimit-Remaining", refused.header.Get("RateLimit-Remaining"), "0")

	wait, err := strconv.Atoi(strings.TrimSpace(refused.header.Get("Retry-After")))
	if err != nil || wait < 1 {
		x.Fatalf("Retry-After is %q", refused.header.Get("Retry-After"))
	}
	good := x.eventually(time.Duration(wait)*time.Second+patience/10, ask, func(a *answer) bool { return a.status == http.StatusOK })
	x.succeeds(good)
}
