package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestBackupOfNode takes a backup of each of three nodes under traders, the leader among them. Each is restored as an exchange
// on one node, which has what was answered before, with its state and its keys. Without a leader the backup is refused.
func TestBackupOfNode(t *testing.T) {
	r := newRing(t, nil, nil)
	p, _ := openPit(t.Context(), r.operator(), 10, r.told)
	p.enter(r.roamer)
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { p.work(1, 1, stop) })
	r.await(r.after(100), "before a backup")

	type state struct {
		Seq  uint64
		Hash string `json:"state_hash"`
	}
	dir := t.TempDir()
	for _, n := range r.nodes {
		before := operate[struct{ Seq uint64 }](r.operator(), "status").Seq
		copied, data := filepath.Join(dir, fmt.Sprint("copy-", n.Node)), filepath.Join(dir, fmt.Sprint("data-", n.Node))
		taken := tool[state](t, "backup", n.dir, copied)
		if restored := tool[state](t, "restore", copied, data); taken != restored || taken.Seq < before {
			t.Errorf("node %d: taken %+v, restored %+v, and the leader had applied %d before", n.Node, taken, restored, before)
		}
		if there := tool[state](t, "journal", "replay", n.dir, "--to", fmt.Sprint(taken.Seq)); there != taken {
			t.Errorf("node %d has the state %+v, its backup %+v", n.Node, there, taken)
		}
	}
	close(stop)
	work.Wait()

	for _, n := range r.nodes {
		n.kill()
	}
	again := start(t, filepath.Join(dir, "data-1"), short...)
	if a, err := post(http.DefaultClient, again.url, "/spot/open_orders", map[string]any{"api_key": p.sellerKey, "offset": 0}); err != nil || !a.Success {
		t.Errorf("the key of the backup: %v %s", err, a.Error)
	}
	again.audit()
	operate[any](again, "withdrawals", "resume", "ATOM")

	none := filepath.Join(dir, "none")
	if _, stderr, code := run(t, "backup", r.nodes[0].dir, none); code != exitFailed || !strings.Contains(stderr, "no node leads now") {
		t.Errorf("without a leader: exit %d: %s", code, stderr)
	}
}
