package node

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// metrics are the node's Prometheus collectors.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	series   *series
	step     prometheus.Histogram
	apply    prometheus.Histogram
	retries  prometheus.Counter
	free     prometheus.Gauge
	least    prometheus.Gauge
	forged   prometheus.Counter
}

// liveHeap selects go_gc_heap_live_bytes, the heap that the last collection found alive:
// the allocated heap grows between collections without a leak.
var liveHeap = regexp.MustCompile("^/gc/heap/live:bytes$")

func newMetrics(n *Node) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bourse_request_duration_seconds", Help: "Time to answer a request.",
			Buckets: prometheus.ExponentialBuckets(50e-6, 2, 16),
		}, []string{"endpoint", "status", "success"}),
		step: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "bourse_journal_step_duration_seconds", Help: "Time to write and sync a frame.",
			Buckets: prometheus.ExponentialBuckets(10e-6, 2, 18),
		}),
		apply: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "bourse_apply_delay_seconds",
			Help:    "Time from a frame's being durable to everybody's seeing what it did.",
			Buckets: prometheus.ExponentialBuckets(2e-6, 1.25, 50), // up to 0.1 s, fine enough to show a tenth
		}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bourse_follower_retries_total", Help: "Failures of history or snapshots that were tried again.",
		}),
		forged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bourse_accounts_forged_total",
			Help: "Rows of the accounts' store that were refused, because the journal knows others.",
		}),
		free: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bourse_disk_free_bytes", Help: "Room left on the data directory's disk.",
		}),
	}
	m.least = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bourse_disk_least_free_bytes", Help: "Room below which only cancels are taken.",
	})
	m.series = &series{known: map[ending]prometheus.Observer{}, of: m.requests}

	m.registry.MustRegister(m.requests, m.step, m.apply, m.retries, m.free, m.least, m.forged)
	m.registry.MustRegister(ofProcess()...)
	m.registry.MustRegister(n.gauges()...)
	return m
}

// ofProcess returns the collectors of the process.
func ofProcess() []prometheus.Collector {
	return []prometheus.Collector{
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}
}

// gauges returns the collectors whose values are read from the exchange at each scrape.
func (n *Node) gauges() []prometheus.Collector {
	list := []prometheus.Collector{
		gauge("bourse_applied_seq", "Last command that everybody sees.",
			func() float64 { return float64(n.sequencer.Applied()) }),
		gauge("bourse_incarnation", "Incarnation of the exchange.",
			func() float64 { return float64(n.view.Catalogue().Incarnation) }),
		gauge("bourse_followers", "Standbys that a stream of the journal is sent to.", func() float64 {
			if n.source == nil {
				return 0
			}
			return float64(n.source.Followers())
		}),
		gauge("bourse_intake_queued", "Commands that wait for the journal.",
			func() float64 { return float64(n.sequencer.Queued()) }),
		gauge("bourse_intake_closed",
			"1 while new orders are refused, for want of room or because the clock jumped.", func() float64 {
				return flag(n.refusing(sequencer.Orders))
			}),
		gauge("bourse_history_lag_commands", "Commands whose rows are not in the history store yet.", func() float64 {
			commands, _ := n.tail.Lag()
			return float64(commands)
		}),
		gauge("bourse_follower_seq", "Last command that the follower has applied.",
			func() float64 { return float64(n.follower.Seq()) }),
		gauge("bourse_streams", "Open WebSocket connections.", func() float64 { return float64(n.streams.Len()) }),
	}

	list = append(list, n.ofWebhooks()...)
	list = append(list, n.ofNetworks()...)

	if n.certificate.Encrypted() {
		list = append(list, gauge("bourse_certificate_left_seconds",
			"Time for which the certificate is good; 0 if there is none.", func() float64 {
				return n.certificate.Left().Seconds()
			}))
	}

	if n.heads != nil {
		list = append(list,
			gauge("bourse_anchored_seq", "Last command whose head is anchored.", func() float64 {
				kept, _, _ := n.heads.Reached()
				return float64(kept)
			}),
			gauge("bourse_anchor_away", "1 while the anchor cannot be written to.", func() float64 {
				_, _, err := n.heads.Reached()
				return flag(err != nil)
			}),
			gauge("bourse_anchor_age_seconds", "Time since a head was anchored.", func() float64 {
				_, since, _ := n.heads.Reached()
				return since.Seconds()
			}),
		)
	}
	return list
}

// ofNetworks returns the collectors of the connected networks' workers.
func (n *Node) ofNetworks() []prometheus.Collector {
	sum := func(of func(*wallet.Worker) int) func() float64 {
		return func() float64 {
			sum := 0
			for _, a := range n.networks {
				sum += of(a.worker)
			}
			return float64(sum)
		}
	}
	return []prometheus.Collector{
		gauge("bourse_withdrawals_limited", "Withdrawals that wait because a limit of the signer is reached.",
			sum((*wallet.Worker).Limited)),
		gauge("bourse_payments_overdue",
			"Transactions of the exchange in no block for longer than the setting fees: stuck, and stranded withdrawals.",
			sum((*wallet.Worker).Overdue)),
		gauge("bourse_hot_low", "Coins of which the hot wallet has less than the setting hot: low.",
			n.outside(func(b admin.Band) bool { return b.IsLow })),
		gauge("bourse_hot_high", "Coins of which the hot wallet has more than the setting hot: high.",
			n.outside(func(b admin.Band) bool { return b.IsHigh })),
		gauge("bourse_networks_down", "Connected networks that do not operate.", sum(func(w *wallet.Worker) int {
			if w.Health().Operating {
				return 0
			}
			return 1
		})),
	}
}

// outside returns the number of coins whose balance is outside its bounds.
func (n *Node) outside(is func(admin.Band) bool) func() float64 {
	return func() float64 {
		sum := 0
		for _, a := range n.networks {
			if len(a.Hot) == 0 {
				continue
			}
			for _, b := range a.bands(a.worker.Hot()) {
				if is(b) {
					sum++
				}
			}
		}
		return float64(sum)
	}
}

func gauge(name, help string, f func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
}

// flag returns 1 for true.
func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

func (m *metrics) observe(endpoint string, status int, success bool, took time.Duration) {
	m.series.find(ending{endpoint, status, success}).Observe(took.Seconds())
}

// ending is the outcome of a request to an endpoint.
type ending struct {
	endpoint string
	status   int
	success  bool
}

// series caches the observer of each ending, so that its labels are made once.
type series struct {
	of    *prometheus.HistogramVec
	mu    sync.RWMutex
	known map[ending]prometheus.Observer
}

func (s *series) find(e ending) prometheus.Observer {
	s.mu.RLock()
	o, ok := s.known[e]
	s.mu.RUnlock()
	if ok {
		return o
	}
	o = s.of.WithLabelValues(e.endpoint, strconv.Itoa(e.status), strconv.FormatBool(e.success))
	s.mu.Lock()
	s.known[e] = o
	s.mu.Unlock()
	return o
}
