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

// initCmd writes what an operator begins with.
type initCmd struct {
	Dir    string `arg:"" optional:"" type:"path" help:"Directory of the files; made if missing." default:"/etc/bourse"`
	Domain string `help:"Name by which clients reach the exchange; its certificate is expected beside the files." placeholder:"NAME"`
}

// domainName is a name in DNS with at least one dot.
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// Run writes the files, none of them over another one.
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
	switch {
	case name == "bourse.service":
		return strings.ReplaceAll(text, "/etc/bourse/bourse.yaml", filepath.Join(c.Dir, "bourse.yaml"))
	case name != "bourse.yaml" || c.Domain == "":
		return text
	}
	for was, is := range map[string]string{
		"listen: 127.0.0.1:8080": "listen: :8443",
		`public-url: ""`:         "public-url: https://" + c.Domain + ":8443",
		`  cert: ""`:             "  cert: " + filepath.Join(c.Dir, c.Domain+".crt"),
		`  key: ""`:              "  key: " + filepath.Join(c.Dir, c.Domain+".key"),
	} {
		text = strings.Replace(text, "\n"+was, "\n"+is, 1)
	}
	return text
}

// create writes a file that is not there yet.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the operator says where
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
