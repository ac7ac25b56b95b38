package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/node"
)

// TestClusterRecover loses two of three nodes. The one that is left goes on alone, in the next incarnation, with all
// that it had and with paused withdrawals; before that, what cannot be is refused and changes nothing. The two that
// were lost elect a leader when they come back. It is kept from the accounts, and takes no order.
func TestClusterRecover(t *testing.T) {
	r := newRing(t, nil, nil)
	leader := r.leader()
	operator := r.operator()
	_, key := operator.member("trader", "USDT", takerHas)
	r.handover(key, "three", func() {})
	r.level()
	left := r.nodes[leader.Node%ringNodes]
	lost := slices.DeleteFunc(slices.Clone(r.nodes), func(n *ringNode) bool { return n == left })
	refused := func(says string, flags ...string) {
		t.Helper()
		words := append([]string{"cluster", "recover", "--data", left.dir}, flags...)
		if _, stderr, code := run(t, words...); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("a recovery with %q: exit %d, %s", flags, code, stderr)
		}
	}

	before := r.status(left)
	refused("end it first, and with it all nodes", "--accept-loss")
	r.unshare()
	left.kill()
	refused("answer at their node ports", "--accept-loss")
	for _, n := range lost {
		n.kill()
	}
	r.start(left)
	within(t, patience, "a replica", func() bool { return left.role.Load() == "replica" })
	refused("end its process first", "--accept-loss")
	left.kill()
	refused(fmt.Sprintf("node %d has the log up to entry %d", left.Node, before.Commit))
	accounts := filepath.Join(r.data, commonDir, node.AccountsDB)
	must(t, os.Rename(accounts, accounts+".away"))
	refused("name it with --accounts", "--accept-loss")
	must(t, os.Rename(accounts+".away", accounts))

	now := tool[recovery](t, "cluster", "recover", "--data", left.dir, "--accept-loss")
	want := []uint64{lost[0].Node, lost[1].Node}
	slices.Sort(want)
	if now.Node != left.Node || !slices.Equal(now.Lost, want) || now.Last.Index != before.Commit || now.Incarnation != 2 || now.Epoch != 2 {
		t.Errorf("node %d is recovered: %+v", left.Node, now)
	}
	for _, name := range []string{cluster.ConfigFile, "journal/voter"} {
		if _, err := os.Stat(filepath.Join(now.Kept, name)); err != nil {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
	refused("is the only one that votes", "--accept-loss")

	r.share()
	r.nodes = []*ringNode{left}
	r.start(left)
	r.handover(key, "one", func() {})
	type networks struct{ Networks []struct{ Paused bool } }
	for _, n := range operate[networks](r.operator(), "network", "list").Networks {
		if !n.Paused {
			t.Error("a network's withdrawals go on")
		}
	}
	operate[any](r.operator(), "withdrawals", "resume", "ATOM")
	r.comeBack(key, lost)
	r.handover(key, "still", func() {})
}

// comeBack starts lost nodes in another place, where they do not see the node that went on.
func (r *ring) comeBack(key string, lost []*ringNode) {
	r.t.Helper()
	path, err := binary()
	must(r.t, err)
	for _, n := range lost {
		out, err := exec.Command(path, "dev", "--node", fmt.Sprint(n.Node), "--data", r.data).CombinedOutput()
		if err == nil || !strings.Contains(string(out), fmt.Sprintf("and no node %d", n.Node)) {
			r.t.Errorf("a lost node starts beside the one that went on: %v, %s", err, out)
		}
	}

	elsewhere := &ring{t: r.t, data: r.t.TempDir()}
	must(r.t, os.Symlink(filepath.Join(r.data, commonDir), filepath.Join(elsewhere.data, commonDir)))
	for _, n := range lost {
		dir := nodeDir(elsewhere.data, n.Node)
		must(r.t, os.Rename(n.dir, dir))
		elsewhere.nodes = append(elsewhere.nodes, &ringNode{Member: n.Member, dir: dir, url: n.url, log: n.log + ".back"})
	}
	r.t.Cleanup(elsewhere.end)
	for _, n := range elsewhere.nodes {
		elsewhere.start(n)
	}
	within(r.t, patience, "an end of the leader that came back", func() bool {
		for _, n := range elsewhere.nodes {
			if buyAt(n.url, key, "lost") {
				r.t.Fatalf("node %d takes an order", n.Node)
			}
			select {
			case <-n.ended:
				text, err := os.ReadFile(n.log)
				must(r.t, err)
				return strings.Contains(string(text), "the accounts are of incarnation 2, and this one is 1")
			default:
			}
		}
		return false
	})
}
