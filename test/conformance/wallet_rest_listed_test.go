package conformance

import (
	"fmt"
	"slices"
	"strings"
)

const (
	bitcoinV2 = `{"symbol":"BTC","name":"Bitcoin","iconUrl":"#url","defaultPrec":8}`
	cosmosV2  = `{"symbol":"ATOM","name":"#text","iconUrl":"#url","memoName":"#text"}`
)

func assetsOfV2(x *exam) {
	x.covers("WAL-REST-6")
	ask := func(query string) *answer {
		x.Helper()
		return x.v2("GET", "/wallet/v2/assets"+query, "", nil)
	}
	x.gives(ask("/BTC"), bitcoinV2)
	x.refuses(ask("/NOSUCH"), 404, "NOT_FOUND")
	x.refuses(ask("/btc"), 400, "VALIDATION_ERROR")
	x.gives(ask("?q=BITCOIN&limit=1"), `{"assets":[`+bitcoinV2+`],"more":false}`)
	symbols := func(query string) []string {
		x.Helper()
		return ask(query).value.get("assets").column("symbol")
	}
	x.same("by symbol", symbols("?q=bt"), "BTC")
	up, down := symbols("?limit=500"), symbols("?limit=500&orderDir=DESC")
	if !slices.IsSorted(up) || len(up) < 5 {
		x.Errorf("assets come as %v", up)
	}
	slices.Reverse(down)
	x.same("the other way", down, up...)
	names := ask("?orderBy=name&limit=500").value.get("assets").column("name")
	if !slices.IsSorted(names) || len(names) != len(up) {
		x.Errorf("names come as %v", names)
	}
	x.refuses(ask("?orderBy=age"), 400, "VALIDATION_ERROR")
	x.refuses(ask("?orderDir=asc"), 400, "VALIDATION_ERROR")
	x.refuses(ask("?q="+strings.Repeat("a", 257)), 400, "VALIDATION_ERROR")
}

func balancesOfV2(x *exam) {
	x.covers("WAL-REST-7")
	a := x.account("2.5 BTC", "7 USDT")
	const bitcoin = `{"symbol":"BTC","name":"Bitcoin","iconUrl":"#url","defaultPrec":8,"total":"2.5","locked":"0","avbl":"2.5"}`
	x.gives(a.v2("GET", "/balances/BTC", nil), bitcoin)
	x.gives(a.v2("GET", "/balances?q=bitcoin&limit=1", nil), `{"balances":[`+bitcoin+`],"more":false}`)
	column := func(query, name string) []string {
		x.Helper()
		return a.v2("GET", "/balances"+query, nil).value.get("balances").column(name)
	}
	x.same("held", column("?nonZero", "symbol"), "BTC", "USDT")
	x.same("held", column("?nonZero=&orderBy=total&orderDir=DESC", "total"), "7", "2.5")
	x.same("all", column("?limit=500", "symbol"), x.v2("GET", "/wallet/v2/assets?limit=500", "", nil).value.get("assets").column("symbol")...)
	x.refuses(a.v2("GET", "/balances/NOSUCH", nil), 404, "NOT_FOUND")
	x.refuses(x.v2("GET", "/wallet/v2/balances", "", nil), 401, "UNAUTHORIZED")
}

func networksOfV2(x *exam) {
	x.covers("WAL-REST-8")
	ask := func(query string) *answer {
		x.Helper()
		return x.v2("GET", "/wallet/v2/io/networks"+query, "", nil)
	}
	x.gives(ask("/ATOM"), cosmosV2)
	x.gives(ask("?asset=ATOM"), `{"networks":[`+cosmosV2+`],"more":false}`)
	all := ask("").value.get("networks").column("symbol")
	if !slices.IsSorted(all) || !slices.Contains(all, "ETH") || len(all) < 4 {
		x.Errorf("networks come as %v", all)
	}
	x.equal("memo of BTC", ask("/BTC").value.get("memoName").String(), "null")
	x.refuses(ask("/NOSUCH"), 404, "NOT_FOUND")
	x.refuses(ask("?asset=NOSUCH"), 404, "NOT_FOUND")
}

func depositOfV2(x *exam) {
	x.covers("WAL-REST-9")
	x.awake(networks...)
	a := x.account()
	v1 := a.behind("/deposit", fields{"asset": "ATOM", "network": "ATOM"})
	got := a.v2("GET", "/io/deposit/ATOM/ATOM", nil)
	x.gives(got, `{"address":"`+v1.get("address").text+`","memoName":"#text","memo":"`+v1.get("memo").text+
		`","confirmTarget":1,"contract":null,"minAmount":"`+v1.get("min_deposit").text+
		`","operating":true,"qrCode":null,"warnings":["#text"]}`)
	x.equal("again", a.v2("GET", "/io/deposit/ATOM/ATOM", nil).value.String(), got.value.String())
	token := a.v2("GET", "/io/deposit/ETH/USDT", nil).value
	x.match(token.get("contract"), `"#text"`)
	x.match(token.get("memo"), `null`)
	x.match(token.get("qrCode"), `null`)
	for network, scheme := range map[string]string{"BTC": "bitcoin:", "LTC": "litecoin:", "ETH": "ethereum:"} {
		v := a.v2("GET", "/io/deposit/"+network+"/"+network, nil).value
		url := a.behind("/deposit", fields{"asset": network, "network": network}).get("qr_content").text
		x.equal("qrCode", v.get("qrCode").text, url)
		if !strings.HasPrefix(url, scheme+v.get("address").text) {
			x.Errorf("qrCode is %q, want %s and the address", url, scheme)
		}
	}
	x.refuses(a.v2("GET", "/io/deposit/BTC/ETH", nil), 406, "INVALID_NETWORK")
	x.refuses(a.v2("GET", "/io/deposit/NOSUCH/ETH", nil), 404, "NOT_FOUND")
	x.refuses(a.v2("GET", "/io/deposit/BTC/NOSUCH", nil), 404, "NOT_FOUND")
}

func infoOfV2(x *exam) {
	x.covers("WAL-REST-10")
	x.awake("ATOM")
	a := x.account()
	v1 := a.behind("/withdraw/info", fields{"asset": "ATOM", "network": "ATOM"})
	x.gives(a.v2("GET", "/io/withdrawal/ATOM/info/ATOM", nil), fmt.Sprintf(
		`{"memoName":"#text","contract":null,"minAmount":%q,"feeMin":%q,"feeMax":%q,"feePrec":%s,"prec":%s,"operating":true,"warnings":[]}`,
		v1.get("min_withdrawal").text, v1.get("fee_min").text, v1.get("fee_max").text, v1.get("prec").text, v1.get("prec").text))
	x.refuses(a.v2("GET", "/io/withdrawal/BTC/info/ATOM", nil), 406, "INVALID_NETWORK")
}

func validationOfV2(x *exam) {
	x.covers("WAL-REST-11")
	a := x.account()
	c := sandboxChains["ATOM"]
	c.x = x
	address, memo := a.address(&c)
	judge := func(network string, about fields, address, memo, internal string) {
		x.Helper()
		pattern := `{"validAddress":` + address + `,"validMemo":` + memo + `,"internal":` + internal + `}`
		var query []string
		for name, v := range about {
			query = append(query, name+"="+v.(string))
		}
		at := "/io/withdrawal/" + network + "/validation"
		inQuery := at + "?" + strings.Join(query, "&")
		x.gives(a.v2("GET", inQuery, nil), pattern)
		x.gives(a.v2("POST", inQuery, nil), pattern)
		x.gives(a.v2("POST", inQuery, fields{}), pattern)
		x.gives(a.v2("POST", at, about), pattern)
	}
	judge("ATOM", fields{"address": address, "memo": memo}, "true", "true", "true")
	judge("ATOM", fields{"memo": memo}, "null", "true", "null")
	judge("BTC", fields{"address": address}, "false", "null", "false")
	judge("BTC", fields{"memo": "7"}, "null", "false", "null")
	judge("BTC", fields{}, "null", "null", "null")
	x.gives(a.v2("POST", "/io/withdrawal/ATOM/validation?memo="+memo, fields{"address": address}),
		`{"validAddress":true,"validMemo":true,"internal":true}`)
	x.refuses(a.v2("POST", "/io/withdrawal/ATOM/validation?memo=7", fields{"memo": "7"}), 400, "VALIDATION_ERROR")
	outside := sandboxChains["BTC"]
	outside.x = x
	judge("BTC", fields{"address": outside.outside()}, "true", "null", "false")
	x.refuses(a.v2("GET", "/io/withdrawal/NOSUCH/validation?memo=7", nil), 404, "NOT_FOUND")
}

func feesOfV2(x *exam) {
	x.covers("WAL-REST-12")
	ask := func(query string) *answer {
		x.Helper()
		return x.v2("GET", "/wallet/v2/io/fees"+query, "", nil)
	}
	a := x.account()
	v1 := a.behind("/withdraw/info", fields{"asset": "ATOM", "network": "ATOM"})
	least := a.behind("/deposit", fields{"asset": "ATOM", "network": "ATOM"}).get("min_deposit").text
	row := `{"symbol":"ATOM","name":"#text","iconUrl":"#url","networks":[{"symbol":"ATOM","name":"#text","iconUrl":"#url",` +
		`"deposit":{"minAmount":"` + least + `"},"withdrawal":{"minAmount":"` + v1.get("min_withdrawal").text +
		`","feeMin":"` + v1.get("fee_min").text + `","feeMax":"` + v1.get("fee_max").text + `"}}]}`
	x.gives(ask("/ATOM"), row)
	x.gives(ask("?limit=1"), `{"fees":[`+row+`],"more":true}`)
	x.refuses(ask("/NOSUCH"), 404, "NOT_FOUND")
}

func disabledOfV2(x *exam) {
	x.covers("WAL-REST-13")
	c := x.chain("LTC")
	a := c.customer()
	to := c.outside()
	x.list(fmt.Sprintf(litecoin, false))
	x.Cleanup(func() { _ = x.listed(fmt.Sprintf(litecoin, true)) })
	x.refuses(a.v2("GET", "/io/deposit/LTC/LTC", nil), 403, "FORBIDDEN")
	x.refuses(a.v2("GET", "/io/withdrawal/LTC/info/LTC", nil), 403, "FORBIDDEN")
	x.refuses(a.v2("POST", "/io/transactions", c.out(to, "0.1")), 403, "FORBIDDEN")
	x.gives(x.v2("GET", "/wallet/v2/io/networks?asset=LTC", "", nil), `{"networks":[],"more":false}`)
}
