package node

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// forwarded warns of peers that say for whom they ask and are not trusted to: most
// likely a proxy that trusted-proxies does not list, behind which all clients
// without a key count as one source.
type forwarded struct {
	mu sync.Mutex
	// near holds when peers of private networks were told of, far all others: a
	// stranger who fills far keeps no proxy of ours from being told of.
	near, far map[netip.Addr]time.Time
}

const (
	// toldEvery is how often a peer is told of.
	toldEvery = time.Hour
	// mostTold is how many peers of a kind are told of in that time.
	mostTold = 64
)

// due reports whether a peer is to be told of now.
func (f *forwarded) due(peer netip.Addr, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.near == nil {
		f.near, f.far = map[netip.Addr]time.Time{}, map[netip.Addr]time.Time{}
	}

	told := f.far
	if peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast() {
		told = f.near
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

// distrust warns of a peer, once in a while.
func (n *Node) distrust(peer netip.Addr) {
	if n.forwarded.due(peer, time.Now()) {
		n.Log.Warn("X-Forwarded-For from a peer that is not trusted: all its clients count as one source; "+
			"if it is your proxy, set trusted-proxies",
			slog.String("peer", peer.String()), slog.String("set", "trusted-proxies: ["+netip.PrefixFrom(peer, peer.BitLen()).String()+"]"))
	}
}
