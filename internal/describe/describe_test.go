package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

func mustLoad(t *testing.T, name string) document {
	t.Helper()
	d, err := load(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustValidator(t *testing.T) *Validator {
	t.Helper()
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// walk calls f for every object of a document, with its path.
func walk(value any, place string, f func(d document, place string)) {
	switch v := value.(type) {
	case map[string]any:
		f(v, place)
		for name, member := range v {
			walk(member, place+"/"+escape.Replace(name), f)
		}
	case []any:
		for i, element := range v {
			walk(element, fmt.Sprintf("%s/%d", place, i), f)
		}
	}
}

// resolve returns the target of a reference inside a document, or nil.
func resolve(d document, ref string) any {
	var value any = map[string]any(d)
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		object, _ := value.(map[string]any)
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return value
}

func TestEveryReferenceResolvesAndIsNeeded(t *testing.T) {
	for _, file := range documents {
		doc := mustLoad(t, file)
		used := map[string]bool{}
		walk(map[string]any(doc), "#", func(d document, place string) {
			ref, isRef := d["$ref"].(string)
			if !isRef {
				return
			}
			used[ref] = true
			if !strings.HasPrefix(ref, "#/") || resolve(doc, ref) == nil {
				t.Errorf("%s %s: %s does not resolve", file, place, ref)
			}
		})
		for name := range doc.at("components", "schemas") {
			if !used["#/components/schemas/"+name] {
				t.Errorf("%s: nobody uses the schema %s", file, name)
			}
		}
	}
}

// TestSchemasAreSchemas compiles every schema of the documents, also unused ones: the
// compiler checks them against the draft's own schema.
func TestSchemasAreSchemas(t *testing.T) {
	for _, file := range documents {
		doc := mustLoad(t, file)
		c := jsonschema.NewCompiler()
		if err := c.AddResource(file, map[string]any(doc)); err != nil {
			t.Fatal(err)
		}
		for name := range doc.at("components", "schemas") {
			if _, err := compile(c, file, []string{"components", "schemas", name}, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestEnumsHaveTypes wants a type for every enumeration, so that generators of clients
// need not infer it.
func TestEnumsHaveTypes(t *testing.T) {
	found := 0
	for _, file := range documents {
		var walk func(at string, v any)
		walk = func(at string, v any) {
			switch v := v.(type) {
			case []any:
				for i, item := range v {
					walk(fmt.Sprintf("%s/%d", at, i), item)
				}
			case map[string]any:
				if list, ok := v["enum"].([]any); ok {
					found++
					if v["type"] == nil {
						t.Errorf("%s: %v has no type", at, list)
					}
				}
				for name, item := range v {
					walk(at+"/"+name, item)
				}
			}
		}
		walk(file, map[string]any(mustLoad(t, file)))
	}
	if found < 20 {
		t.Errorf("only %d lists of values were found", found)
	}
}

func TestInterfacesAreWellFormed(t *testing.T) {
	for file, prefix := range map[string]string{
		spotFile: "/spot", infoFile: "/info", p2pFile: "/p2p", walletFile: "/wallet", account1File: "/account",
	} {
		doc := mustLoad(t, file)
		if doc.text("openapi") != "3.1.0" || doc.at("info").text("title") == "" || doc.at("info").text("version") == "" {
			t.Errorf("%s: the head is not that of an OpenAPI 3.1 document", file)
		}
		if doc.prefix() != prefix {
			t.Errorf("%s is below %q", file, doc.prefix())
		}
		ids := map[string]bool{}
		for path, item := range doc.at("paths") {
			operations := len(item.(map[string]any))
			if get := doc.at("paths", path, "get"); get != nil {
				operations--
				if id := get.text("operationId"); id != doc.at("paths", path, "post").text("operationId")+"ByQuery" {
					t.Errorf("%s: GET has the operationId %q", path, id)
				}
			}
			if !strings.HasPrefix(path, "/") || operations != 1 {
				t.Errorf("%s: post is expected, and get at most", path)
			}
			post := doc.at("paths", path, "post")
			if id := post.text("operationId"); id == "" || ids[id] {
				t.Errorf("%s: operationId %q", path, id)
			}
			ids[post.text("operationId")] = true
			for _, name := range []string{"summary", "tags", "requestBody"} {
				if post[name] == nil {
					t.Errorf("%s has no %s", path, name)
				}
			}
			statuses := slices.Sorted(maps.Keys(post.at("responses")))
			if want := []string{"200", "404", "405", "413", "429", "500"}; !slices.Equal(statuses, want) {
				t.Errorf("%s answers %v, want %v", path, statuses, want)
			}
		}
	}
}

func TestStreamsIsWellFormed(t *testing.T) {
	doc := mustLoad(t, streamsFile)
	if doc.text("asyncapi") != "3.0.0" || doc.at("info").text("title") == "" || doc.at("info").text("version") == "" {
		t.Error("the head is not that of an AsyncAPI 3 document")
	}
	messages := slices.Sorted(maps.Keys(doc.at("components", "messages")))
	if got := slices.Sorted(maps.Keys(doc.at("channels", "stream", "messages"))); !slices.Equal(got, messages) {
		t.Errorf("the channel carries %v, described are %v", got, messages)
	}
	for _, name := range []string{"ping", "auth", "sub", "unsub"} {
		o := doc.at("operations", name)
		if o.text("action") != "receive" || o.at("reply") == nil {
			t.Errorf("operation %s is not one that is received and answered", name)
		}
	}
}

// examples calls f for each example of a media type, with its name.
func examples(t *testing.T, at document, f func(name string, body []byte)) {
	t.Helper()
	list := at.at("examples")
	if len(list) == 0 {
		t.Error("there are no examples")
	}
	for name := range list {
		body, err := json.Marshal(list.at(name)["value"])
		if err != nil {
			t.Fatal(err)
		}
		f(name, body)
	}
}

func TestExamplesAreValid(t *testing.T) {
	v := mustValidator(t)
	docs := map[string]document{}
	for _, file := range restFiles {
		doc := mustLoad(t, file)
		docs[doc.prefix()] = doc
	}
	for _, path := range v.Paths() {
		t.Run(path, func(t *testing.T) {
			prefix, name, _ := strings.Cut(path[1:], "/")
			post := docs["/"+prefix].at("paths", "/"+name, "post")
			examples(t, post.at("requestBody", "content", "application/json"), func(name string, body []byte) {
				if err := v.Request(path, body); err != nil {
					t.Errorf("request %s: %v", name, err)
				}
			})
			examples(t, post.at("responses", "200", "content", "application/json"), func(name string, body []byte) {
				if err := v.Answer(path, body); err != nil {
					t.Errorf("answer %s: %v", name, err)
				}
			})
		})
	}
	streams := mustLoad(t, streamsFile)
	for _, name := range v.Messages() {
		list, _ := streams.at("components", "messages", name)["examples"].([]any)
		if len(list) == 0 {
			t.Errorf("message %s has no examples", name)
		}
		for _, example := range list {
			body, err := json.Marshal(example.(map[string]any)["payload"])
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Message(body); err != nil {
				t.Errorf("message %s: %s: %v", name, body, err)
			}
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	v := mustValidator(t)
	const order = `"api_key":"k","pair":"A/B","side":"BUY","time_in_force":"GTC"`
	for path, bodies := range map[string][]string{
		"/spot/markets": {
			`{}`, `{"offset":null}`, `{"offset":-1}`, `{"offset":"0"}`, `{"offset":1.5}`, `{"offset":2147483648}`,
			`{"pair":"A/B","quote":"B"}`, `{"quote":"B","search":"x","offset":0}`, `{"pair":"A/B","sort":"name"}`,
			`{"offset":0,"sort":"age"}`, `[]`, `{"offset":0,"offset":1}`, `{"offset":0}{}`,
		},
		"/spot/open_orders": {`{"api_key":"k","offset":0,"filter_pair":"A/B","sort_pair":"A/B"}`, `{"api_key":"k"}`},
		"/spot/candlestick": {`{"pair":"A/B","res":1,"from":0,"to":1}`, `{"pair":"A/B","res":"7","from":0,"to":1}`, `{"pair":"A/B","res":"5","from":0}`,
			`{"pair":"A/B","res":"1W","limit":501}`, `{"pair":"A/B","res":"1M","limit":0}`},
		"/spot/order_lists/new": {
			`{"api_key":"k","type":"OCO"}`, `{"api_key":"k","orders":[]}`,
			`{"api_key":"k","type":"OCO","orders":[]}`, `{"api_key":"k","type":"OCO","orders":{}}`,
			`{"api_key":"k","type":"OCO","orders":[{` + order + `,"type":"LIMIT","price":"1","amount":"1"}]}`,
			`{"api_key":"k","type":"OCO","orders":[{` + order + `,"type":"LIMIT","price":"1","amount":"1"},{}]}`,
			`{"api_key":"k","type":"OTO","orders":[{` + order + `,"type":"LIMIT","price":"1","amount":"1"},{` + order +
				`,"type":"STOP_LIMIT","price":"1","stop":"1","amount":"1"}]}`,
		},
		"/spot/order_lists":        {`{"api_key":"k"}`, `{"api_key":"k","list_id":"x"}`},
		"/spot/order_lists/cancel": {`{"api_key":"k"}`, `{"api_key":"k","list_id":-1}`},
		"/spot/open_orders/new": {
			`{` + order + `,"type":"LIMIT","price":"1"}`, `{` + order + `,"type":"LIMIT","amount":"1"}`,
			`{` + order + `,"type":"STOP_LIMIT","price":"1","amount":"1"}`,
			`{` + order + `,"type":"TAKE_PROFIT_LIMIT","stop":"1","amount":"1"}`,
			`{` + order + `,"type":"TAKE_PROFIT_MARKET","amount":"1"}`,
			`{` + order + `,"type":"STOP_MARKET","stop":"1"}`,
			`{` + order + `,"type":"STOP_MARKET","stop":"1","amount":"1","total":"1"}`,
			`{"api_key":"k","pair":"A/B","side":"SELL","time_in_force":"GTC","type":"STOP_MARKET","stop":"1","total":"1"}`,
			`{` + order + `,"type":"MARKET"}`, `{` + order + `,"type":"MARKET","amount":"1","total":"1"}`,
			`{` + order + `,"type":"LIMIT","price":"1e3","amount":"1"}`,
			`{` + order + `,"type":"LIMIT","price":".","amount":"1"}`,
			`{` + order + `,"type":"LIMIT","price":"-1","amount":"1"}`,
			`{` + order + `,"type":"LIMIT","price":1,"amount":"1"}`,
			`{` + order + `,"type":"MARKET","total":"1","post_only":true}`,
			`{` + order + `,"type":"MARKET","total":"1","client_id":"a b"}`,
		},
		"/spot/order":      {`{"api_key":"k"}`, `{"api_key":"k","obid":1,"client_id":"x"}`},
		"/wallet/assets":   {`{"symbols":"BTC"}`, `{"symbols":[1]}`, `{"symbols":["btc"]}`, `{"offset":"0"}`},
		"/wallet/networks": {`{}`, `{"asset":null}`},
		"/wallet/transactions": {
			`{"api_key":"k"}`, `{"api_key":"k","offset":0,"type":"deposit"}`,
			`{"api_key":"k","offset":0,"status":"OPEN"}`, `{"api_key":"k","offset":0,"type":["deposit"]}`,
		},
		"/wallet/withdraw/validate": {`{"api_key":"k","asset":"A"}`, `{"api_key":"k","asset":"A","network":"A","memo":7}`},
		"/wallet/withdraw": {
			`{"api_key":"k","asset":"A","network":"A","address":"x","amount":"1"}`,
			`{"api_key":"k","asset":"A","network":"A","address":"x","amount":1,"fee":"1"}`,
			`{"api_key":"k","asset":"A","network":"A","address":"x","amount":"1","fee":"1","adbk_name":"a\tb"}`,
		},
		"/wallet/addressbook/rename": {`{"api_key":"k","adbkid":1,"new_name":""}`},
		"/wallet/transfer": {
			`{"api_key":"k","asset":"A","amount":"1"}`, `{"api_key":"k","asset":"A","amount":1,"email":"a@b"}`,
			`{"api_key":"k","asset":"A","amount":"1","email":"a@b","address":"a@b"}`,
		},
		"/account/session/check":   {`{}`, `{"api_key":7}`},
		"/account/login":           {`{"email":"a@b"}`, `{"email":"a@b","password":"p","code_2fa":123456}`},
		"/account/api_keys/new":    {`{"api_key":"k"}`, `{"api_key":"k","description":"d","scopes":["all"]}`},
		"/account/api_keys/edit":   {`{"api_key":"k","description":"d"}`},
		"/account/api_keys/remove": {`{"api_key":"k","sid":"x"}`},
		"/info/v2/announcements":   {`{"cursor":-1}`, `{"limit":0}`, `{"limit":51}`},
		"/info/withdrawal_fees":    {`{"offset":"0"}`},
	} {
		for _, body := range bodies {
			if v.Request(path, []byte(body)) == nil {
				t.Errorf("%s took %s", path, body)
			}
		}
	}
	if v.Request("/nothing", []byte(`{}`)) == nil {
		t.Error("an unknown path was taken")
	}
}

func TestAnswersThatAreWrong(t *testing.T) {
	v := mustValidator(t)
	for path, bodies := range map[string][]string{
		"/spot/open_orders/new": {
			`{}`, `{"success":true,"obid":1}`, `{"success":true,"obid":1,"status":"FILLED"}`,
			`{"success":true,"filled":"1"}`, `{"success":false}`, `{"success":false,"error":""}`,
			`{"success":false,"error":"x"}`, `{"success":false,"error":"x","code":"x"}`,
			`{"success":false,"error":"x","code":"X","obid":1}`, `{"success":true,"error":null}`,
		},
		"/spot/orderbook": {`{"success":true,"bids":[],"asks":[]}`, `{"success":true,"bids":[{"price":"1"}],"asks":[],"seq":0}`},
		"/wallet/balances": {`{"success":true,"balances":{"A":{"total":"1","locked":"0"}}}`,
			`{"success":true,"balances":{"A":{"total":"1","locked":"0","avbl":"1","name":"a"}}}`},
		"/wallet/withdraw/validate": {`{"success":true,"valid_address":true}`, `{"success":true,"internal":true}`},
		"/wallet/withdraw":          {`{"success":true}`, `{"success":true,"xid":"1"}`, `{"success":false,"error":"x","code":"X","need_2fa":true}`},
		"/wallet/deposit":           {`{"success":true,"operating":true,"confirms_target":1,"address":"x","memo":"1","min_deposit":"1"}`},
		"/spot/time":                {`{"success":true,"time":"1700000000"}`, `{"success":true,"time":1700000000.000000}`},
		"/spot/user_fees":           {`{"success":true,"level":0,"maker_fee":"0.0010","taker_fee":"0"}`},
		"/info/spot_fees": {
			`{"success":true,"fees":{"0":{"volume":"0"}}}`,
			`{"success":true,"fees":{"x":{"volume":"0","volume_asset":"A","hold":"0","hold_asset":"A","maker_fee":"0","taker_fee":"0"}}}`,
			`{"success":true,"fees":{"0":{"volume":"0","volume_asset":"A","hold":"1","hold_asset":"A","maker_fee":"0","taker_fee":"0"}}}`,
		},
		"/account/session/check":   {`{"success":true}`, `{"success":true,"valid":"true"}`},
		"/account/login":           {`{"success":true}`, `{"success":true,"api_key":"x"}`, `{"success":false,"error":"x","need_2fa":true}`},
		"/account/api_keys/list":   {`{"success":true,"sessions":{"7":{"description":"d","scopes":["read"],"ips":[],"api_key":"x"}}}`},
		"/account/api_keys/remove": {`{"success":true,"sid":7}`},
		"/spot/order_lists/new": {
			`{"success":true,"list_id":1,"type":"OCO","orders":[{"obid":1,"status":"OPEN","filled":"0"}]}`,
			`{"success":true,"list_id":1,"type":"OCO","orders":[{"obid":1,"status":"OPEN","filled":"0"},{"obid":2,"status":"OPEN"}]}`,
			`{"success":true,"list_id":1,"orders":[{"obid":1,"status":"OPEN","filled":"0"},{"obid":2,"status":"OPEN","filled":"0"}]}`,
		},
		"/spot/order_lists": {`{"success":true,"list_id":1,"type":"OCO","status":"OPEN","orders":[]}`},
		"/info/banner": {
			`{"success":true}`, `{"success":true,"active":true}`, `{"success":true,"active":false,"bannerid":1}`,
		},
		"/info/v2/popup":         {`{"success":true}`, `{"success":true,"popups":[{"popupid":1,"title":"a","body":"b"}]}`},
		"/info/v2/announcements": {`{"success":true,"announcements":[{"annoid":1,"time":"1.000000","title":"a","body":"b"}]}`},
		"/info/withdrawal_fees":  {`{"success":true,"fees":[{"symbol":"A","name":"a","icon_url":"x","networks":[]}]}`},
		"/p2p/fiats":             {`{"success":true,"fiats":{}}`, `{"success":true,"fiats":[{}]}`},
		"/spot/open_orders": {
			`{"success":true,"orders":[{"obid":1,"pair":"A/B","time":"1.000000","side":"BUY","price":"1","amount":"1",` +
				`"time_in_force":"GTC","type":"LIMIT","quote_prec":"2","filled":"0"}]}`,
			`{"success":true,"orders":[{"obid":1,"pair":"A/B","time":"1.000000","side":"BUY","price":"1","amount":"1",` +
				`"time_in_force":"GTC","type":"LIMIT","quote_prec":2}]}`,
			`{"success":true,"orders":[{"obid":1,"pair":"A/B","time":"1.000000","side":"BUY","price":"1","amount":"1",` +
				`"time_in_force":"GTC","type":"STOP_MARKET","quote_prec":2,"stop":"1"}]}`,
			`{"success":true,"orders":[{"obid":1,"pair":"A/B","time":"1.000000","side":"BUY","cap":"1","total":"1",` +
				`"time_in_force":"GTC","type":"STOP_MARKET","quote_prec":2,"stop":"1"}]}`,
			`{"success":true,"orders":[{"obid":1,"pair":"A/B","time":"1.000000","side":"BUY","price":"1","amount":"1","cap":"1",` +
				`"time_in_force":"GTC","type":"TAKE_PROFIT_LIMIT","quote_prec":2,"stop":"1"}]}`,
		},
	} {
		for _, body := range bodies {
			if v.Answer(path, []byte(body)) == nil {
				t.Errorf("%s may answer %s", path, body)
			}
		}
	}
}

// TestPresenceOfTransactionFields removes each field of a transaction where it is
// required, and adds it where it is forbidden; only a transfer has an empty network.
func TestPresenceOfTransactionFields(t *testing.T) {
	v := mustValidator(t)
	const always = `"xid":1,"asset":"A","amount":"1","create_time":"1.000000","address":"x","icon_url":"http://h/i"`
	const network, none = `,"network":"A","network_description":"n"`, `,"network":"","network_description":""`
	optional := map[string]string{
		"exec_time": `"1.000000"`, "confirms": "0", "confirms_target": "1", "txid": `"t"`, "height": "1",
		"wd_fee_this": `"1"`, "fee": `"1"`, "memo_name": `"Memo"`,
	}
	for _, c := range []struct{ kind, status, fields, free string }{
		{"DEPOSIT", "PENDING", "confirms confirms_target txid height", "memo_name"},
		{"DEPOSIT", "DONE", "exec_time txid", "height memo_name"},
		{"DEPOSIT", "CANCELED", "txid", "height memo_name"},
		{"WITHDRAWAL", "PENDING", "fee", "memo_name"},
		{"WITHDRAWAL", "PROCESSING", "fee wd_fee_this", "memo_name"},
		{"WITHDRAWAL", "PENDING_CANCEL", "fee wd_fee_this", "memo_name"},
		{"WITHDRAWAL", "CANCELED", "fee wd_fee_this", "memo_name"},
		{"WITHDRAWAL", "DONE", "exec_time txid fee wd_fee_this", "memo_name"},
		{"TRANSFER_IN", "DONE", "exec_time", ""},
		{"TRANSFER_OUT", "PENDING", "", ""},
		{"TRANSFER_OUT", "CANCELED", "", ""},
		{"TRANSFER_OUT", "DONE", "exec_time", ""},
	} {
		own, other := network, none
		if strings.HasPrefix(c.kind, "TRANSFER") {
			own, other = none, network
		}
		row := func(at, change string) error {
			body := `{"success":true,"transactions":[{` + always + at + `,"type":"` + c.kind + `","status":"` + c.status + `"`
			for name, value := range optional {
				if slices.Contains(strings.Fields(c.fields), name) != (name == change) {
					body += `,"` + name + `":` + value
				}
			}
			return v.Answer("/wallet/transactions", []byte(body+"}]}"))
		}
		if err := row(own, ""); err != nil {
			t.Errorf("%s %s: %v", c.kind, c.status, err)
		}
		if row(other, "") == nil {
			t.Errorf("%s %s may be at %s", c.kind, c.status, other)
		}
		for name := range optional {
			if !slices.Contains(strings.Fields(c.free), name) && row(own, name) == nil {
				t.Errorf("%s %s: %s is free to come and go", c.kind, c.status, name)
			}
		}
	}
}

func TestMessagesThatAreWrong(t *testing.T) {
	v := mustValidator(t)
	for _, body := range []string{
		`1`, `{}`, `{"op":"ping"}`, `{"op":"ping","id":"1"}`, `{"op":"ping","id":1.5}`, `{"op":"pong","id":1}`,
		`{"op":"sub","id":1,"streams":[]}`, `{"op":"sub","id":1,"streams":"A/B@trades"}`,
		`{"class":"resp","id":1,"success":false}`, `{"class":"resp","id":1,"success":false,"error":"x"}`, `{"class":"resp","id":1,"success":true,"error":"x"}`,
		`{"class":"data","stream":"A/B@ticker","pair":"A/B","price":"1","change":"0","previous":"1"}`,
		`{"class":"data","stream":"A/B@ticker","pair":"A/B","price":"1","change":0,"previous":"1","high":"1"}`,
		`{"class":"data","stream":"A/B@candleStick/7","time":1,"pair":"A/B","open":"1","high":"1","low":"1","close":"1","volume":"1"}`,
		`{"class":"data","stream":"A/B@orderBook","pair":"A/B","price":"1","amount":"1","side":"BUY"}`,
		`{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"A/B","obid":1,"time":1,"status":"OPEN","filled":"0"}`,
		`{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"A/B","obid":1,"time":1}`,
		`{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"A/B","obid":1,"side":"BUY","type":"STOP_MARKET","time":1,` +
			`"time_us":1,"time_in_force":"GTC","base":"A","quote":"B","total":"1","stop":"1","cap":"1","quote_prec":2,"seq":1}`,
		`{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"A/B","obid":1,"side":"BUY","type":"STOP_MARKET","time":1,` +
			`"time_us":1,"time_in_force":"GTC","base":"A","quote":"B","amount":"1","price":"1","stop":"1","quote_prec":2,"seq":1}`,
		`{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"A/B","obid":1,"time":1}`,
		`{"class":"data","stream":"nothing"}`,
	} {
		if v.Message([]byte(body)) == nil {
			t.Errorf("%s was taken", body)
		}
	}
}

// missing answers for paths that do not exist.
func missing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/missing")
	w.WriteHeader(http.StatusNotFound)
}

func TestHandler(t *testing.T) {
	h, err := Handler("/docs", brand.Default(), coding.NewEncoder(1), http.HandlerFunc(missing))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		status int
		kind   string
		part   string
	}{
		"/docs":              {200, "text/html; charset=utf-8", "/spot/open_orders/new"},
		"/docs/":             {200, "text/html; charset=utf-8", "myTrades"},
		"/docs/docs.css":     {200, "text/css; charset=utf-8", "body"},
		"/docs/spot.yaml":    {200, "application/yaml", "openapi: 3.1.0"},
		"/docs/wallet.yaml":  {200, "application/yaml", "/withdraw/cancel"},
		"/docs/streams.yaml": {200, "application/yaml", "asyncapi: 3.0.0"},
		"/docs/account.yaml": {200, "application/yaml", "/mfa/cases"},
		"/docs/docs.go":      {404, "text/missing", ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if w.Code != want.status || w.Header().Get("Content-Type") != want.kind || !strings.Contains(w.Body.String(), want.part) {
			t.Errorf("%s: %d %s %.80s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); w.Code == 200 && !strings.HasPrefix(policy, "default-src 'none'; style-src 'self';") {
			t.Errorf("%s: policy is %q", path, policy)
		}
	}
}

// TestKnownFilesAreNotSentAgain wants a 304 for a client that has the document.
func TestKnownFilesAreNotSentAgain(t *testing.T) {
	h, err := Handler("/docs", brand.Default(), coding.NewEncoder(1), http.HandlerFunc(missing))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, known string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, http.NoBody)
		if known != "" {
			r.Header.Set("If-None-Match", known)
		}
		h.ServeHTTP(w, r)
		return w
	}

	tags := map[string]string{}
	for _, path := range []string{"/docs", "/docs/docs.css", "/docs/spot.yaml", "/docs/wallet.yaml", "/docs/keys", "/docs/keys.md", "/docs/bot.py", "/llms.txt"} {
		tag := ask(path, "").Header().Get("ETag")
		if len(tag) < 3 || tags[tag] != "" {
			t.Errorf("%s has the tag %s, like %q", path, tag, tags[tag])
		}
		tags[tag] = path
		for _, known := range []string{tag, `"other", ` + tag, "W/" + tag, "*"} {
			if w := ask(path, known); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
				t.Errorf("%s with %s: %d and %d bytes", path, known, w.Code, w.Body.Len())
			}
		}
		if w := ask(path, `"other"`); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s with another version: %d", path, w.Code)
		}
	}
}

// TestFilesAreCompressed wants each coding of a document to have a tag of its own, which
// alone answers 304, and HEAD and Range to be answered like GET.
func TestFilesAreCompressed(t *testing.T) {
	h, err := Handler("/docs", brand.Default(), coding.NewEncoder(1), http.HandlerFunc(missing))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method string, headers ...string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, "/docs/spot.yaml", http.NoBody)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		h.ServeHTTP(w, r)
		return w
	}

	plain := ask(http.MethodGet)
	tags := map[string]bool{}
	for accept, want := range map[string]string{"": "", "br": "", "gzip": "gzip", "zstd": "zstd", "gzip;q=0, *;q=0": ""} {
		w := ask(http.MethodGet, "Accept-Encoding", accept)
		tag, length := w.Header().Get("ETag"), w.Header().Get("Content-Length")
		if w.Header().Get("Content-Encoding") != want || w.Header().Get("Vary") != "Accept-Encoding" ||
			length != strconv.Itoa(w.Body.Len()) || (want == "") != bytes.Equal(w.Body.Bytes(), plain.Body.Bytes()) {
			t.Errorf("%q: %v and %d bytes", accept, w.Header(), w.Body.Len())
		}
		tags[tag] = true

		head := ask(http.MethodHead, "Accept-Encoding", accept)
		part := ask(http.MethodGet, "Accept-Encoding", accept, "Range", "bytes=0-9")
		for _, same := range []*httptest.ResponseRecorder{head, part} {
			if same.Code != http.StatusOK || !maps.EqualFunc(same.Header(), w.Header(), slices.Equal) {
				t.Errorf("%q: %d %v, want %v", accept, same.Code, same.Header(), w.Header())
			}
		}
		for other := range tags {
			known := ask(http.MethodGet, "Accept-Encoding", accept, "If-None-Match", other)
			if (known.Code == http.StatusNotModified) != (other == tag) || known.Header().Get("ETag") != tag ||
				known.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%q with %s: %d %v", accept, other, known.Code, known.Header())
			}
		}
	}
	if len(tags) != 3 {
		t.Errorf("tags of three codings: %v", tags)
	}
}
