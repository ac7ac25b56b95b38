package conformance

// walletShapes are the tables of the wallet, by the full path of an endpoint.
var walletShapes = map[string]string{
	"/wallet/assets":             "success assets:<wallet_asset>",
	"/wallet/networks":           "success networks:<wallet_network>",
	"/wallet/balances":           "success balances:<wallet_balance>",
	"/wallet/balances_ex":        "success balances:<wallet_balance_ex>",
	"/wallet/transactions":       "success transactions:[wallet_transaction]",
	"/wallet/deposit":            "success operating confirms_target:#id address:#text memo?:#text memo_name?:#text qr_content?:#text" + extras + " min_deposit:#dec warning?:#text",
	"/wallet/withdraw/info":      "success operating fee_min:#dec fee_max:#dec prec:#int memo_name?:#text" + extras + " min_withdrawal:#dec warning?:#text",
	"/wallet/withdraw/validate":  "success valid_address? valid_memo? internal?",
	"/wallet/withdraw":           "success xid:#id",
	"/wallet/withdraw/cancel":    "success",
	"/wallet/transfer":           "success xid:#id",
	"/wallet/addressbook":        "success addressbook:<wallet_address>",
	"/wallet/addressbook/rename": "success",
	"/wallet/addressbook/delete": "success",

	"need_2fa":          "success error:#text code:#code need_2fa provider_2fa:#text",
	"wallet_asset":      "name:#text icon_url:#url",
	"wallet_network":    "description:#text icon_url:#url",
	"wallet_balance":    "total:#dec locked:#dec avbl:#dec",
	"wallet_balance_ex": "total:#dec locked:#dec avbl:#dec name:#text icon_url:#url max_prec:#int",
	"wallet_transaction": "xid:#id type:#kind asset:#symbol network:#over amount:#dec status:#stage create_time:#time address:#text" +
		" network_description:#line icon_url:#url memo?:#text memo_name?:#text exec_time?:#time confirms?:#int confirms_target?:#id" +
		" txid?:#text height?:#int wd_fee_this?:#dec fee?:#dec",
	"wallet_address": "asset:#symbol network:#symbol address:#text name:#text icon_url:#url network_description:#text memo?:#text" +
		" memo_name?:#text",
}

// extras are fields after the specified ones.
const extras = " contract?:#text"

// shapedV1 checks the order and types of an answer's fields against the table of its
// path, in every check, for a clause.
func (x *exam) shapedV1(clause, path string, v *value) {
	x.Helper()
	clauses := x.clauses
	x.clauses = []string{clause}
	defer func() { x.clauses = clauses }()
	if v.get("need_2fa").kind == 't' {
		x.tabled("need_2fa", v, walletShapes["need_2fa"])
	} else if v.get("success").kind != 't' {
		x.tabled("error", v, shapes["error"])
	} else if table, known := tableNamed(path); known {
		x.tabled(path, v, table)
	}
}

// tableNamed returns the table of a name.
func tableNamed(name string) (string, bool) {
	if table, known := walletShapes[name]; known {
		return table, true
	}
	table, known := shapes[name]
	return table, known
}
