package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// TestKeyCeremony carries out the runbook's key ceremony: the seed opens with the identity of each holder and with no other
// one, and the signer of any of them has the public keys that the first one printed.
func TestKeyCeremony(t *testing.T) {
	if testing.Short() {
		return
	}
	text, err := os.ReadFile("../../docs/runbook.md")
	must(t, err)
	if !strings.Contains(string(text), "`bourse-signer init DIR --exchange ID --recipient AGE1… --recipient …`") {
		t.Fatal("the runbook has another command of the ceremony")
	}

	base := t.TempDir()
	dir := filepath.Join(base, "signer")
	words := []string{"init", dir, "--exchange", strings.Repeat("09", 16)}
	var holders []*age.X25519Identity
	for range 3 {
		holder, err := age.GenerateX25519Identity()
		must(t, err)
		holders = append(holders, holder)
		words = append(words, "--recipient", holder.Recipient().String())
	}
	keys := printedKeys(t, signerTool(t, words...), "mainnet")

	sealed, err := os.ReadFile(filepath.Join(dir, "seed.age"))
	must(t, err)
	var seed []byte
	for i, holder := range holders {
		r, err := age.Decrypt(bytes.NewReader(sealed), holder)
		must(t, err)
		has, err := io.ReadAll(r)
		must(t, err)
		if i > 0 && !bytes.Equal(has, seed) {
			t.Errorf("holder %d has another seed", i)
		}
		seed = has
	}
	stranger, err := age.GenerateX25519Identity()
	must(t, err)
	if _, err := age.Decrypt(bytes.NewReader(sealed), stranger); err == nil || len(seed) == 0 {
		t.Errorf("anybody opens a seed of %d bytes: %v", len(seed), err)
	}

	write(t, filepath.Join(dir, "signer.yaml"), strings.Replace(rehearsalLimits, "params: regtest", "params: mainnet", 1))
	for i, holder := range holders {
		file := filepath.Join(base, fmt.Sprint("identity", i))
		write(t, file, holder.String()+"\n")
		k := &keeper{t: t, dir: dir}
		k.args = []string{"run", dir, "--identity", file, "--socket", k.socket()}
		t.Cleanup(k.kill)
		k.start()
		if got := k.keys("BTC"); got != keys {
			t.Errorf("holder %d signs with %s, and not with %s", i, got, keys)
		}
		k.stop()
	}
	for _, name := range []string{"pins.json", "signed.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("there is no %s to back up: %v", name, err)
		}
	}
}
