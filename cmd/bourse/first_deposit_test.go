package main

import (
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

	text, err := os.ReadFile("../../docs/runbook.md")
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## From nothing to the first deposit\n")
	section, _, _ = strings.Cut(section, "\n## ")
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
