package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// ceremony carries out the runbook's way to the first deposit.
type ceremony struct {
	*venue
	// places replaces the directories and words of the runbook by those of the test.
	places []string
	// bin has the programs that commands name.
	bin string
}

// TestFirstDeposit runs the commands of the runbook, from an empty machine to a deposit and a withdrawal on
// regtest.
func TestFirstDeposit(t *testing.T) {
	if testing.Short() {
		return
	}
	r := bitcoins(t, nodetest.Knots())
	base := t.TempDir()
	etc, data := filepath.Join(base, "etc"), filepath.Join(base, "data")
	c := &ceremony{venue: venueAt(t, r, filepath.Join(etc, "bourse.yaml"), data), bin: filepath.Join(base, "bin")}
	c.keeper = &keeper{t: t, dir: filepath.Join(base, "signer")}
	t.Cleanup(func() { c.keeper.kill() })
	c.places = []string{
		"/var/lib/bourse-signer", c.keeper.dir, "/var/lib/bourse", data, "/etc/bourse", etc, "URL", r.node.URL,
		"user: bourse", "user: " + nodetest.User, "HEIGHT:HASH", regtestStart,
	}
	c.install()

	section := firstDeposit(t)
	for _, block := range regexp.MustCompile("(?s)```(sh|yaml)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		if block[1] == "yaml" {
			c.edit(block[2])
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(block[2]), "\n") {
			c.do(line)
		}
	}

	c.restart()
	c.opens()
	c.deposit()
	c.pays("0.1")
	c.until("the change", func() bool { return strings.Contains(c.unconnected(), `"hot":{"BTC":"0.39`) })
}

// firstDeposit returns the runbook's section about it.
func firstDeposit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/runbook.md")
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## From nothing to the first deposit\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// TestChainsOfTheRunbook starts an exchange with the settings that the runbook's table has for each chain, and public
// keys of a signer with its settings. The nodes are away, which is no reason not to start.
func TestChainsOfTheRunbook(t *testing.T) {
	if testing.Short() {
		return
	}
	section := firstDeposit(t)
	columns := func(row string) []string {
		t.Helper()
		_, rest, found := strings.Cut(section, "\n| "+row+" |")
		line, _, _ := strings.Cut(rest, "\n")
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !found || len(cells) != 3 {
			t.Fatalf("the table has no row %q for three chains", row)
		}
		return cells
	}
	chains, lists, fees := columns("`params`, here and in `signer.yaml`"), columns("the catalogue's network"), columns("`fees`")

	for i := range chains {
		params := strings.Trim(chains[i], "`")
		t.Run(params, func(t *testing.T) {
			base := t.TempDir()
			limits := strings.Replace(rehearsalLimits, "params: regtest", "params: "+params, 1)
			keeper, said := newKeeperOf(t, limits, "--exchange", strings.Repeat("09", 16))
			v := venueAt(t, realNode{}, filepath.Join(base, "bourse.yaml"), filepath.Join(base, "data"))
			write(t, v.config, "data: "+v.data+"\n")
			v.startAs("serve")
			catalogue := filepath.Join(base, "catalogue.yaml")
			listed := strings.Replace(listedForTests, "    experimental: true\n", "", 1)
			if lists[i] != "without" {
				listed = strings.Replace(listed, "    enabled: true\n", "    enabled: true\n    "+strings.Trim(lists[i], "`")+"\n", 1)
			}
			write(t, catalogue, listed)
			operate[any](v.server, "catalogue", "apply", catalogue)

			settings := fmt.Sprintf("data: %s\nsigner: {socket: %s}\nnetworks:\n  BTC:\n    adapter: bitcoin\n    params: %s\n"+
				"    nodes: [{url: \"http://127.0.0.1:1\"}]\n    keys: %q\n    start: \"7:%s\"\n",
				v.data, keeper.socket(), params, printedKeys(t, said, params), strings.Repeat("11", 32))
			if fees[i] != "none" {
				settings += "    fees: " + strings.Trim(fees[i], "`") + "\n"
			}
			write(t, v.config, settings)
			v.restart()
			if got := v.unconnected(); !strings.Contains(got, `"operating":false`) || !strings.Contains(got, `"connected":true`) {
				t.Errorf("%s", got)
			}
		})
	}
}

// install puts the programs where commands find them, and the files that people bring.
func (c *ceremony) install() {
	c.t.Helper()
	must(c.t, os.MkdirAll(c.bin, 0o700))
	exchange, err := binary()
	must(c.t, err)
	keeper, err := signerBinary()
	must(c.t, err)
	must(c.t, os.Symlink(exchange, filepath.Join(c.bin, "bourse")))
	must(c.t, os.Symlink(keeper, filepath.Join(c.bin, "bourse-signer")))
	etc := filepath.Dir(c.config)
	must(c.t, os.MkdirAll(etc, 0o700))
	write(c.t, filepath.Join(etc, "pp"), "a passphrase of a test\n")
	write(c.t, filepath.Join(etc, "btc.pw"), nodetest.Password+"\n")
}

// edit takes a block of settings over into the file that has their first key: the signer's, or the exchange's.
func (c *ceremony) edit(block string) {
	c.t.Helper()
	block = strings.NewReplacer(c.places...).Replace(block)
	if !strings.Contains(block, "adapter:") {
		write(c.t, filepath.Join(c.keeper.dir, "signer.yaml"), block)
		return
	}
	text, err := os.ReadFile(c.config)
	must(c.t, err)
	signer := regexp.MustCompile(`(?m)^signer:\n(  .*\n)+`)
	if !signer.Match(text) || !strings.Contains(string(text), "\nnetworks: {}\n") {
		c.t.Fatalf("the settings have no networks and signer to change:\n%s", text)
	}
	write(c.t, c.config, strings.Replace(signer.ReplaceAllString(string(text), ""), "\nnetworks: {}\n", "\n"+block, 1))
}

// do carries out a command. One that goes on is a process of the test; what another one printed is what later
// ones name.
func (c *ceremony) do(line string) {
	c.t.Helper()
	line = strings.NewReplacer(c.places...).Replace(line)
	switch words := strings.Fields(line); {
	case strings.HasPrefix(line, "bourse serve"):
		change(c.t, c.config, "data: /var/lib/bourse", "data: "+c.data)
		c.startAs("serve")
		c.rehearses()
		return
	case strings.HasPrefix(line, "bourse-signer run"):
		c.keeper.args = words[1:]
		c.keeper.start()
		return
	}

	cmd := exec.Command("sh", "-euc", line)
	cmd.Env = append(os.Environ(), "PATH="+c.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v: %s", line, err, out)
	}
	if id := regexp.MustCompile(`"exchange":"([0-9a-f]{32})"`).FindSubmatch(out); id != nil {
		c.places = append(c.places, "--exchange ID", "--exchange "+string(id[1]))
	}
	if keys := regexp.MustCompile(`(?m)^BTC +regtest +(\S+)$`).FindSubmatch(out); keys != nil {
		c.places = append(c.places, "KEYS", string(keys[1]))
	}
}

// rehearses lists Bitcoin as a test chain's, as the runbook says.
func (c *ceremony) rehearses() {
	c.t.Helper()
	catalogue := filepath.Join(filepath.Dir(c.config), "catalogue.yaml")
	change(c.t, catalogue, "    name: Bitcoin\n    enabled: true\n", "    name: Bitcoin\n    enabled: true\n    experimental: true\n")
	change(c.t, catalogue, "confirms: 3", "confirms: 2")
}
