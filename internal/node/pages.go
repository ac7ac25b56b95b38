package node

import (
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/bourse-exchange/bourse/internal/edge"
)

// metricsPages returns the handler of the metrics listener: the metrics, and profiles of
// the process.
func (n *Node) metricsPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", n.metrics.handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	configured, _, _ := net.SplitHostPort(n.MetricsListen)
	return edge.KnownHost(configured, mux)
}
