package walletv2_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
)

// asker is a client with or without a key.
type asker struct {
	name, key string
	// scopes are those of the key, which is an account's if it is good.
	scopes    account.Scopes
	good, own bool
}

// askers returns the owner of the requested entries and others, with each kind of key.
func (d *desk) askers() []asker {
	list := []asker{
		{name: "no key"}, {name: "a bad key", key: strings.Repeat("0", 64)},
		{"a session", d.Session("alice@example.com"), ^account.Scopes(0), true, true},
	}
	for id, who := range map[bourse.AccountID]string{1: "the owner's", 2: "another's"} {
		for _, s := range []account.Scopes{account.ScopeRead, account.ScopeTrade, account.ScopeWithdraw} {
			list = append(list, asker{fmt.Sprintf("%s key to %s", who, s), d.Key(id, s), s, true, id == 1})
		}
	}
	return list
}

// needed returns the scope that an endpoint must require.
func needed(e *v2.Endpoint) account.Scopes {
	for _, public := range []string{"/assets", "/io/networks", "/io/fees"} {
		if strings.HasPrefix(e.Path, public) {
			return 0
		}
	}
	if e.Method == get || strings.HasSuffix(e.Path, "/validation") {
		return account.ScopeRead
	}
	return account.ScopeWithdraw
}

// owned reports whether an endpoint is about an entry of one account.
func owned(e *v2.Endpoint) bool {
	return strings.Contains(e.Path, "{xid}") || strings.Contains(e.Path, "{adbkid}")
}

// may returns the expected status for an asker, and the code unless it is 200.
func (a *asker) may(e *v2.Endpoint) (status int, code string) {
	scope := needed(e)
	switch {
	case !a.good && a.key != "":
		return 403, "INVALID_KEY"
	case scope != 0 && !a.good:
		return 401, "UNAUTHORIZED"
	case scope != 0 && !a.scopes.Has(scope), owned(e) && !a.own:
		return 403, "FORBIDDEN"
	default:
		return 200, ""
	}
}

// TestScopes calls each endpoint with each kind of key, with the parameters given here.
func TestScopes(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "100")
	d.Credit(2, "BTC", "100")
	d.Pause("BTC", true)
	parameters := map[string]string{
		"GET /io/withdrawal/{network}/validation":  "?memo=",
		"POST /io/withdrawal/{network}/validation": `{"memo":""}`,
		"POST /io/transactions":                    d.out("BTC", "BTC", "0.1", ""),
		"PATCH /addressbook/{adbkid}":              `{"name":"another %d"}`,
	}
	endpoints, saved := (&walletv2.Wallet{}).Endpoints(), 0
	askers := d.askers()
	for i := range endpoints {
		e := &endpoints[i]
		for _, a := range askers {
			xid := ""
			if owned(e) {
				saved++
				xid = d.save(saved)
			}
			path := strings.NewReplacer("{symbol}", "BTC", "{network}", "BTC", "{asset}", "BTC", "{xid}", xid,
				"{adbkid}", strconv.Itoa(saved)).Replace(e.Path)
			given := strings.Replace(parameters[e.Method+" "+e.Path], "%d", strconv.Itoa(saved), 1)
			if e.Method == get {
				path, given = path+given, ""
			}
			d.Must(bourse.Command{Kind: bourse.CommandTick})
			d.Follow() // the ledger is to be there for whoever may see it
			status, code := a.may(e)
			got := d.ask(a.key, e.Method, path, given)
			if got.status != status || code != "" && !strings.Contains(got.body, `"code":"`+code+`"`) {
				t.Errorf("%s %s with %s: %d %s, want %d %s", e.Method, e.Path, a.name, got.status, got.body, status, code)
			}
		}
	}
}

// save has the first account ask for a withdrawal that waits, to an address that it
// saves as the nth, and returns its id.
func (d *desk) save(n int) (xid string) {
	d.Helper()
	d.Now += bourse.Second
	row := d.taken(d.Alice, post, "/io/transactions", `{"type":"WITHDRAWAL","asset":"BTC","network":"BTC","amount":"0.1","address":"`+
		d.Outside("BTC", byte(n))+`","adbkSaveName":"place `+strconv.Itoa(n)+`"}`)
	return fmt.Sprintf("%.0f", row["xid"])
}
