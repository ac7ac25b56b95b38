package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bourse-exchange/bourse/deploy"
)

// initCmd writes the initial files of an operator.
type initCmd struct {
	Dir    string `arg:"" optional:"" type:"path" help:"Directory of the files; made if missing." default:"/etc/bourse"`
	Domain string `help:"Domain name of the exchange, which then listens on port 443 and gets its certificate by ACME." placeholder:"NAME"`
}

// domainName matches a DNS name with at least one dot.
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// Run writes the files and never overwrites one.
func (c *initCmd) Run(p *program) error {
	if _, err := netip.ParseAddr(c.Domain); c.Domain != "" && (err == nil || !domainName.MatchString(c.Domain)) {
		return fmt.Errorf("--domain: %q is no name such as exchange.example.com", c.Domain)
	}
	if err := os.MkdirAll(c.Dir, 0o750); err != nil {
		return err
	}
	for _, name := range []string{"bourse.yaml", "catalogue.yaml", "bourse.service"} {
		text, err := fs.ReadFile(deploy.Files, name)
		if err != nil {
			return err
		}
		path := filepath.Join(c.Dir, name)
		if err := create(path, c.adapt(name, string(text))); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(p.stdout, "wrote %s\n", path)
	}

	_, err := fmt.Fprintf(p.stdout, "What still blocks opening:\n  %s\n",
		p.line("doctor", "--config", filepath.Join(c.Dir, "bourse.yaml")))
	return err
}

// adapt writes the domain and the directory into a file.
func (c *initCmd) adapt(name, text string) string {
	var changes []string
	switch name {
	case "bourse.service":
		changes = []string{"/etc/bourse/bourse.yaml", filepath.Join(c.Dir, "bourse.yaml")}
		if c.Domain != "" { // an unprivileged process needs this for port 443
			changes = append(changes, "=\nAmbientCapabilities=\n",
				"=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n", "PrivateUsers=yes\n", "")
		}
	case "bourse.yaml":
		if c.Domain != "" {
			changes = []string{
				"\nlisten: 127.0.0.1:8080", "\nlisten: :443",
				"\npublic-url: \"\"", "\npublic-url: https://" + c.Domain,
				"\n  domain: \"\"", "\n  domain: " + c.Domain,
				"\n  id: \"\"", "\n  id: " + c.Domain,
			}
		}
	}
	return strings.NewReplacer(changes...).Replace(text)
}

// create writes a new file.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the operator names the path
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
