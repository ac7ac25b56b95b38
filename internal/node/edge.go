package node

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// from returns the address that a request came from: that of the connection, or,
// behind a proxy that is trusted, the last one in X-Forwarded-For that is not.
func (n *Node) from(r *http.Request) netip.Addr {
	peer := peerOf(r)
	if !n.trusts(peer) {
		if _, given := r.Header["X-Forwarded-For"]; given {
			n.distrust(peer)
		}
		return peer
	}

	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return peer
		}
		if peer = hop.Unmap(); !n.trusts(peer) {
			return peer
		}
	}
	return peer
}

func (n *Node) trusts(a netip.Addr) bool {
	for _, p := range n.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func peerOf(r *http.Request) netip.Addr {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	a, _ := netip.ParseAddr(host)
	return a.Unmap().WithZone("")
}

// watchful ends the process when a handler finds an invariant broken: net/http
// would go on serving. Any other panic stays with its request.
func (n *Node) watchful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if broken, ok := cause.(bourse.InvariantError); ok {
				n.fail(broken)
			}
			panic(cause)
		}()
		next.ServeHTTP(w, r)
	})
}

// healthz says that the process works.
func (n *Node) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"status": "ok", "version": n.Version})
}

// readyz says whether the exchange takes requests, and how far its parts are.
func (n *Node) readyz(w http.ResponseWriter, _ *http.Request) {
	commands, lag := n.tail.Lag()
	detail := map[string]any{
		"ready":               n.ready.Load(),
		"seq":                 n.sequencer.Applied(),
		"history_lag":         commands,
		"history_lag_seconds": float64(lag) / 1e6,
		"clock_jumped":        n.clock.Jumped(),
	}
	if n.heads != nil {
		kept, since, err := n.heads.reached()
		detail["anchored_seq"], detail["anchored_seconds_ago"], detail["anchor_away"] = kept, since.Seconds(), err != nil
	}
	status := http.StatusOK
	if !n.ready.Load() {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, detail)
}

func answer(w http.ResponseWriter, status int, detail map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(detail) // the client may be gone
}
