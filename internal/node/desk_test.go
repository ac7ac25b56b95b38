package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/account/authenticator"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/certificate"
)

// TestDeskSettings wants operators to have a door that others have no part in.
func TestDeskSettings(t *testing.T) {
	party, err := account.NewParty("example.com", "https://trade.example.com")
	if err != nil {
		t.Fatal(err)
	}
	files := certificate.Options{Cert: "c", Key: "k"}
	for what, c := range map[string]struct {
		o    Options
		want error
	}{
		"none":              {Options{AdminURL: "x"}, nil},
		"loopback":          {Options{AdminListen: "127.0.0.1:0"}, nil},
		"behind a proxy":    {Options{AdminListen: "[::1]:0", AdminURL: "https://desk.example.com", Passkeys: party}, nil},
		"open":              {Options{AdminListen: "0.0.0.0:0", AdminURL: "https://desk.example.com"}, errDeskOpen},
		"all addresses":     {Options{AdminListen: ":0", AdminURL: "https://desk.example.com"}, errDeskOpen},
		"its own":           {Options{AdminListen: ":0", AdminURL: "https://desk.example.com", AdminCertificate: files}, nil},
		"the exchange's":    {Options{AdminListen: ":0", AdminURL: "https://desk.example.com", Certificate: files}, nil},
		"without a name":    {Options{AdminListen: ":0", AdminCertificate: files}, errDeskURL},
		"customers' party":  {Options{AdminListen: "127.0.0.1:0", AdminURL: "https://example.com", Passkeys: party}, errDeskParty},
		"customers' origin": {Options{AdminListen: "127.0.0.1:0", AdminURL: "https://trade.example.com", Passkeys: party}, errDeskParty},
		"customers' URL":    {Options{AdminListen: "127.0.0.1:0", AdminURL: "https://example.com", PublicURL: "https://www.Example.com"}, errDeskParty},
	} {
		if err := c.o.checkDesk(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	for _, url := range []string{"http://desk.example.com", "https://192.0.2.1", "https://desk.example.com/x", "desk"} {
		if err := (&Options{AdminListen: "127.0.0.1:0", AdminURL: url}).checkDesk(); err == nil {
			t.Errorf("%s is a URL of operators", url)
		}
	}
}

// TestOperatorsHaveADoorOfTheirOwn runs an exchange with both listeners. The first owner comes by the
// socket and a passkey, and neither listener takes the other's host or cookie.
func TestOperatorsHaveADoorOfTheirOwn(t *testing.T) {
	data := t.TempDir()
	serving, ended := make(chan string, 1), make(chan error, 1)
	o := Options{
		Data: data, OpenLog: openLog, Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", SegmentSize: 256 << 10,
		Log: slog.New(slog.DiscardHandler), Serving: func(address, _ string) { serving <- address },
	}
	n, err := assemble(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- n.serve(ctx) }()
	customers := "http://" + <-serving
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	var session *http.Cookie
	accept := ""
	ask := func(base, host, method, path, body string) (int, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("Accept", accept)
		if session != nil {
			r.AddCookie(session)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		for _, c := range answer.Cookies() {
			session = c
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, text
	}
	desk := n.AdminURL
	member := func(text []byte, name string) []byte {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil || members[name] == nil {
			t.Fatalf("no %s in %s", name, text)
		}
		return members[name]
	}

	invited, err := admin.Call(t.Context(), data, "operator/invite", map[string]any{"email": "ann@example.org", "role": "owner"})
	if err != nil {
		t.Fatal(err)
	}
	code, d := string(member(invited, "code")), authenticator.New(desk)
	_, options := ask(desk, "", "PUT", "/operator/v1/invitations/accept", `{"code":`+code+`}`)
	made, err := d.Create(member(options, "passkey"))
	if err != nil {
		t.Fatal(err)
	}
	if status, text := ask(desk, "", "POST", "/operator/v1/invitations/accept", `{"code":`+code+`,"passkey":`+string(made)+`}`); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	_, options = ask(desk, "", "PUT", "/operator/v1/session", `{}`)
	asserted, err := d.Get(member(options, "passkey"))
	if err != nil {
		t.Fatal(err)
	}
	if status, text := ask(desk, "", "POST", "/operator/v1/session", `{"assertion":`+string(asserted)+`}`); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if session.Name != "__Host-bourse-operator" {
		t.Errorf("cookie %s", session.Name)
	}

	deskHost := strings.TrimPrefix(desk, "http://")
	for _, c := range []struct {
		base, host, path string
		want             int
	}{
		{desk, "", "/operator/v1/withdrawals", 200},
		{desk, "evil.example", "/operator/v1/withdrawals", 403},
		{desk, "", "/spot/markets", 404},
		{desk, "", "/web/session", 404},
		{customers, "", "/operator/v1/withdrawals", 404},
		{customers, deskHost, "/operator/v1/withdrawals", 421},
		{customers, deskHost, "/", 421},
		{customers, deskHost, "/spot/markets?offset=0", 421},
	} {
		if status, text := ask(c.base, c.host, "GET", c.path, ""); status != c.want {
			t.Errorf("%s as %q at %s: %d %s, want %d", c.path, c.host, c.base, status, text, c.want)
		}
	}
	for path, want := range map[string]string{
		"/operator/v1/dashboard": `{"ready":true,"trading":true,"seq":`, "/operator/v1/solvency": `{"seq":`,
	} {
		if status, text := ask(desk, "", "GET", path, ""); status != 200 || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	accept = "text/html"
	for _, c := range []struct {
		base, host, path string
		want             int
	}{
		{desk, "", "/operator", 200},
		{desk, "", "/operator/withdrawals", 200},
		{desk, "evil.example", "/operator", 403},
		{desk, "", "/trade/BTC-USDT", 404},
		{desk, "", "/assets/none.js", 404},
		{customers, "", "/operator", 404},
		{customers, "", "/operator.html", 404},
		{customers, deskHost, "/operator", 421},
	} {
		if status, text := ask(c.base, c.host, "GET", c.path, ""); status != c.want {
			t.Errorf("the page %s as %q at %s: %d %s, want %d", c.path, c.host, c.base, status, text, c.want)
		}
	}
	accept = ""
	session.Name = "__Host-bourse" // where customers have theirs
	if _, text := ask(customers, "", "GET", "/web/session", ""); !strings.Contains(string(text), `"account":null`) {
		t.Errorf("an operator's cookie at the customers' listener: %s", text)
	}
}
