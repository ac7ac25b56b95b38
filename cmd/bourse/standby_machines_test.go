package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestStandbyOfMachines keeps a standby of three machines, by the addresses of all, while a customer orders. The leader is killed, and it
// follows the next one. Then all three are lost: it is promoted, in the next incarnation, and has each order that was acknowledged before the
// time that it showed. The three come back, and whichever is elected ends at the fence of the accounts.
func TestStandbyOfMachines(t *testing.T) {
	ca := newNodeAuthority(t)
	proof := ca.node("machine")
	m := newMachines(t)
	for n := uint64(1); n <= 4; n++ {
		m.add(n)
	}
	ports := []string{freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)}
	for i, h := range m.all {
		h.settings(fmt.Sprintf("accounts: %s\ncluster: {listen: %q, ca: %s/ca.pem, cert: %s/machine.pem, key: %s/machine.key, compare-every: 100ms}\n",
			m.accounts, ports[i], ca.dir, ca.dir, ca.dir))
	}
	trio, four := m.all[:3], m.all[3]
	trio[0].found()
	trio[1].joins(trio[0])
	trio[2].joins(trio[0])
	leader := trio[0].awaits(1, 2, 3)
	key := leader.opens()
	leader.goesOn(key, "first-", trio...)

	accounts := "--accounts=" + m.accounts
	standby := followFrom(t, strings.Join(ports[:3], ","), four.dir, append(proof, accounts)...)
	standby.reaches()
	b := newBidder(t, "standby", key, trio...)
	end := b.bids()
	follows := func(h *host) {
		t.Helper()
		before := standby.status()
		b.further(20)
		within(t, patience, fmt.Sprintf("a standby of node %d, with states compared", h.number), func() bool {
			now := standby.status()
			return now.Connected && now.Source == ports[h.number-1] && now.Compared > before.Seq && now.AsOf.After(before.AsOf)
		})
	}
	follows(leader)
	leader.kill()
	left := []*host{leader.other(trio)}
	for _, h := range trio {
		if h != leader && h != left[0] {
			left = append(left, h)
		}
	}
	next := left[0].awaits(left[0].number, left[1].number)
	follows(next)
	promote := append([]string{"promote", four.dir, "--source-is-gone", accounts}, proof...)
	if _, stderr, code := run(t, promote...); code == 0 || !strings.Contains(stderr, "the source answers at "+ports[next.number-1]) {
		t.Errorf("promoted beside machines that serve: exit %d: %s", code, stderr)
	}

	next.kill() // first, so that no other one leads
	next.other(left).kill()
	shown := standby.status()
	end(true)
	standby.kill()
	tool[any](t, promote...)
	four.start()
	within(t, patience, "the standby serves", four.serves)
	four.goesOn(key, "promoted-", four)
	path, err := binary()
	must(t, err)
	lost := b.journaled(path, four.dir, shown.AsOf)
	t.Logf("%d orders were acknowledged, and %d are lost, within the lag of %d ms that was shown", len(b.acked), lost, shown.LagMS)
	s := &server{t: t, data: four.dir}
	if got := operate[struct{ Incarnation int }](s, "status").Incarnation; got != 2 {
		t.Errorf("incarnation %d", got)
	}
	s.audited()

	for _, h := range trio {
		h.start()
	}
	within(t, patience, "two machines that end", func() bool {
		ended := 0
		for _, h := range trio {
			select {
			case <-h.ended:
				ended++
			default:
			}
		}
		return ended >= 2
	})
	for _, h := range trio {
		h.kill()
		if h.cmd.ProcessState.ExitCode() == exitFailed && !strings.Contains(h.log.String(), "another machine has become the exchange") {
			t.Errorf("node %d ends, and does not say why", h.number)
		}
	}
	four.goesOn(key, "still-", four)
}
