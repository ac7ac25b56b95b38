package node

import (
	"encoding/json"
	"net/http"

	"github.com/bourse-exchange/bourse"
)

// endingBroken ends the process when a handler panics with an invariant error, after
// which net/http would go on serving. Any other panic ends its request alone.
func (n *Node) endingBroken(next http.Handler) http.Handler {
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

// healthz reports that the process runs.
func (n *Node) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"status": "ok", "version": n.Version})
}

// takes reports whether the exchange takes requests.
func (n *Node) takes() bool { return n.ready.Load() && !n.hangs.Load() }

// readyz reports whether the exchange takes requests, and the progress of its parts.
func (n *Node) readyz(w http.ResponseWriter, _ *http.Request) {
	commands, lag := n.tail.Lag()
	ready := n.takes()
	detail := map[string]any{
		"ready":               ready,
		"seq":                 n.sequencer.Applied(),
		"incarnation":         n.view.Catalogue().Incarnation,
		"history_lag":         commands,
		"history_lag_seconds": float64(lag) / 1e6,
		"clock_jumped":        n.clock.Jumped(),
	}
	if n.heads != nil {
		kept, since, err := n.heads.Reached()
		detail["anchored_seq"], detail["anchored_seconds_ago"], detail["anchor_away"] = kept, since.Seconds(), err != nil
	}
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, detail)
}

func answer(w http.ResponseWriter, status int, detail map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(detail) // the client may be gone
}
