package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// TestSecretsOfNodes wants all nodes to have the same key, and a leader's answer to write nothing but that.
func TestSecretsOfNodes(t *testing.T) {
	first, second := memdisk.New(1), memdisk.New(2)
	if list, err := Secrets(first); err == nil {
		t.Errorf("a node without a key has %v", list)
	}
	for range 2 {
		if err := MakeSecrets(first); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Secrets(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := KeepSecrets(second, list); err != nil {
		t.Fatal(err)
	}
	if got, err := Secrets(second); err != nil || len(got) != 1 || got[0].Name != list[0].Name || !bytes.Equal(got[0].Bytes, list[0].Bytes) {
		t.Errorf("the second node has %v, %v; the first %v", got, err, list)
	}

	for _, name := range []string{"cluster.json", "../cron", "accounts/../journal/voter"} {
		if err := KeepSecrets(second, append(list, cluster.Secret{Name: name, Bytes: []byte("x")})); err == nil {
			t.Errorf("%s is written", name)
		}
		if _, err := second.Open(name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if err := KeepSecrets(memdisk.New(3), nil); err == nil {
		t.Error("a node begins without a key")
	}
}

// TestSettingsOfNodes refuses settings that one node of a cluster alone must not have.
func TestSettingsOfNodes(t *testing.T) {
	d := memdisk.New(1)
	if err := MakeSecrets(d); err != nil {
		t.Fatal(err)
	}
	good := Options{
		Data: t.TempDir(), Listen: "127.0.0.1:0", Accounts: "postgres://a", PublicURL: "https://a", Log: slog.New(slog.DiscardHandler),
	}
	check := func(o *Options, d disk.Disk) error {
		return (&MemberOptions{Options: *o}).checkMember(t.Context(), &cluster.Config{}, d)
	}
	if err := check(&good, d); err != nil {
		t.Fatal(err)
	}
	if err := check(&good, memdisk.New(2)); err == nil || !strings.Contains(err.Error(), "copy it from another node") {
		t.Errorf("without the key: %v", err)
	}
	for says, change := range map[string]func(*Options){
		"bourse store move":   func(o *Options) { o.Accounts = "" },
		"leave `history` out": func(o *Options) { o.History = o.Accounts },
		"the same `public":    func(o *Options) { o.PublicURL = "" },
		"put a proxy":         func(o *Options) { o.Certificate.ACME = certificate.ACME{Domain: "a.example", Directory: "https://a"} },
		"start without":       func(o *Options) { o.Void = 1 },
	} {
		bad := good
		change(&bad)
		if err := check(&bad, d); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, and not %q", err, says)
		}
	}
}
