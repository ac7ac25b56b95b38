package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// vaulted is a venue with cold storage of two keys, which are offline.
type vaulted struct {
	*venue
	// people are the directories of the keys, and passphrase is the file that opens them.
	people     []string
	passphrase string
}

// coldRow is a network as operators see it.
type coldRow struct {
	Operating bool
	Lag       uint64
	Halted    string
	Hot, Cold map[string]string
	Cooling   any
	Moves     []struct{ Kind, Tx, State string } `json:"cold_moves"`
}

// TestColdRoundTrip carries out what the runbook says about cold storage, with the real programs: coins go there by an
// order, and come back by a transaction that two people sign.
func TestColdRoundTrip(t *testing.T) {
	if testing.Short() {
		return
	}
	v := newVaulted(t)
	v.fund("0.9")

	operate[any](v.server, "network", "cool", "BTC", "BTC", "0.5")
	v.moves("cool", "accepted")
	v.mine(1)
	v.holds("0.39", "0.5")

	sent := v.send(v.signed("0.2"))
	v.moves("warm", "accepted")
	v.mine(1)
	v.holds("0.59", "0.29")
	v.fails("NOTHING_TO_END", "network", "end-psbt", "BTC")

	// One that is given up is outbid by the next.
	first := v.signed("0.1")
	given := v.send(first)
	v.moves("warm", "accepted")
	v.fails("waits for its block", "network", "psbt", "BTC", "0.05")
	v.fails("a transaction spends already", append([]string{"network", "send-psbt", "BTC"}, first...)...)
	ended := operate[struct {
		Moves    []struct{ Tx, State string } `json:"cold_moves"`
		WaitsFor string                       `json:"waits_for"`
	}](v.server, "network", "end-psbt", "BTC")
	if len(ended.Moves) != 1 || ended.Moves[0].Tx != given || ended.Moves[0].State != "dropped" || ended.WaitsFor == "" {
		t.Errorf("it was ended: %+v", ended)
	}
	v.restart()
	v.until("the network operates", func() bool { return v.row().Operating })
	if again := v.send(v.signed("0.05")); again == given || again == sent {
		t.Errorf("it sent %s again", again)
	}
	v.moves("warm", "accepted")
	v.mine(1)
	v.holds("0.64", "0.24")

	v.fails("cold storage has 0.24", "network", "psbt", "BTC", "0.3")
	v.audited()
	if a := v.row(); a.Halted != "" {
		t.Errorf("halted by %s", a.Halted)
	}
}

// newVaulted starts an exchange on regtest whose cold storage wants both of two people's keys.
func newVaulted(t *testing.T) *vaulted {
	t.Helper()
	v := &vaulted{venue: newVenue(t, bitcoins(t, nodetest.Knots()))}
	base := t.TempDir()
	v.passphrase = filepath.Join(base, "pp")
	write(t, v.passphrase, "the passphrase of people\n")
	var keys []string
	for i := range 2 {
		dir := filepath.Join(base, fmt.Sprint(i))
		said := signerTool(t, "offline", "init", dir, "--params", "regtest", "--passphrase-file", v.passphrase)
		key := regexp.MustCompile(`(?m)^of many +(\S+)$`).FindStringSubmatch(said)
		if key == nil {
			t.Fatalf("it has no key: %s", said)
		}
		v.people, keys = append(v.people, dir), append(keys, key[1])
	}
	cold := "wsh(sortedmulti(2," + strings.Join(keys, ",") + "))"

	change(t, v.config, "    adapter: bitcoin\n", fmt.Sprintf("    adapter: bitcoin\n    cold: %q\n    hot: {low: \"0.1\", target: \"0.2\", high: \"0.5\"}\n", cold))
	change(t, filepath.Join(v.keeper.dir, "signer.yaml"), "params: regtest,", fmt.Sprintf("params: regtest, cold: %q,", cold))
	text, err := os.ReadFile(v.config)
	must(t, err)
	// Two nodes draft, and must agree: here one by two addresses.
	node := regexp.MustCompile(`nodes: \[(.*)\]`).FindStringSubmatch(string(text))[1]
	change(t, v.config, node, node+", "+strings.Replace(node, "127.0.0.1", "localhost", 1))
	hot := regexp.MustCompile(`keys: (".*")`).FindSubmatch(text)[1]
	for _, dir := range v.people {
		write(t, filepath.Join(dir, "offline.yaml"), fmt.Sprintf("params: regtest\nhot: %s\ncold: %q\nmax-cost: \"0.001\"\n", hot, cold))
	}
	v.keeper.start()
	v.mine(1)
	v.restart()
	v.until("the network operates", func() bool { return v.row().Operating })
	return v
}

// row returns the network as operators see it.
func (v *vaulted) row() coldRow {
	v.t.Helper()
	return operate[struct{ Networks []coldRow }](v.server, "network", "list").Networks[0]
}

// fund pays coins to the hot wallet, at the address that a check names.
func (v *vaulted) fund(amount string) {
	v.t.Helper()
	for _, a := range v.check(0).Networks[0].Addresses {
		if a.Of != "hot" {
			continue
		}
		units, err := bourse.ParseAmount(amount, 8)
		must(v.t, err)
		_, err = v.outside.Send(chain.Pay{To: chain.Destination{Address: a.Address}, Amount: units})
		must(v.t, err)
		v.mine(1)
		v.until("the hot wallet has it", func() bool { return v.row().Hot["BTC"] == amount })
		return
	}
	v.t.Fatal("a check names no hot address")
}

// moves waits until a transaction of a kind is in a state.
func (v *vaulted) moves(kind, state string) {
	v.t.Helper()
	v.until(kind+" is "+state, func() bool {
		for _, m := range v.row().Moves {
			if m.Kind == kind && m.State == state {
				return true
			}
		}
		return false
	})
}

// holds waits until a block moved coins: hot and cold storage have amounts that begin so, and nothing waits.
func (v *vaulted) holds(hot, cold string) {
	v.t.Helper()
	v.until("the hot wallet has "+hot+" and cold storage "+cold, func() bool {
		n := v.row()
		return n.Lag == 0 && strings.HasPrefix(n.Hot["BTC"], hot) && strings.HasPrefix(n.Cold["BTC"], cold) && n.Cooling == nil && n.Halted == ""
	})
}

// signed drafts a move and has each person sign a copy. It returns the files.
func (v *vaulted) signed(amount string) (files []string) {
	v.t.Helper()
	base := v.t.TempDir()
	draft := filepath.Join(base, "draft")
	operate[any](v.server, "network", "psbt", "BTC", amount, "--out", draft)
	for i, dir := range v.people {
		out := filepath.Join(base, fmt.Sprint("signed", i))
		said := signerTool(v.t, "offline", "sign", dir, draft, "--out", out, "--passphrase-file", v.passphrase)
		if !strings.Contains(said, amount+" to the hot wallet") {
			v.t.Errorf("the key shows %s", said)
		}
		files = append(files, out)
	}
	v.fails("signatures are missing: 1 more", "network", "send-psbt", "BTC", files[0])
	return files
}

// send sends what people signed, and returns the transaction.
func (v *vaulted) send(files []string) string {
	v.t.Helper()
	return operate[struct{ Tx string }](v.server, append([]string{"network", "send-psbt", "BTC"}, files...)...).Tx
}

// fails wants a command for operators to be refused.
func (v *vaulted) fails(says string, args ...string) {
	v.t.Helper()
	_, stderr, code := run(v.t, append([]string{"admin", "--data", v.data}, args...)...)
	if code == 0 || !strings.Contains(stderr, says) {
		v.t.Errorf("%v: exit %d, and not %q: %s", args, code, says, stderr)
	}
}
