package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// first lists the commands for a new user.
var first = []struct{ line, does string }{
	{"dev", "Run a sandbox with demo markets."},
	{"watch BTC/USDT", "Show one of its markets while it trades."},
	{"demo crash", "Kill an exchange while it trades; see what is left."},
	{"admin account create you@example.org", "Operate it: accounts, keys, money, markets."},
	{"admin audit", "Recompute its money and books from its journal."},
	{"serve --config deploy/bourse.yaml", "Run an exchange of your own."},
}

// overview prints the first commands and the way to all others.
func (p *program) overview() error {
	var b strings.Builder
	b.WriteString("A spot exchange with its wallet, in one binary.\n\n")
	for _, c := range first {
		fmt.Fprintf(&b, "  %-46s %s\n", p.line(strings.Fields(c.line)...), c.does)
	}
	fmt.Fprintf(&b, "\nAll commands:  %s\nOf one:        %s\n", p.line("--help"), p.line("dev", "--help"))
	_, err := fmt.Fprint(p.stdout, b.String())
	return err
}

// misused prints the error of a command line, and the command that shows its usage.
func (p *program) misused(err error) int {
	words := []string{"--help"}
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		var command []string
		for _, step := range parse.Context.Path {
			if step.Command != nil {
				command = append(command, step.Command.Name)
			}
		}
		words = append(command, words...)
	}
	_, _ = fmt.Fprintf(p.stderr, "bourse: %s\nHow it is used: %s\n", strings.ReplaceAll(err.Error(), "\n", " "),
		p.line(words...))
	return exitUsage
}

// line returns a command line of this program, quoted for a shell.
func (p *program) line(words ...string) string {
	quoted := make([]string, 0, len(words)+1)
	for _, w := range append([]string{p.self}, words...) {
		quoted = append(quoted, quote(w))
	}
	return strings.Join(quoted, " ")
}

// again returns the command line that started this program, for logs and errors. Database
// URLs are without user and query, which may hold a password.
func (p *program) again() string {
	words := slices.Clone(p.args)
	for i, w := range words {
		flag, value, assigned := strings.Cut(w, "=")
		if !assigned || !strings.HasPrefix(flag, "--") {
			flag, value = "", w
		}
		if !sqlstore.IsURL(value) {
			continue
		}

		shown, err := sqlstore.WithoutSecrets(value)
		if err != nil {
			shown = "URL"
		}
		words[i] = shown
		if flag != "" {
			words[i] = flag + "=" + shown
		}
	}
	return p.line(words...)
}

// quote quotes a word for a shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// greet prints the first commands for a sandbox. They can be pasted into a shell in any
// directory.
func (p *program) greet(data, address, desk string) {
	elsewhere := *p
	if strings.Contains(p.self, "/") {
		elsewhere.self = absolute(p.self)
	}

	operate := func(words ...string) string {
		return elsewhere.line(append([]string{"admin", "--data", absolute(data)}, words...)...)
	}

	console, invite := "", ""
	if desk != "" {
		console = "Operators work at " + desk + "/operator.\n"
		invite = "  " + operate("operator", "invite", "you@example.org", "--name", "You", "--role", "owner") + "\n"
	}
	_, _ = fmt.Fprintf(p.stderr, `
Bourse serves a sandbox at %[6]s; %[6]s/docs describes its interfaces.
%[7]sIn another terminal:
  curl 'http://%[1]s/spot/markets_ex?offset=0'
  %[2]s
  %[3]s
  %[4]s
  %[5]s
%[8]sStop it with Ctrl-C.

`, address,
		elsewhere.line("watch", "BTC/USDT", "--url", "http://"+address),
		operate("account", "create", "you@example.org"),
		operate("key", "create", "you@example.org", "--name", "first"),
		operate("credit", "you@example.org", "USDT", "100000"),
		page(address), console, invite)
}

// page returns the address of a sandbox for a browser: by name, because browsers have no
// passkeys for addresses.
func page(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip, bad := netip.ParseAddr(host); err == nil && bad == nil && ip.IsLoopback() {
		return "http://localhost:" + port
	}
	return "http://" + address
}

// absolute returns an absolute path if it can.
func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}

// pause is the time between two blocks, such as 5s, or 5 for seconds.
type pause time.Duration

// mostPause bounds the time between two blocks.
const mostPause = time.Hour

// UnmarshalText reads a pause.
func (p *pause) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if seconds, bad := strconv.ParseFloat(string(text), 64); bad == nil && seconds <= mostPause.Seconds() {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < 0 || d > mostPause {
		return fmt.Errorf("%q is no time from 0 to 1h, as 5s, or 5 for seconds", text)
	}
	*p = pause(d)
	return nil
}
