package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// TestRestartCancelsOnClose restarts the exchange with connections that are to cancel,
// after a kill and after a stop in good order, and again without any. A switch that
// expires while the exchange is down fires at its start.
func TestRestartCancelsOnClose(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, ada := s.customer("ada")
	_, bob := s.customer("bob")
	_, eve := s.customer("eve")
	s.limit(bob, "SELL", "60020", "0.5")

	for _, end := range []func(){s.kill, func() { _, _ = s.stop() }} {
		conn := s.armed(ada)
		s.limit(ada, "SELL", "60010", "0.5")
		s.limit(eve, "SELL", "60030", "0.5")
		a, err := post(http.DefaultClient, s.url, "/spot/open_orders/cancel_after", map[string]any{"api_key": eve, "seconds": 1})
		if err != nil || !a.Success {
			t.Fatalf("cancel_after: %v %s", err, a.Error)
		}
		end()
		_ = conn.Close()
		s.start()
		for key, name := range map[string]string{ada: "whose connection closed", eve: "who fell silent"} {
			within(t, patience, "canceled for one "+name, func() bool { return s.open(key) == 0 })
		}
	}

	s.limit(ada, "SELL", "60010", "0.5")
	s.kill()
	s.start()
	s.limit(eve, "SELL", "60030", "0.5") // answered after the start's own commands
	if own, other := s.open(ada), s.open(bob); own != 1 || other != 1 {
		t.Errorf("%d and %d open orders of accounts without such connections", own, other)
	}
	s.audit()
}

// armed opens a stream whose end cancels the orders of a key's account.
func (s *server) armed(key string) net.Conn {
	s.t.Helper()
	conn, _, _, err := ws.Dial(s.t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/stream")
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	must(s.t, wsutil.WriteClientText(conn, fmt.Appendf(nil, `{"op":"auth","id":1,"api_key":"%s","cancel_on_close":true}`, key)))
	text, err := wsutil.ReadServerText(conn)
	if err != nil || !strings.Contains(string(text), `"success":true`) {
		s.t.Fatalf("auth: %s %v", text, err)
	}
	return conn
}

// open returns the number of a key's open orders.
func (s *server) open(key string) int {
	s.t.Helper()
	a, err := post(http.DefaultClient, s.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0})
	if err != nil || !a.Success {
		s.t.Fatalf("open orders: %v %s", err, a.Error)
	}
	return len(a.Orders)
}
