package edge

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// KnownHost serves requests whose Host is a loopback name, the configured host, or the
// address that the connection came to. Any other Host may be DNS rebinding: a foreign
// page whose name resolves to this machine, to read what its browser can reach.
func KnownHost(configured string, next http.Handler) http.Handler {
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
