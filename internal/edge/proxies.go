package edge

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Proxies determines the address that a request came from. A trusted proxy may name
// others.
type Proxies struct {
	// Trusted are the addresses of proxies.
	Trusted []netip.Prefix
	Clock   func() time.Time
	Log     *slog.Logger

	warned warnings
}

// warnings limits warnings about peers that send X-Forwarded-For and are not trusted:
// most likely a proxy that trusted-proxies does not list, behind which all clients
// without a key count as one source.
type warnings struct {
	mu sync.Mutex
	// near holds the times of warnings about peers of private networks, far those about
	// all others: strangers who fill far hide no proxy of the operator's.
	near, far map[netip.Addr]time.Time
}

const (
	// toldEvery is the time between two warnings about a peer.
	toldEvery = time.Hour
	// mostTold bounds the peers in near, and in far, that are warned about in that time.
	mostTold = 64
)

// From returns the address that a request came from: the connection's, or, behind a
// trusted proxy, the last address in X-Forwarded-For that is not trusted.
func (p *Proxies) From(r *http.Request) netip.Addr {
	peer := peerOf(r)
	if !p.Trusts(peer) {
		if _, given := r.Header["X-Forwarded-For"]; given {
			p.distrust(peer)
		}
		return peer
	}

	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return peer
		}
		if peer = hop.Unmap(); !p.Trusts(peer) {
			return peer
		}
	}
	return peer
}

// Trusts reports whether an address is a trusted proxy's.
func (p *Proxies) Trusts(a netip.Addr) bool {
	for _, network := range p.Trusted {
		if network.Contains(a) {
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

// due reports whether a warning about a peer is due, and notes it.
func (w *warnings) due(peer netip.Addr, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.near == nil {
		w.near, w.far = map[netip.Addr]time.Time{}, map[netip.Addr]time.Time{}
	}

	told := w.far
	if peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast() {
		told = w.near
	}
	if at, known := told[peer]; known && now.Sub(at) < toldEvery {
		return false
	}

	for p, at := range told {
		if now.Sub(at) >= toldEvery {
			delete(told, p)
		}
	}
	if len(told) >= mostTold {
		return false
	}
	told[peer] = now
	return true
}

// distrust warns about a peer, at most once in toldEvery.
func (p *Proxies) distrust(peer netip.Addr) {
	if p.warned.due(peer, p.Clock()) {
		p.Log.Warn("X-Forwarded-For from a peer that is not trusted: all its clients count as one source; "+
			"if it is your proxy, set trusted-proxies",
			slog.String("peer", peer.String()),
			slog.String("set", "trusted-proxies: ["+netip.PrefixFrom(peer, peer.BitLen()).String()+"]"))
	}
}
