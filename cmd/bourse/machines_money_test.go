package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestMachinesPay moves real money of a test chain through three machines with a signer elsewhere: a deposit is credited, the leader is
// killed, and the next one pays a withdrawal that customers ordered before. The audit finds nothing amiss.
func TestMachinesPay(t *testing.T) {
	if testing.Short() {
		return
	}
	r := bitcoins(t, nodetest.Knots())
	m := newMachines(t)
	one := m.add(1)
	id := tool[made](t, "cluster", "init", "--data", one.dir, "--listen", one.listen, "--address", one.port).Exchange
	one.start()
	one.awaits(1)
	catalogue := filepath.Join(one.base, "catalogue.yaml")
	write(t, catalogue, listedForTests)
	operate[any](&server{t: t, data: one.dir}, "catalogue", "apply", catalogue)

	keeper, said := newKeeperOf(t, rehearsalLimits, "--exchange", id)
	keeper.start()
	password := filepath.Join(one.base, "btc.pw")
	write(t, password, nodetest.Password+"\n")
	networks := fmt.Sprintf(`accounts: %s
networks:
  BTC:
    adapter: bitcoin
    params: regtest
    nodes: [{url: %q, user: %s, password-file: %s}]
    keys: %q
    start: %q
signer: {socket: %s}
`, m.accounts, r.node.URL, nodetest.User, password, printedKeys(t, said, "regtest"), regtestStart, keeper.socket())
	one.kill()
	one.settings(networks)
	one.start()
	for n := uint64(2); n <= 3; n++ {
		within(t, patience, "a leader that serves", func() bool {
			s := (&program{ctx: t.Context()}).stateOf(one.dir)
			return s != nil && s.Ready
		})
		h := m.add(n)
		h.settings(networks)
		tool[joined](t, h.join(one.token())...)
		h.start()
		within(t, patience, "one more node that votes", func() bool { return len(h.view().Nodes) == int(n) && h.votes() })
	}

	leader := one.awaits(1, 2, 3)
	v := &venue{keeper: keeper, depositor: &depositor{realNode: r}}
	v.server = &server{t: t, data: leader.dir, url: leader.url}
	v.mine(1)
	v.opens()
	v.deposit()
	xid, address := v.ordered("0.05")

	leader.kill()
	left := leader.other(m.all)
	next := left.awaits(without(leader.number, 1, 2, 3)...)
	v.data, v.url = next.dir, next.url
	operate[any](v.server, "withdrawal", "approve", fmt.Sprint(xid))
	v.arrives(address, "0.05")
	v.audited()
}

// votes reports whether a machine's node has its vote.
func (h *host) votes() bool {
	for _, n := range h.view().Nodes {
		if n.Node == h.number {
			return n.Role == "replica" || n.Role == "leader"
		}
	}
	return false
}

// without returns numbers but for one.
func without(one uint64, all ...uint64) (list []uint64) {
	for _, n := range all {
		if n != one {
			list = append(list, n)
		}
	}
	return list
}
