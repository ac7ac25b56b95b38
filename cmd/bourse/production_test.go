package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// listedForTests lists Bitcoin as a network of a test chain.
const listedForTests = `
assets:
  - {symbol: BTC, name: Bitcoin, scale: 12, enabled: true}
networks:
  - symbol: BTC
    name: Bitcoin regtest
    enabled: true
    experimental: true
    assets:
      - {asset: BTC, precision: 8, confirms: 2, min_deposit: "0.0001", min_withdrawal: "0.0005", fee_min: "0.00001", fee_max: "0.001", enabled: true}
`

// rehearsalLimits lets a coin leave on regtest.
const rehearsalLimits = `networks:
  BTC: {params: regtest, max-cost: "0.01", hour-cost: "0.1", coins: {BTC: {payment: "1", hour: "5", day: "20", free: "1"}}}
`

// listedAtoms lists the chain of the Cosmos SDK of tests, and atomsLimits lets a coin leave there.
const (
	listedAtoms = `
assets:
  - {symbol: ATOM, name: Cosmos, scale: 12, enabled: true}
networks:
  - symbol: ATOM
    name: Cosmos of tests
    memo_name: Memo
    enabled: true
    experimental: true
    assets:
      - {asset: ATOM, precision: 6, confirms: 1, min_deposit: "0.001", min_withdrawal: "0.001", fee_min: "0.001", fee_max: "0.1", enabled: true}
`
	atomsLimits = `networks:
  ATOM:
    adapter: cosmos
    params: ` + nodetest.CosmosChain + `
    max-cost: "0.2"
    hour-cost: "100"
    coins: {ATOM: {payment: "10", hour: "1000", day: "1000", free: "10"}}
`
)

// regtestStart is the first block of regtest.
const regtestStart = "0:0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

// venue is an exchange of real money on a real node, with a signer of its own.
type venue struct {
	*depositor
	keeper *keeper
	// config is its file of settings.
	config string
}

// venueAt returns a venue that has no signer and does not run yet.
func venueAt(t *testing.T, r realNode, config, data string) *venue {
	t.Helper()
	v := &venue{depositor: &depositor{realNode: r}, config: config}
	v.server = &server{t: t, data: data, args: []string{
		"--config", config, "--min-free=0", "--limits-account-reads=0", "--limits-source-requests=0",
	}}
	t.Cleanup(func() {
		if v.cmd != nil && v.cmd.ProcessState == nil {
			v.kill()
		}
		if t.Failed() {
			t.Logf("log of the exchange:\n%s", v.log)
		}
	})
	return v
}

// newVenue makes a venue of Bitcoin.
func newVenue(t *testing.T, r realNode) *venue {
	t.Helper()
	return venueOf(t, r, listedForTests, rehearsalLimits, func(v *venue, said string) string {
		password := filepath.Join(filepath.Dir(v.config), "btc.pw")
		write(t, password, nodetest.Password+"\n")
		return fmt.Sprintf(`adapter: bitcoin
    params: regtest
    nodes: [{url: %q, user: %s, password-file: %s}]
    keys: %q
    start: %q`, r.node.URL, nodetest.User, password, printedKeys(t, said, "regtest"), regtestStart)
	})
}

// venueOf makes a venue as the runbook does: the exchange first, which has an id then, its signer, and the settings
// of the network with the signer's public keys, which it printed.
func venueOf(t *testing.T, r realNode, listed, limits string, network func(v *venue, said string) string) *venue {
	t.Helper()
	base := t.TempDir()
	v := venueAt(t, r, filepath.Join(base, "bourse.yaml"), filepath.Join(base, "data"))
	write(t, v.config, "data: "+v.data+"\n")
	v.startAs("serve")
	catalogue := filepath.Join(base, "catalogue.yaml")
	write(t, catalogue, listed)
	operate[any](v.server, "catalogue", "apply", catalogue)

	keeper, said := newKeeperOf(t, limits, "--exchange", exchangeOf(v.server))
	v.keeper = keeper
	write(t, v.config, fmt.Sprintf("data: %s\nnetworks:\n  %s:\n    %s\nsigner: {socket: %s}\n",
		v.data, r.asset, network(v, said), keeper.socket()))
	return v
}

// printedKeys returns the public keys of a chain of Bitcoin that a signer's init printed.
func printedKeys(t *testing.T, said, chain string) string {
	t.Helper()
	keys := regexp.MustCompile(`(?m)^BTC +` + chain + ` +(\S+)$`).FindStringSubmatch(said)
	if keys == nil {
		t.Fatalf("the signer has no keys of %s: %s", chain, said)
	}
	return keys[1]
}

// restart starts the exchange with the settings as they are now.
func (v *venue) restart() {
	v.t.Helper()
	if code, _ := v.stop(); code != 0 {
		v.t.Fatalf("exit %d", code)
	}
	v.startAs("serve")
}

// refused starts the exchange, which must say why it does not.
func (v *venue) refused(says string) {
	v.t.Helper()
	if v.launch("serve") {
		v.kill()
		v.t.Errorf("the exchange started, and did not say %q", says)
	} else if !strings.Contains(v.log.String(), says) {
		v.t.Errorf("it does not say %q:\n%s", says, v.log)
	}
}

// check runs network check and returns its answer.
func (v *venue) check(want int) (answer checkAnswer) {
	v.t.Helper()
	stdout, stderr, code := run(v.t, "network", "check", "--config", v.config, "--json")
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != want || answer.OK != (want == 0) {
		v.t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	return answer
}

// checkAnswer is the answer of network check.
type checkAnswer struct {
	OK       bool
	Problems []string
	Networks []struct {
		Network   string
		Chain     string
		NodeChain string `json:"node_chain"`
		Software  string
		Height    uint64
		Lag       uint64
		Abilities map[string]bool
		Addresses []struct{ Of, Address, Signer string }
		Problems  []string
	}
}

// TestRealMoney makes an exchange of real money with a signer of its own, on a test chain: a deposit is credited, a
// withdrawal is paid, both processes end and come back.
func TestRealMoney(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		v := newVenue(t, r)
		if a := v.check(exitFailed); len(a.Problems) != 1 || !strings.Contains(a.Problems[0], "the signer does not answer") {
			t.Errorf("without a signer: %+v", a.Problems)
		}
		v.keeper.start()
		v.mine(1)
		v.checked()
		v.restart()
		v.opens()

		v.deposit()
		v.pays("0.1")
		v.bothDie("0.05")
		v.listed("0.34")
		if _, err := os.Stat(filepath.Join(v.data, "signer")); err == nil {
			t.Error("an exchange of real money has a seed of its own")
		}
		v.audited()
		v.mistakes()
	})
	t.Run("cosmos", func(t *testing.T) {
		r := atoms(t)
		v := venueOf(t, r, listedAtoms, atomsLimits, func(v *venue, _ string) string {
			head, err := r.outside.Mine(1)
			must(t, err)
			v.keeper.start()
			return fmt.Sprintf("%s\n    keys: %q\n    start: \"%d:%X\"",
				r.settings, v.keeper.keys(r.asset), head.Height, head.Hash[:])
		})
		n := v.check(0).Networks[0]
		if n.Network != r.asset || n.Chain != n.NodeChain || n.Height == 0 || n.Lag != 0 ||
			!n.Abilities["index"] || !n.Abilities["history"] {
			t.Errorf("%+v", n)
		}
		v.restart()
		v.opens()

		v.deposit()
		v.pays("0.1")
		v.bothDie("0.05")
		v.listed("0.34")
		v.audited()
	})
}

// bothDie orders a withdrawal without a signer, kills the exchange, and lets both come back: it is paid then.
func (v *venue) bothDie(amount string) {
	v.t.Helper()
	v.keeper.kill()
	xid, address := v.approved(amount)
	v.mine(1)
	if row := v.transfers()[0]; row.Xid != xid || row.Status == "DONE" {
		v.t.Errorf("without a signer the withdrawal is %+v", row)
	}
	v.kill()
	v.keeper.start()
	v.startAs("serve")
	v.arrives(address, amount)
}

// checked wants a check to find everything in order, and to compare addresses.
func (v *venue) checked() {
	v.t.Helper()
	a := v.check(0)
	n := a.Networks[0]
	if n.Network != "BTC" || n.Chain != n.NodeChain || n.Height == 0 || n.Lag != 0 || !strings.Contains(n.Software, "Knots") {
		v.t.Errorf("%+v", n)
	}
	if !n.Abilities["index"] || !n.Abilities["rest"] || !n.Abilities["history"] {
		v.t.Errorf("abilities %v", n.Abilities)
	}
	differs := func(a struct{ Of, Address, Signer string }) bool {
		return !strings.HasPrefix(a.Address, "bcrt1q") || a.Address != a.Signer
	}
	if len(n.Addresses) != 4 || slices.ContainsFunc(n.Addresses, differs) {
		v.t.Errorf("addresses %+v", n.Addresses)
	}
	stdout, _, code := run(v.t, "network", "check", "--config", v.config)
	for _, want := range []string{"ok      BTC: the signer has these keys", "ok      networks: the signer signs for this exchange", "1 is " + n.Addresses[1].Address} {
		if code != 0 || !strings.Contains(stdout, want) {
			v.t.Errorf("exit %d, and not %q:\n%s", code, want, stdout)
		}
	}
}

// approved asks for a withdrawal, which an operator approves.
func (v *venue) approved(amount string) (xid uint64, address string) {
	v.t.Helper()
	xid, address = v.ordered(amount)
	operate[any](v.server, "withdrawal", "approve", fmt.Sprint(xid))
	return xid, address
}

func (v *venue) pays(amount string) {
	v.t.Helper()
	_, address := v.approved(amount)
	v.arrives(address, amount)
}

// arrives waits for the newest withdrawal.
func (v *venue) arrives(address, amount string) {
	v.t.Helper()
	v.until("a withdrawal that is done", func() bool { return v.status() == "DONE" })
	v.mine(1)
	if got := v.arrived(address); got != amount {
		v.t.Errorf("%s arrived", got)
	}
}

// listed wants operators to see how far the network is, and that its hot wallet has an amount that begins so.
func (v *venue) listed(hot string) {
	v.t.Helper()
	type row struct {
		Network              string
		Operating, Connected bool
		Tip, Head, Lag       uint64
		Halted               string
		Hot                  map[string]string
	}
	v.until("the network is read", func() bool {
		list := operate[struct{ Networks []row }](v.server, "network", "list").Networks
		n := list[0]
		return len(list) == 1 && n.Network == v.asset && n.Operating && n.Connected && n.Lag == 0 && n.Tip == n.Head &&
			n.Halted == "" && strings.HasPrefix(n.Hot[v.asset], hot)
	})
}

// mistakes starts the exchange with settings that do not fit, which it refuses, and so does a check.
func (v *venue) mistakes() {
	v.t.Helper()
	good, err := os.ReadFile(v.config)
	must(v.t, err)
	v.kill()
	own := regexp.MustCompile(`keys: .*`).FindString(string(good))
	_, said := newKeeperOf(v.t, rehearsalLimits, "--exchange", strings.Repeat("09", 16))
	foreign, main := printedKeys(v.t, said, "regtest"), printedKeys(v.t, said, "mainnet")
	for _, c := range []struct {
		old, by, says string
		// checks is what a check says of the network; empty if it does not come so far.
		checks string
	}{
		{own, fmt.Sprintf("keys: %q", foreign), "the keys are not those of the signer", "the signer has other keys"},
		{regtestStart, "0:" + strings.Repeat("11", 32), "the node is of another chain", "the node is of another chain"},
		{"signer: {", "#", "--networks needs bourse-signer", ""},
	} {
		write(v.t, v.config, strings.Replace(string(good), c.old, c.by, 1))
		v.refused(c.says)
		if c.checks == "" {
			continue
		}
		if a := v.check(exitFailed); !strings.Contains(strings.Join(a.Networks[0].Problems, "; "), c.checks) {
			v.t.Errorf("a check says %v, want %s", a.Networks[0].Problems, c.checks)
		}
	}

	mainnet := strings.NewReplacer("params: regtest", "params: mainnet", own, fmt.Sprintf("keys: %q", main), regtestStart,
		"0:000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f").Replace(string(good))
	write(v.t, v.config, mainnet)
	v.refused("the node is of another chain: its first block is not that of mainnet")
	write(v.t, v.config, strings.Replace(string(good), "  BTC:", "  LTC:", 1))
	_, stderr, code := run(v.t, "serve", "--config", v.config)
	if code != exitUsage || !strings.Contains(stderr, "params regtest are of the network BTC") {
		v.t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestUnlistedNetwork starts an exchange with networks that its catalogue lacks, or has as one with real coins.
func TestUnlistedNetwork(t *testing.T) {
	base := t.TempDir()
	keeper, said := newKeeperOf(t, rehearsalLimits, "--exchange", strings.Repeat("09", 16))
	key := printedKeys(t, said, "regtest")
	file := filepath.Join(base, "networks.yaml")
	write(t, file, fmt.Sprintf(`networks:
  BTC: {adapter: bitcoin, params: regtest, nodes: [{url: "http://127.0.0.1:1"}], keys: %q, start: %q}
signer: {socket: %s}
`, key, regtestStart, keeper.socket()))
	v := &venue{depositor: &depositor{server: &server{t: t, data: filepath.Join(base, "data"), args: []string{"--min-free=0", "--networks", file}}}}
	v.refused("list it with `")

	v.args = v.args[:1]
	v.startAs("serve")
	catalogue := filepath.Join(base, "catalogue.yaml")
	write(t, catalogue, strings.Replace(listedForTests, "    experimental: true\n", "", 1))
	operate[any](v.server, "catalogue", "apply", catalogue)
	v.kill()
	v.args = append(v.args, "--networks", file)
	v.refused("list the network with `experimental: true`")

	v.args = v.args[:1]
	v.startAs("serve")
	write(t, catalogue, listedForTests)
	operate[any](v.server, "catalogue", "apply", catalogue)
	v.kill()
	v.args = append(v.args, "--networks", file)
	v.startAs("serve") // node and signer are away, which is no reason not to start
	defer v.kill()
	if got := v.unconnected(); !strings.Contains(got, `"operating":false`) || !strings.Contains(got, `"connected":true`) {
		t.Errorf("%s", got)
	}
	if r, err := http.Get(v.url + "/readyz"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", r, err)
	} else {
		_ = r.Body.Close()
	}
}

// unconnected returns the list of networks as it is printed.
func (v *venue) unconnected() string {
	v.t.Helper()
	return string(operate[json.RawMessage](v.server, "network", "list"))
}
