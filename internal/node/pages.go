package node

import (
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
)

// metricsPages are the paths of the listener of metrics: what the exchange measures,
// and profiles of the process.
func (n *Node) metricsPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", n.metrics.handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	configured, _, _ := net.SplitHostPort(n.MetricsListen)
	return knownHost(configured, mux)
}

// knownHost serves requests that name this machine by its loopback, by the host that
// is configured, or by the address that they came to. Another name is a page of
// somebody else's whose name was made to lead here, to read what it may not.
func knownHost(configured string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		here, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !leadsHere(host, configured, here) {
			http.Error(w, "Host is not one of this listener's names", http.StatusMisdirectedRequest)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// leadsHere reports whether a host is one of the names of a listener. here is the
// address that the connection came to.
func leadsHere(host, configured string, here net.Addr) bool {
	if strings.EqualFold(host, "localhost") || configured != "" && strings.EqualFold(host, configured) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	return here != nil && ip.Unmap().WithZone("") == peerAt(here)
}
