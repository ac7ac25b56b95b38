package edge

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// KnownHost serves requests whose Host is a loopback name, the configured host, or the
// address that the connection came to. Any other Host may be DNS rebinding: a foreign
// page whose name resolves to this machine, to read what its browser can reach.
func KnownHost(configured string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !LeadsHere(r, configured) {
			http.Error(w, "Host is not one of this listener's names", http.StatusMisdirectedRequest)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// OtherHost refuses requests to a host that another listener of this process serves: a browser
// would take the answer for one of that listener. A host that is no name of this machine alone is
// refused whatever its port, and with the dot that ends an absolute name.
func OtherHost(other string, next http.Handler) http.Handler {
	name, local := HostName(other), IsLoopback(other)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Host, other) || !local && strings.EqualFold(strings.TrimSuffix(HostName(r.Host), "."), name) {
			http.Error(w, "Host is the name of another listener", http.StatusMisdirectedRequest)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// LeadsHere reports whether a request's Host is a loopback name, one of the configured
// names, or the address that the connection came to. An empty name matches nothing.
func LeadsHere(r *http.Request, configured ...string) bool {
	host := HostName(r.Host)
	for _, name := range configured {
		if name != "" && strings.EqualFold(host, name) {
			return true
		}
	}
	if IsLoopback(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	here, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return err == nil && here != nil && ip.Unmap().WithZone("") == peerAt(here)
}

// HostName returns a host without its port and brackets.
func HostName(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && isPort(port) {
		host = name
	}
	return strings.Trim(host, "[]")
}

// isPort reports whether a text is a port, or empty.
func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil || s == ""
}

// IsLoopback reports whether a host is a name or an address of this machine's loopback.
func IsLoopback(host string) bool {
	name := HostName(host)
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
