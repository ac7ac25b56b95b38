package node

import (
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bourse-exchange/bourse/internal/edge"
)

// metricsPages returns the handler of the metrics listener: the metrics, and profiles of
// the process.
func (n *Node) metricsPages(metrics *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	configured, _, _ := net.SplitHostPort(n.MetricsListen)
	return edge.KnownHost(configured, mux)
}
