package conformance

import (
	"errors"
	"path"
	"strings"
	"sync"

	"github.com/bourse-exchange/bourse/internal/describe"
)

// shapes are the tables of the specification: the fields of each answer, row and message
// in order, with their forms. A ? marks an optional field; [x] is an array of rows x, {x}
// an object x, <x> an object whose members are x.
var shapes = map[string]string{
	"/markets":                  "success markets:[market]",
	"/markets_ex":               "success markets:[market_ex]",
	"/orderbook":                "success bids:[level] asks:[level] seq:#int",
	"/trades":                   "success trades:[trade]",
	"/candlestick":              "success candlestick:[candle]",
	"/open_orders":              "success orders:[open_order]",
	"/orders_history":           "success orders:[order]",
	"/trades_history":           "success trades:[own_trade]",
	"/open_orders/new":          "success obid?:#id status?:#status filled?:#dec",
	"/open_orders/amend":        "success obid:#id status:#status filled:#dec",
	"/open_orders/batch":        "success results:[placed]",
	"/open_orders/replace":      "success cancel:{part} order:{placed}",
	"/open_orders/cancel":       "success",
	"/open_orders/cancel_all":   "success obids",
	"/open_orders/cancel_after": "success expires",
	"/order":                    "success order:{one_order}",
	"/order_lists":              "success list_id:#id type:#list status:#done orders:[order]",
	"/order_lists/new":          "success list_id:#id type:#list orders:[listed]",
	"/order_lists/cancel":       "success",
	"/config":                   "success quotes:#texts default_pair:#pair exchange_id:#hex32",
	"/user_fees":                "success level:#int maker_fee:#dec taker_fee:#dec",
	"/time":                     "success time:#time",
	"/limits":                   "success limits:[limit]",
	"/info/spot_fees":           "success fees:<fee_level>",
	"/info/withdrawal_fees":     "success fees:[asset_fees]",
	"/info/banner":              "success active bannerid?:#id time?:#time title?:#text body?:#plain",
	"/info/v2/popup":            "success popups:[popup]",
	"/info/v2/announcements":    "success announcements:[announcement] cursor?:#id",
	"/p2p/fiats":                "success fiats:#texts",
	"/p2p/assets":               "success assets:#texts",
	"/account/session/check":    "success valid",
	"/account/login":            "success api_key:#secret",
	"/account/logout":           "success",
	"/account/api_keys/list":    "success sessions:<api_key>",
	"/account/api_keys/new":     "success sid:#id api_key:#secret secret?:#secret" + keyShape,
	"/account/api_keys/edit":    "success sid:#id" + keyShape,
	"/account/api_keys/remove":  "success",

	"limit":     "class:#text scope:#text limit:#id remaining:#int reset:#int",
	"market":    ticker,
	"market_ex": ticker + " base_name:#text quote_name:#text base_precision:#int quote_precision:#int" + day + " min_order:#dec",
	"level":     "price:#full amount:#full",
	"trade":     "time:#time price:#dec amount:#dec total:#dec side:#side trade_id:#id",
	"candle":    "time:#time open:#dec high:#dec low:#dec close:#dec volume:#dec",
	"open_order": "obid:#id pair:#pair time:#time side:#side price?:#dec cap?:#dec amount?:#dec total?:#dec time_in_force:#tif type:#type" +
		" quote_prec:#int filled?:#dec prevented?:#dec stop?:#dec client_id?:#name list_id?:#id",
	"listed":      "obid:#id status:#status filled:#dec client_id?:#name",
	"part":        "success error?:#text code?:#code",
	"placed":      "success obid?:#id status?:#status filled?:#dec error?:#text code?:#code",
	"order":       orderShape,
	"one_order":   orderShape + " amendments?:[amendment]",
	"amendment":   "time:#time price:#dec amount:#dec old_price:#dec old_amount:#dec amendment_id:#id",
	"order_trade": "time:#time fee:#dec price:#dec amount:#dec total:#dec role:#role trade_id:#id obid:#id",
	"own_trade": "time:#time pair:#pair fee:#dec price:#dec amount:#dec total:#dec role:#role trade_id:#id obid:#id" +
		" side:#side",

	"api_key":      keyShape,
	"popup":        "popupid:#id time:#time title:#text body:#plain",
	"announcement": "annoid:#id time:#time title:#text excerpt:#plain body:#plain",
	"asset_fees":   "symbol:#symbol name:#text icon_url:#url asset:#symbol networks:[network_fees]",
	"network_fees": "symbol:#symbol name:#text icon_url:#url network_description:#text fee:#dec deposit:{deposit_terms}" +
		" withdrawal:{withdrawal_terms}",
	"deposit_terms":    "min_amount:#dec",
	"withdrawal_terms": "min_amount:#dec fee_min:#dec fee_max:#dec",

	"fee_level": "volume:#dec volume_asset:#symbol hold:#dec hold_asset:#symbol maker_fee:#dec taker_fee:#dec",

	"@marketTrade": "class stream time:#unix time_us:#micros price:#dec amount:#dec total:#dec side:#side pair:#pair" +
		" trade_id:#id seq:#id",
	"@candleStick": "class stream time:#unix time_us:#micros pair:#pair open:#dec high:#dec low:#dec close:#dec volume:#dec seq:#id",
	"@ticker":      "class stream pair:#pair price:#dec change:#int previous:#dec seq:#id",
	"@tickerEx":    "class stream pair:#pair price:#dec change:#int previous:#dec" + day + " seq:#id",
	"@book":        "class stream prev:#int bids:#texts asks:#texts seq:#id",
	"@tape":        "class stream prev:#int skipped:#int trades:[taped] seq:#id",
	"taped":        "time:#unix time_us:#micros price:#dec amount:#dec side:#side trade_id:#id",
	"@candle":      "class stream time:#unix time_us:#micros pair:#pair open:#dec high:#dec low:#dec close:#dec volume:#dec seq:#id",
	"tickers":      "class stream tickers:[shown] seq:#id",
	"shown":        "pair:#pair price:#dec price_24h:#dec" + day,
	"@orderBook":   "class stream pair:#pair price:#full amount:#full side:#side seq:#id",
	"myTrades": "class stream time:#unix time_us:#micros price:#dec amount:#dec total:#dec side:#side pair:#pair obid:#id role:#role" +
		" fee:#dec trade_id:#id seq:#id",
	"myOrders": "class stream event:#event pair:#pair obid?:#id side?:#side type?:#type time:#unix time_us:#micros time_in_force?:#tif base?:#symbol" +
		" quote?:#symbol price?:#dec amount?:#dec total?:#dec stop?:#dec cap?:#dec quote_prec?:#int status?:#status triggered? amended? filled?:#dec" +
		" left?:#dec prevented?:#dec reason?:#reason client_id?:#name list_id?:#id seq:#id",
	"myBalances":  "class stream time:#unix time_us:#micros asset:#symbol total:#dec locked:#dec avbl:#dec seq:#id",
	"myTransfers": "class stream " + walletShapes["wallet_transaction"] + " seq:#id",

	"error": "success error:#text code:#code",
	"resp":  "class id success error?:#text code?:#code",
	"reset": "class stream seq:#int state",
}

const (
	ticker = "pair:#pair base:#symbol quote:#symbol icon_url:#url price:#dec change:#pct previous:#dec"
	day    = " high:#dec low:#dec vol_base:#dec vol_quote:#dec"

	orderShape = "obid?:#id pair:#pair time:#time side:#side time_in_force:#tif type:#type quote_prec:#int trades:[order_trade]" +
		" status:#status reason?:#reason base:#symbol quote:#symbol price?:#dec cap?:#dec amount?:#dec total?:#dec filled?:#dec" +
		" prevented?:#dec stop?:#dec client_id?:#name list_id?:#id"
	keyShape = " description:#text kind:#keykind scopes:#texts ips:#texts expires?:#time last_act?:#time"
)

// shaped checks the order and types of fields of an answer or a message against its
// table, in every check.
func (x *exam) shaped(name string, v *value) {
	x.Helper()
	clauses := x.clauses
	x.clauses = []string{"SPOT-TRN-14"}
	defer func() { x.clauses = clauses }()
	if table, known := shapes[name]; known {
		x.tabled(name, v, table)
	}
}

// shapedAnswer checks an answer, and a request that succeeded, against the table of its
// path and the description.
func (x *exam) shapedAnswer(method, path, body string, a *answer) {
	x.Helper()
	switch below, forPages := strings.CutPrefix(path, "/web/api"); {
	case forPages: // as described, but for the key
		asked := x.undescribed
		x.undescribed = true
		x.shapedAnswer(method, below, body, a)
		x.undescribed = asked
	case strings.HasPrefix(path, "/wallet/v2/"), strings.HasPrefix(path, "/account/v2/"), strings.HasPrefix(path, "/web/"):
		x.described("REST-FORM-1", func(v *describe.Validator) error {
			return v.Exchange(method, path, []byte(body), a.status, a.body)
		}, a)
	case strings.Contains(path, "?"):
		// Fields of a query are described like those of a body.
		asked := x.undescribed
		x.undescribed = true
		path, _, _ = strings.Cut(path, "?")
		x.shapedAnswer(method, path, body, a)
		x.undescribed = asked
	case a.status == 200 && formClause(path) != "":
		x.shapedV1(formClause(path), path, a.value)
		x.describedV1(formClause(path), path, body, a)
	case a.status != 200 || !strings.HasPrefix(path, "/spot/"):
	case a.value.get("success").kind == 't':
		x.shaped(strings.TrimPrefix(path, "/spot"), a.value)
		x.describedV1("SPOT-TRN-14", path, body, a)
	default:
		x.shaped("error", a.value)
		x.describedV1("SPOT-TRN-14", path, body, a)
	}
}

// formClause returns the clause of the answers' form of an interface V1 except for the spot
// interface; empty for other paths.
func formClause(path string) string {
	for prefix, clause := range map[string]string{
		"/wallet/": "WAL-TRN-6", "/info/": "INFO-FEE-1", "/p2p/": "INFO-PTP-1", "/account/": "ACV-TRN-2",
	} {
		if strings.HasPrefix(path, prefix) {
			return clause
		}
	}
	return ""
}

// validator validates requests and answers against the descriptions.
var validator = sync.OnceValues(describe.NewValidator)

// describedV1 validates a V1 answer, and the request if it succeeded, against the
// description.
func (x *exam) describedV1(clause, endpoint, body string, a *answer) {
	x.Helper()
	endpoint = path.Clean(endpoint) // as the exchange does
	x.described(clause, func(v *describe.Validator) error {
		if err := v.Answer(endpoint, a.body); err != nil || a.value.get("success").kind != 't' || x.undescribed {
			return err
		}
		return v.Request(endpoint, []byte(body))
	}, a)
}

// described fails the check if an answer differs from the description. Answers without
// JSON or of unknown paths have no description.
func (x *exam) described(clause string, hold func(*describe.Validator) error, a *answer) {
	x.Helper()
	v, err := validator()
	if err != nil {
		x.broken("%v", err)
	}
	if a.value == nothing && a.header.Get("Content-Type") != "application/json" {
		return
	}
	clauses := x.clauses
	x.clauses = []string{clause}
	defer func() { x.clauses = clauses }()
	if err := hold(v); err != nil && (a.status == 200 || !errors.Is(err, describe.ErrUnknown)) {
		x.Errorf("%s: %v", a.body, err)
	}
}

// shapedMessage checks a message against the table of its stream.
func (x *exam) shapedMessage(m *value) {
	x.Helper()
	name := m.get("stream").text
	if class := m.get("class").text; class == "resp" || class == "reset" {
		x.shaped(class, m)
		return
	}
	if _, kind, public := strings.Cut(name, "@"); public {
		kind, _, _ = strings.Cut(kind, "/")
		name = "@" + kind
	}
	x.shaped(name, m)
}

// tabled checks an object against a table.
func (x *exam) tabled(name string, v *value, table string) {
	x.Helper()
	members := v.members
	for field := range strings.FieldsSeq(table) {
		field, form, _ := strings.Cut(field, ":")
		field, optional := strings.CutSuffix(field, "?")
		if len(members) > 0 && members[0].name == field {
			x.formed(name+"."+field, members[0].value, form)
			members = members[1:]
		} else if !optional {
			x.Errorf("%s has fields [%s]: where is %s?", name, v.names(), field)
			return
		}
	}
	if len(members) > 0 {
		x.Errorf("%s has fields [%s]: what is %s doing there?", name, v.names(), members[0].name)
	}
}

// tableOf returns the table that a form such as [x] names.
func tableOf(form string) string {
	table, _ := tableNamed(form[1 : len(form)-1])
	return table
}

// formed checks a field's value against its form.
func (x *exam) formed(name string, v *value, form string) {
	x.Helper()
	switch {
	case form == "":
	case form[0] == '{':
		x.tabled(name, v, tableOf(form))
	case form[0] == '<':
		for _, m := range v.members {
			x.tabled(name, m.value, tableOf(form))
		}
	case form[0] == '[' && v.kind != '[':
		x.Errorf("%s is %s, want an array", name, v)
	case form[0] == '[':
		for _, row := range v.items {
			x.tabled(name, row, tableOf(form))
		}
	case form == "#texts":
	default:
		if d := mismatch(v, pattern(form)); d != "" {
			x.Errorf("%s%s", name, d)
		}
	}
}

// pattern returns a placeholder's pattern.
func pattern(form string) *value { return patterns()[form] }

var patterns = sync.OnceValue(func() map[string]*value {
	list := map[string]*value{}
	for form := range placeholders {
		list[form] = &value{kind: '"', text: form}
	}
	return list
})
