package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse/internal/node"
)

func parse(t *testing.T, args ...string) (*cli, error) {
	t.Helper()
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return &c, err
}

// TestSampleShowsTheDefaults loads deploy/bourse.yaml: it names every setting and
// changes none.
func TestSampleShowsTheDefaults(t *testing.T) {
	const sample = "../../deploy/bourse.yaml"
	with, err := parse(t, "serve", "--config", sample)
	if err != nil {
		t.Fatal(err)
	}
	without, err := parse(t, "serve", "--data", "/var/lib/bourse")
	if err != nil {
		t.Fatal(err)
	}
	with.Serve.Config = ""
	if !reflect.DeepEqual(with.Serve, without.Serve) {
		t.Errorf("the sample gives\n%+v\nthe defaults are\n%+v", with.Serve, without.Serve)
	}
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	shown := settings{}
	shown.add("", tree)
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			if _, ok := shown[f.Name]; !ok && f.Name != "help" && f.Name != "config" && f.Name != "void" && f.Name != "reason" && f.Name != "accept-journal" {
				t.Errorf("the sample does not show %s", f.Name)
			}
		}
	}
}

func TestWhichSettingWins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write(t, file, "data: /file\nlisten: file:1\nmin-free: 3MiB\nlog: {level: warn}\ntrusted-proxies: [10.0.0.0/8, 127.0.0.1/32]\n")
	t.Setenv("BOURSE_LISTEN", "env:1")
	t.Setenv("BOURSE_MIN_FREE", "2MiB")
	c, err := parse(t, "serve", "--config", file, "--min-free=1MiB")
	if err != nil {
		t.Fatal(err)
	}
	if c.Serve.Data != "/file" || c.Serve.Listen != "env:1" || c.Serve.MinFree != 1<<20 || c.Serve.Log.Level.String() != "WARN" || len(c.Serve.Proxies) != 2 {
		t.Errorf("%+v", c.Serve)
	}
}

// TestBadSettingsHaveALine wants the line of a setting that is wrong, missing or unknown.
func TestBadSettingsHaveALine(t *testing.T) {
	for text, says := range map[string]string{
		"data: /d\nlog:\n  level: loud\n":            "line 3: --log-level",
		"data: /d\nlimits:\n  account: {raeds: 1}\n": "line 3: limits-account-raeds",
		"\n\ndata: \"\"\n":                           "line 3: --data: a directory is missing",
		"data: /d\nmin-free: 1 GB\n":                 "line 2: --min-free",
		"data: /d\nlisten: [\n":                      "line",
		"listen: 127.0.0.1:1\n":                      "missing flags: --data",
		"- data\n":                                   "line 1",
		"data: /d\n\nnetworks:\n  BTC: {adapter: bitcoin, depth: true}\n": "line 3: --networks: field depth not found",
		"data: /d\nsigner: {sockte: s}\n":                                 "line 2: signer-sockte",
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		write(t, file, text)
		_, stderr, code := run(t, "serve", "--config", file)
		if code != exitUsage || !strings.Contains(stderr, says) {
			t.Errorf("%q: exit %d: %s", text, code, stderr)
		}
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	for text, says := range map[string]string{
		"data: /d\nlistne: x\n":                      "listne",
		"data: /d\nlimits: {account: {raeds: 1}}\n":  "limits-account-raeds",
		"data: /d\nmin-free: 1 GB\n":                 "1 GB",
		"data: /d\nlimits: {failed-auth: \"1:0\"}\n": "1:0",
		"data: /d\nlimits: {failed-auth: NaN}\n":     "NaN",
		"data: \"\"\n":                               "directory is missing",
		"data: /d\n---\nmin-free: 0\n":               "more than one document",
		"data: /d\nlog: {format: xml}\n":             "xml",
		"data: [\n":                                  "yaml",
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		write(t, file, text)
		if _, err := parse(t, "serve", "--config", file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSandboxWithProductionLimits has a sandbox bound strangers as serve does, when it
// is asked to.
func TestSandboxWithProductionLimits(t *testing.T) {
	c, err := parse(t, "serve", "--data", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wanted := c.Serve.Bounds.set(new(node.Options))
	if wanted.Limits.Account.Orders.PerSecond == 0 || wanted.People.WrongCodes == 0 || !wanted.Captcha || !wanted.AlwaysConfirm {
		t.Fatalf("serve bounds nobody: %+v", wanted)
	}

	for word, wanted := range map[string]*node.Options{"production": wanted, "none": {}} {
		c, err := parse(t, "dev", "--limits", word)
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Dev.options()
		if err != nil {
			t.Fatal(err)
		}
		got := node.Options{Limits: o.Limits, People: o.People, Hold: o.Hold, Captcha: o.Captcha, AlwaysConfirm: o.AlwaysConfirm}
		if !reflect.DeepEqual(got, *wanted) {
			t.Errorf("--limits=%s gives\n%+v\nwanted is\n%+v", word, got, *wanted)
		}
	}
}

// TestPasskeySettings wants a name and origins that browsers can bind passkeys to, or none.
func TestPasskeySettings(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--passkeys-id=example.com"}, ""},
		{[]string{"--passkeys-id=example.com", "--passkeys-origins=https://a.example.com,https://example.com:8443"}, ""},
		{[]string{"--passkeys-origins=https://example.com"}, "needs --passkeys-id"},
		{[]string{"--passkeys-id=192.0.2.1"}, "is no domain name"},
		{[]string{"--passkeys-id=example.com", "--passkeys-origins=https://example.org"}, "its name must be the domain's, or below it"},
		{[]string{"--passkeys-id=example.com", "--passkeys-origins=http://example.com"}, "it must be https"},
	} {
		parsed, err := parse(t, append([]string{"serve", "--data", t.TempDir()}, c.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		party, err := parsed.Serve.Passkeys.party()
		if c.want == "" && (err != nil || (party != nil) != (c.args != nil)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v %v, want %q", c.args, party, err, c.want)
		}
	}
}

// TestPage wants the address for a browser by name.
func TestPage(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8080": "http://localhost:8080", "[::1]:9": "http://localhost:9", "192.0.2.7:80": "http://192.0.2.7:80",
	} {
		if got := page(address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}
