package conformance

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

var signedChecks = []check{
	signedRequests, signedHeaders, signedParts, signedWindows, signedOnce, signedOnly, signedStreams, signedOnV2, keyKinds,
	keyKindsV1,
}

func TestSigned(t *testing.T) { examine(t, signedChecks) }

// signer is a key that signs.
type signer struct {
	x *exam
	// key is its id; secret is that of a key of the kind hmac, private that of an ed25519 one.
	key, secret string
	private     ed25519.PrivateKey
	exchange    string
}

// keyPair draws a key pair and returns the public key in PEM.
func (x *exam) keyPair() (ed25519.PrivateKey, string) {
	x.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		x.broken("%v", err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		x.broken("%v", err)
	}
	return private, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// exchangeID returns the id of the exchange, past any proxy.
func (x *exam) exchangeID() string {
	x.Helper()
	a, err := x.exchange.send(http.MethodPost, x.exchange.url+"/spot/config", "{}", nil)
	if err != nil {
		x.broken("%v", err)
	}
	return a.value.get("exchange_id").text
}

// signers returns a key of each kind that signs.
func (a *account) signers(scopes string) []*signer {
	a.x.Helper()
	private, public := a.x.keyPair()
	file, err := os.CreateTemp("", "public")
	if err != nil {
		a.x.broken("%v", err)
	}
	a.x.Cleanup(func() { _ = os.Remove(file.Name()) })
	if _, err := file.WriteString(public); err != nil {
		a.x.broken("%v", err)
	}
	if err := file.Close(); err != nil {
		a.x.broken("%v", err)
	}

	exchange := a.x.exchangeID()
	create := []string{"key", "create", a.id, "--name", "signs", "--scopes", scopes, "--kind"}
	shared := a.x.operate(append(create, "hmac")...)
	paired := a.x.operate(append(create, "ed25519", "--public-key", file.Name())...)
	list := []*signer{
		{x: a.x, exchange: exchange, key: text(shared["api_key"]), secret: text(shared["secret"])},
		{x: a.x, exchange: exchange, key: text(paired["api_key"]), private: private},
	}
	list[0].awaitFresh()
	return list
}

// awaitFresh waits, past any proxy, until the exchange is old enough to take requests that
// change something.
func (s *signer) awaitFresh() {
	s.x.Helper()
	past := *s
	past.x = s.x.past()
	got := past.x.eventually(patience, func() *answer {
		return past.ask(past.request("/spot/open_orders/cancel", `{"obid":1}`))
	}, func(a *answer) bool { return a.value.get("code").text != "REQUEST_EXPIRED" })
	if got.value.get("code").text == "REQUEST_EXPIRED" {
		s.x.broken("the exchange takes no signed request: %s", got.value)
	}
}

// request is a signed request.
type request struct {
	exchange, key, method, path, query, body string
	timestamp, window                        int64
}

// text returns what is signed.
func (r *request) text() string {
	hash := sha256.Sum256([]byte(r.body))
	var b strings.Builder
	for _, part := range []string{
		"bourse-req-1", r.exchange, r.key, strconv.FormatInt(r.timestamp, 10), strconv.FormatInt(r.window, 10),
		r.method, r.path, r.query, hex.EncodeToString(hash[:]),
	} {
		_, _ = fmt.Fprintf(&b, "%d:%s,", len(part), part)
	}
	return b.String()
}

// request returns a request of now with the usual window.
func (s *signer) request(path, body string) request {
	return request{
		exchange: s.exchange, key: s.key, method: http.MethodPost, path: path, body: body,
		timestamp: time.Now().UnixMilli(), window: 5000,
	}
}

// sign returns the signature of a request.
func (s *signer) sign(r request) string {
	if s.private != nil {
		return hex.EncodeToString(ed25519.Sign(s.private, []byte(r.text())))
	}
	mac := hmac.New(sha256.New, []byte(s.secret))
	_, _ = mac.Write([]byte(r.text()))
	return hex.EncodeToString(mac.Sum(nil))
}

// headers returns the headers of a request with a signature.
func (r *request) headers(signature string) http.Header {
	return http.Header{
		"Bourse-Key": {r.key}, "Bourse-Timestamp": {strconv.FormatInt(r.timestamp, 10)},
		"Bourse-Window": {strconv.FormatInt(r.window, 10)}, "Bourse-Signature": {signature},
	}
}

// send sends a request with a signature.
func (s *signer) send(r request, signature string) *answer {
	s.x.Helper()
	target := r.path
	if r.query != "" {
		target += "?" + r.query
	}
	return s.x.send(r.method, target, r.body, r.headers(signature))
}

// ask signs a request and sends it.
func (s *signer) ask(r request) *answer {
	s.x.Helper()
	return s.send(r, s.sign(r))
}

const ownOrders = "/spot/open_orders"

func signedRequests(x *exam) {
	x.covers("SPOT-SIG-1", "SPOT-SIG-2")
	x.undescribed = true // api_key is not in the body
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")

	for _, s := range a.signers("read,trade") {
		r := s.request(ownOrders, `{"offset":0}`)
		got := s.ask(r)
		x.succeeds(got)
		x.same("open orders", got.value.get("orders").column("obid"), id)

		r.query, r.body = "a=%2C&b=1:2,", `{"offset":0, "x":"é"}`
		got = s.ask(r)
		x.succeeds(got)
		x.same("open orders", got.value.get("orders").column("obid"), id)

		x.succeeds(s.ask(s.request("/wallet/balances", `{"offset":0}`)))
		got = s.ask(s.request("/spot/open_orders/cancel", `{"obid":`+a.sell(m, "11", "1")+`}`))
		x.succeeds(got)
		x.same("open orders", a.open(), id)

		reader := a.signers("read")[0]
		x.fails(reader.ask(reader.request("/spot/open_orders/cancel", `{"obid":`+id+`}`)), "Forbidden: the key has no scope trade")
	}
}

func signedHeaders(x *exam) {
	x.covers("SPOT-SIG-1")
	x.undescribed = true
	a := x.account()
	s := a.signers("read")[0]
	r := s.request(ownOrders, `{"offset":0}`)
	for _, name := range []string{"Bourse-Timestamp", "Bourse-Signature"} {
		h := r.headers(s.sign(r))
		h.Del(name)
		x.fails(x.send(r.method, r.path, r.body, h), "Missing data: "+name)
	}
	h := r.headers(s.sign(r))
	h.Add("Bourse-Window", "5000")
	x.failsNaming(x.send(r.method, r.path, r.body, h), "Bourse-Window")
	h.Del("Bourse-Window")
	x.succeeds(x.send(r.method, r.path, r.body, h))

	r.body = `{"offset":0,"api_key":"` + a.key + `"}`
	x.coded(s.ask(r), "VALIDATION_ERROR")
}

func signedParts(x *exam) {
	x.covers("SPOT-SIG-3")
	x.undescribed = true
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	body := `{"obid":` + id + `}`
	for _, s := range a.signers("read,trade") {
		r := s.request("/spot/open_orders/cancel", body)
		r.query = "a=1"
		for what, change := range map[string]func(*request){
			"exchange": func(r *request) {
				r.exchange = strings.Repeat("0", 31) + map[bool]string{true: "1", false: "0"}[r.exchange[31] == '0']
			},
			"timestamp": func(r *request) { r.timestamp-- }, "window": func(r *request) { r.window++ },
			"method": func(r *request) { r.method = http.MethodGet }, "path": func(r *request) { r.path += "_all" },
			"query": func(r *request) { r.query = "a=2" }, "body": func(r *request) { r.body += " " },
		} {
			other := r
			change(&other)
			if got := s.send(r, s.sign(other)); got.value.get("code").text != "INVALID_SIGNATURE" {
				x.Errorf("signed for another %s: %s", what, got.value)
			}
		}
		x.coded(s.send(r, ""), "INVALID_SIGNATURE")
		x.coded(s.send(r, "00"), "INVALID_SIGNATURE")
		x.coded(s.send(r, strings.Repeat("zz", 32)), "INVALID_SIGNATURE")
		x.same("open orders", a.open(), id)
	}
}

func signedWindows(x *exam) {
	x.covers("SPOT-SIG-4")
	x.undescribed = true
	a := x.account()
	s := a.signers("read")[1]
	ask := func(age, window int64) *answer {
		x.Helper()
		r := s.request(ownOrders, `{"offset":0}`)
		r.timestamp, r.window = r.timestamp-age, window
		return s.ask(r)
	}

	x.succeeds(ask(0, 5000))
	x.succeeds(ask(50_000, 60_000))
	x.coded(ask(5000, 5000), "REQUEST_EXPIRED")
	x.coded(ask(60_000, 60_000), "REQUEST_EXPIRED")
	x.coded(ask(-20_000, 60_000), "REQUEST_EXPIRED")
	for _, window := range []int64{0, -1, 60_001} {
		x.failsNaming(ask(0, window), "window")
	}

	r := s.request(ownOrders, `{"offset":0}`)
	for _, bad := range []string{"", "x", "0" + strconv.FormatInt(r.timestamp, 10), "1.5", "1e12"} {
		h := r.headers(s.sign(r))
		h.Set("Bourse-Timestamp", bad)
		x.failsNaming(x.send(r.method, r.path, r.body, h), "timestamp")
	}
	r.timestamp, r.window = r.timestamp-10_000, 5000
	h := r.headers(s.sign(r))
	h.Del("Bourse-Window")
	x.coded(x.send(r.method, r.path, r.body, h), "REQUEST_EXPIRED")
}

func signedOnce(x *exam) {
	x.covers("SPOT-SIG-5")
	x.undescribed = true
	m := x.market()
	a := x.trader(m)
	order := func(more string) string {
		return `{"pair":"` + m.pair + `","side":"SELL","type":"LIMIT","time_in_force":"GTC","price":"10","amount":"1",` +
			`"resp_type":"ACK"` + more + `}`
	}
	for i, s := range a.signers("read,trade") {
		read := s.request(ownOrders, `{"offset":0}`)
		x.succeeds(s.ask(read))
		x.succeeds(s.ask(read))

		place := s.request("/spot/open_orders/new", order(""))
		first := s.ask(place)
		x.succeeds(first)
		x.coded(s.ask(place), "REQUEST_REPEATED")
		x.same("open orders", a.open(), first.value.get("obid").text)

		named := s.request("/spot/open_orders/new", order(`,"client_id":"n`+strconv.Itoa(i)+`"`))
		once := s.ask(named)
		x.succeeds(once)
		for range 2 {
			again := s.ask(named)
			x.succeeds(again)
			x.equal("order of the repeat", again.value.get("obid").text, once.value.get("obid").text)
			named.timestamp++
		}
		x.succeeds(s.ask(s.request("/spot/open_orders/cancel_all", `{}`)))
	}
}

func signedOnly(x *exam) {
	x.covers("SPOT-SIG-6")
	x.undescribed = true
	a := x.account()
	for _, s := range a.signers("read,trade") {
		x.fails(x.post("/open_orders", fields{"api_key": s.key, "offset": 0}), "Unauthorized")
		x.fails(x.send("POST", ownOrders, `{"offset":0}`, http.Header{"Authorization": {"Bearer " + s.key}}), "Unauthorized")
		x.refuses(x.rest("GET", "/email", s.key, nil), 403, "INVALID_KEY")
		x.equal("error", x.connect().ask("auth", fields{"api_key": s.key}).get("error").text, "Unauthorized")
	}

	shown := &signer{x: x, exchange: x.exchangeID(), key: a.key, secret: a.key}
	x.fails(shown.ask(shown.request(ownOrders, `{"offset":0}`)), "Unauthorized")
	none := &signer{x: x, exchange: shown.exchange, key: strings.Repeat("0", 64), secret: "x"}
	x.fails(none.ask(none.request(ownOrders, `{"offset":0}`)), "Unauthorized")
}

func signedStreams(x *exam) {
	x.covers("SPOT-SIG-7")
	m := x.market()
	a := x.trader(m)
	for _, s := range a.signers("read,trade") {
		r := request{
			exchange: s.exchange, key: s.key, method: "AUTH", path: "/stream", timestamp: time.Now().UnixMilli(), window: 5000,
		}
		auth := func(r request, signature string) fields {
			return fields{"key": r.key, "timestamp": r.timestamp, "window": r.window, "signature": signature}
		}
		good := auth(r, s.sign(r))

		conn := x.connect()
		conn.fails(conn.ask("auth", good.with("cancel_on_close", true)))
		conn.fails(conn.ask("auth", good.with("timestamp", r.timestamp-1)))
		conn.fails(conn.ask("auth", good.with("api_key", a.key)))
		conn.fails(conn.ask("sub", fields{"streams": "myOrders"}))
		conn.succeeds(conn.ask("auth", good))
		conn.succeeds(conn.ask("sub", fields{"streams": "myOrders"}))

		other := x.connect()
		x.equal("code", other.ask("auth", good).get("code").text, "REQUEST_REPEATED")
		r.query = "cancel_on_close=true"
		canceling := auth(r, s.sign(r))
		other.fails(other.ask("auth", canceling))
		other.succeeds(other.ask("auth", canceling.with("cancel_on_close", true)))
	}
}

func signedOnV2(x *exam) {
	x.covers("REST-KEY-5")
	x.undescribed = true
	a := x.account("1 BTC")
	for _, s := range a.signers("read,withdraw") {
		r := s.request("/wallet/v2/balances", "")
		r.method, r.query = http.MethodGet, "limit=1&q=BTC"
		got := s.ask(r)
		x.gives(got, `{"balances":[{"symbol":"BTC","name":"Bitcoin","iconUrl":"#url","defaultPrec":8,"total":"1","locked":"0","avbl":"1"}],`+
			`"more":false}`)
		sent := s.sign(r)
		r.query = "limit=2&q=BTC"
		x.refuses(s.send(r, sent), 403, "INVALID_SIGNATURE")
		r.timestamp -= 10_000
		x.refuses(s.ask(r), 403, "REQUEST_EXPIRED")

		remove := s.request("/wallet/v2/addressbook/1", "")
		remove.method = http.MethodDelete
		_ = s.ask(remove)
		x.refuses(s.ask(remove), 409, "REQUEST_REPEATED")
		x.refuses(x.v2("GET", "/wallet/v2/balances", s.key, nil), 403, "INVALID_KEY")
	}
}

func keyKinds(x *exam) {
	x.covers("ACC-KEY-6")
	p := x.person()
	_, public := x.keyPair()
	const terms = `"scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`
	x.gives(p.ask("POST", "/api-keys", fields{"description": "one", "kind": "hmac"}),
		`{"keyid":"#id","apiKey":"#text","secret":"#text","description":"one","kind":"hmac",`+terms)
	x.gives(p.ask("POST", "/api-keys", fields{"description": "two", "kind": "ed25519", "publicKey": public}),
		`{"keyid":"#id","apiKey":"#text","secret":null,"description":"two","kind":"ed25519",`+terms)
	x.same("kinds", p.ask("GET", "/api-keys", nil).value.get("apiKeys").column("kind"), "hmac", "ed25519")

	x.undescribed = true
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "three", "kind": "ed25519"}), 400, "MISSING_DATA")
	for _, bad := range []fields{
		{"kind": "rsa"}, {"kind": "ed25519", "publicKey": "x"}, {"kind": "hmac", "publicKey": public}, {"publicKey": public},
	} {
		x.refuses(p.ask("POST", "/api-keys", bad.with("description", "three")), 400, "VALIDATION_ERROR")
	}
}

func keyKindsV1(x *exam) {
	x.covers("ACV-KEY-6")
	p := x.person()
	_, public := x.keyPair()
	const terms = `"scopes":["read","trade"],"ips":[]}`
	x.answers(p.v1("/api_keys/new", fields{"description": "one", "kind": "hmac"}),
		`{"success":true,"sid":"#id","api_key":"#secret","secret":"#secret","description":"one","kind":"hmac",`+terms)
	x.answers(p.v1("/api_keys/new", fields{"description": "two", "kind": "ed25519", "public_key": public}),
		`{"success":true,"sid":"#id","api_key":"#secret","description":"two","kind":"ed25519",`+terms)

	x.undescribed = true
	x.fails(p.v1("/api_keys/new", fields{"description": "three", "kind": "ed25519"}), "Missing data: public_key")
	for name, bad := range map[string]fields{
		"kind": {"kind": "rsa"}, "public_key": {"kind": "ed25519", "public_key": "x"},
	} {
		x.failsNaming(p.v1("/api_keys/new", bad.with("description", "three")), name)
	}
}
