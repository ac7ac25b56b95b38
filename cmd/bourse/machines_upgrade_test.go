package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
)

// changed starts a machine, which does not lead, with another program under a customer's orders. No other node begins to lead.
func (h *host) changed(b *bidder, program string) {
	h.t.Helper()
	before := h.view()
	h.stop()
	h.program = program
	b.further(10)
	h.start()
	h.awaits(1, 2, 3)
	b.further(10)
	if now := h.view(); now.Leader != before.Leader || now.Term != before.Term {
		h.t.Errorf("node %d led in term %d, and node %d leads in term %d", before.Leader, before.Term, now.Leader, now.Term)
	}
}

// TestMachinesUpgrade upgrades three machines one at a time to a program that has one more kind of record, while a customer orders: the
// first of them goes back once, although it has written a snapshot of the next version. The kind is refused until an operator ends the
// upgrade on all machines, and the program of before does not start from then on. Each order that was acknowledged is there.
func TestMachinesUpgrade(t *testing.T) {
	newer := buildNewer(t)
	m := newMachines(t)
	one, two, three := m.add(1), m.add(2), m.add(3)
	for _, h := range m.all {
		h.settings("accounts: " + m.accounts + "\nsnapshot-every: 100\n")
	}
	one.found()
	two.joins(one)
	three.joins(one)
	old := one.awaits(1, 2, 3)
	key := old.opens()
	b := newBidder(t, "upgrade", key, m.all...)
	end := b.bids()
	b.further(10)

	next := old.other(m.all)
	last := m.all[6-old.number-next.number-1]
	refused := func(says string, words ...string) {
		t.Helper()
		if stdout, stderr, code := run(t, words...); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d, %s%s", words, code, stdout, stderr)
		}
	}
	collect := func(h *host) []string { return []string{"admin", "--data", h.dir, "fees", "collect"} }
	upgrade := func(h *host) []string { return []string{"cluster", "upgrade", "--data", h.dir} }

	newest := func() string {
		b.further(50)
		if files := kept(next.dir, "snapshots/*.snap"); len(files) > 0 {
			return files[len(files)-1]
		}
		return ""
	}
	before := ""
	within(t, patience, "a snapshot of the program of before", func() bool {
		before = newest()
		return before != ""
	})
	next.changed(b, newer)
	within(t, patience, "a snapshot of the newer program", func() bool { return newest() > before })
	next.changed(b, "") // there is a way back
	if !strings.Contains(next.log.String(), "snapshot of another version") {
		t.Error("neither program has passed over a snapshot of the other one")
	}
	next.changed(b, newer)
	old.transfers(next)
	next.awaits(1, 2, 3)
	b.further(10)
	refused("is being upgraded", collect(next)...)
	refused("runs an older program", upgrade(old)...)
	last.changed(b, newer)
	old.stop()
	within(t, patience, "a leader that misses a machine", func() bool {
		_, stderr, code := run(t, upgrade(last)...)
		return code != 0 && strings.Contains(stderr, fmt.Sprintf("node %d is away", old.number))
	})
	old.program = newer
	old.start()
	next.awaits(1, 2, 3)
	refused("is being upgraded", collect(next)...)

	want := cluster.Versions{Records: bourse.LastCommandKind + 1, Rules: bourse.CurrentRules}
	for _, h := range []*host{old, last} {
		if now := tool[cluster.Versions](t, upgrade(h)...); now != want {
			t.Errorf("the cluster is upgraded to %v, not %v", now, want)
		}
	}
	tool[any](t, collect(next)...)
	b.further(10)
	end(false)

	last.stop()
	last.refused("this program is older than the cluster's")
	last.start()
	next.awaits(1, 2, 3)
	old.transfers(last) // the last one leads with all that the others have
	last.awaits(1, 2, 3)
	last.goesOn(key, "after-", m.all...)
	b.journaled(newer, last.dir, time.Now())
	if stdout, stderr, code := runOf(t, newer, "admin", "--data", last.dir, "audit"); code != 0 {
		t.Errorf("the audit: exit %d: %s%s", code, stdout, stderr)
	}
	t.Logf("%d orders, %s without an acknowledgement at most", len(b.acked), b.longest.Round(time.Millisecond))
}
