package binance

// walletEndpoints returns the endpoints of the wallet.
func walletEndpoints() []Endpoint {
	const notYet = "It comes with a later version."
	unserved := func(method, path string) Endpoint {
		return Endpoint{Method: method, Path: path, Security: UserData, Weight: fixed(1), State: NotServed, Note: notYet}
	}
	return []Endpoint{
		unserved("GET", "/sapi/v1/capital/config/getall"),
		unserved("GET", "/sapi/v1/capital/deposit/address"),
		unserved("GET", "/sapi/v1/capital/deposit/hisrec"),
		unserved("POST", "/sapi/v1/capital/withdraw/apply"),
		unserved("GET", "/sapi/v1/capital/withdraw/history"),
		unserved("GET", "/sapi/v1/asset/tradeFee"),
		unserved("GET", "/sapi/v1/system/status"),
		unserved("GET", "/sapi/v1/account/apiRestrictions"),
	}
}
