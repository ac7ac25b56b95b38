package operatorv1

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/operator"
)

const (
	fieldReason = "reason"
	// fieldPair names the segment with a market, as BTC-USDT.
	fieldPair = "pair"
	// verbTier is the verb that takes the reason as well.
	verbTier = "account/tier"
)

// pageFields are those of a page of rows, newest first.
var pageFields = api.Fields{"before", "limit"}

// route is an endpoint that carries out a verb. The verb's arguments are the fields of the request
// and the segments of the path, by their names.
type route struct {
	method, path string
	verb         string
	fields       api.Fields
	class        api.Class
}

const get, post, put, patch = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch

// routes are the endpoints of verbs. The socket's other verbs need no operator, or cannot wait for
// a second one.
var routes = [...]route{
	{get, "/operators", "operator/list", nil, api.Reads},
	{post, "/operators", "operator/invite", with("email", "name", "role"), api.Orders},
	{patch, "/operators/{operator}", "operator/change", with("role", "enabled"), api.Orders},
	{post, "/operators/{operator}/log-out", "operator/log-out", with(), api.Cancels},
	{get, "/operator-keys", "operator/keys", nil, api.Reads},
	{post, "/operator-keys", "operator/make-key", with("name", "scope", "addresses", "days"), api.Orders},
	{post, "/operator-keys/{key}/end", "operator/end-key", with(), api.Cancels},
	{get, "/acts", "operator/acts", nil, api.Reads},
	{get, "/dashboard", "dashboard", nil, api.Reads},
	{get, "/solvency", "solvency", nil, api.Reads},
	{get, "/log", "log", api.Fields{"offset"}, api.Reads},

	{get, "/withdrawals", "withdrawal/list", api.Fields{"after", "limit"}, api.Reads},
	{post, "/withdrawals/{xid}/approve", "withdrawal/approve", with(), api.Orders},
	{post, "/withdrawals/{xid}/deny", "withdrawal/deny", with(), api.Cancels},
	{post, "/withdrawals/{xid}/replace", "withdrawal/replace", with(), api.Orders},
	{post, "/withdrawals/{xid}/release", "withdrawal/release", with(), api.Orders},
	{post, "/withdrawals/{xid}/paid", "withdrawal/paid", with("tx"), api.Orders},
	{put, "/assets/{asset}/approval-limit", "withdrawals/limit", with("amount"), api.Orders},
	{put, "/networks/{network}/withdrawals", "withdrawals/pause", with("paused"), api.Cancels},
	{post, "/networks/{network}/cool", "network/cool", with("asset", "amount"), api.Orders},
	{post, "/networks/{network}/end-cool", "network/end-cool", with(), api.Cancels},
	{post, "/networks/{network}/psbt", "network/psbt", api.Fields{"amount"}, api.Orders},
	{post, "/networks/{network}/send-psbt", "network/send-psbt", with("signed"), api.Orders},
	{post, "/networks/{network}/end-psbt", "network/end-psbt", with(), api.Cancels},
	{post, "/networks/{network}/follow", "network/follow", with("height", "hash"), api.Orders},
	{get, "/deposits/parked", "deposits/parked", nil, api.Reads},
	{post, "/deposits/{deposit}/assign", "deposit/assign", with("account"), api.Orders},

	{get, "/accounts", "account/list", api.Fields{"search", "after", "limit"}, api.Reads},
	{get, "/accounts/{account}", "account/show", nil, api.Reads},
	{get, "/accounts/{account}/balances", "balances", nil, api.Reads},
	{get, "/accounts/{account}/orders", "account/orders", pageFields, api.Reads},
	{get, "/accounts/{account}/ledger", "account/ledger", pageFields, api.Reads},
	{get, "/accounts/{account}/transactions", "account/transactions", pageFields, api.Reads},
	{get, "/accounts/{account}/sessions", "account/sessions", nil, api.Reads},
	{post, "/accounts/{account}/freeze", "account/freeze", with(), api.Cancels},
	{post, "/accounts/{account}/unfreeze", "account/unfreeze", with(), api.Orders},
	{post, "/accounts/{account}/reset", "account/reset", with("factors", "email"), api.Orders},
	{put, "/accounts/{account}/tier", verbTier, with("tier"), api.Orders},
	{put, "/accounts/{account}/fees", "account/fees", with("maker_fee", "taker_fee"), api.Orders},
	{put, "/accounts/{account}/level", "account/level", with("level"), api.Orders},
	{post, "/keys/{key_id}/revoke", "key/revoke", with(), api.Cancels},

	{put, "/markets/{pair}/state", "market/state", with("state"), api.Cancels},
	{post, "/markets/pause", "markets/pause", with("pairs", "state"), api.Cancels},
	{post, "/markets/resume", "markets/resume", with("pairs"), api.Orders},
	{get, "/notices", "notice/list", api.Fields{"before"}, api.Reads},
	{post, "/notices", "notice/add", with("kind", "title", "body"), api.Orders},
	{post, "/notices/{id}/end", "notice/end", with(), api.Orders},
	{get, "/webhooks", "webhook/list", nil, api.Reads},
	{post, "/webhooks", "webhook/add", with("url", "kinds"), api.Orders},
	{post, "/webhooks/{webhook}/enable", "webhook/enable", with(), api.Orders},
	{post, "/webhooks/{webhook}/remove", "webhook/remove", with(), api.Orders},
	{post, "/webhooks/{webhook}/test", "webhook/test", with(), api.Orders},
	{post, "/fees/collect", "fees/collect", with(), api.Orders},
	{post, "/rules/adopt", "rules/adopt", with(), api.Orders},
	{get, "/catalogue", "catalogue/show", nil, api.Reads},
	{post, "/catalogue/preview", "catalogue/preview", api.Fields{"document"}, api.Reads},
	{post, "/catalogue", "catalogue/apply", with("document", "preview"), api.Orders},
}

// endpoint returns the endpoint of a route.
func (d *Desk) endpoint(r *route) v2.Endpoint {
	return v2.Endpoint{
		Method: r.method, Path: r.path, Fields: r.fields, Scope: r.scope(), Class: r.class,
		Answer: func(c *v2.Call) error { return d.carryOut(c, r) },
	}
}

// takesKey reports whether a key may call the verb of a route that changes something: verbs that stop something, tell
// people, or let a webhook go on. A verb may have other commands, such as the one that opens a market. It refuses a
// key each command that needs an act.
func (r *route) takesKey() bool {
	switch r.verb {
	case "account/freeze", "withdrawals/pause", "market/state", "markets/pause", "key/revoke",
		"notice/add", "notice/end", "webhook/enable", "webhook/test":
		return true
	}
	return false
}

// scope returns the scope that a key needs for a route.
func (r *route) scope() account.Scopes {
	if r.changes() && !r.takesKey() {
		return account.ScopeAccount
	}
	return account.ScopeRead
}

// carryOut carries out the verb of a route, once the operator's passkey signed for the request, or for a key
// that may.
func (d *Desk) carryOut(c *v2.Call, r *route) error {
	by, key := operator.Caller(&c.Who)
	if err := d.may(by, d.Verbs.RoleOf(r.verb)); err != nil {
		return err
	}
	who := operator.Orderer{By: by, Key: key}
	args, err := r.args(c)
	c.Fail(err)
	if r.changes() {
		c.Require(fieldReason)
		who.Reason = c.Text(fieldReason)
		if most := bourse.MaxActReason; strings.TrimSpace(who.Reason) == "" || len(who.Text()) > most {
			c.Fail(api.Invalid(fieldReason, "1 to "+strconv.Itoa(most+len(who.Reason)-len(who.Text()))+" bytes"))
		}
		if who.Poses() {
			c.Fail(errPoses)
		}
		if err := d.authorize(c, r); err != nil {
			return err
		}
	}
	if err := c.Err(); err != nil {
		return err
	}

	result, err := d.Verbs.DoAs(c.Context, &who, r.verb, args)
	if err != nil {
		return err
	}
	body, err := json.Marshal(result)
	if err != nil {
		return err
	}
	c.Whole(body)
	return nil
}

// authorize wants the passkey of an operator to sign for a request, unless it came by a key that may order it.
func (d *Desk) authorize(c *v2.Call, r *route) error {
	switch _, key := operator.Caller(&c.Who); {
	case key == 0:
		return d.confirm(c)
	case !r.takesKey() || !operator.MayOperate(&c.Who):
		return errScope
	}
	return nil
}

// errPoses is the error for a person's reason that reads as a key's.
var errPoses = api.Invalid(fieldReason, "must not begin as those of keys do")

// errScope is the error for a key that only reads.
var errScope = api.Errorf(codes.Forbidden, "Forbidden: the key has the scope read; this takes operate")

// changes reports whether a route changes something, so that it has a reason and is confirmed.
func (r *route) changes() bool { return slices.Contains(r.fields, fieldReason) }

// args returns the arguments of the route's verb.
func (r *route) args(c *v2.Call) (jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if r.method != get && len(c.Body) > 0 {
		if err := json.Unmarshal(c.Body, &members); err != nil {
			return nil, api.ErrNotObject
		}
	}
	args := map[string]jsontext.Value{}
	for _, name := range r.fields {
		if value, given := members[name]; given && (name != fieldReason || r.verb == verbTier) {
			args[name] = value
		}
		if r.method == get && c.Has(name) {
			args[name] = argument(c.Text(name))
		}
	}
	for segment := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			value := c.Segment(name)
			if name == fieldPair {
				value = strings.Replace(value, "-", "/", 1)
			}
			args[name] = argument(value)
		}
	}
	return json.Marshal(args, json.Deterministic(true))
}

// argument returns a text of a path or a query as JSON: a number, if it is one.
func argument(text string) jsontext.Value {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && strconv.FormatUint(n, 10) == text {
		return jsontext.Value(text)
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return jsontext.Value(`""`) // no UTF-8, as no name is
	}
	return quoted
}
