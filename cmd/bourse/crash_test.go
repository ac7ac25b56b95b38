package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStopUnderLoad stops the exchange while clients trade: it takes less than
// 10 s, loses nothing, and leaves a sealed journal.
func TestStopUnderLoad(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false")
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	traded := c.tradeOn(t, s.url, 200)
	code, took := s.stop()
	<-traded
	if code != 0 || took > 10*time.Second {
		t.Fatalf("exit %d after %s", code, took)
	}
	if !tool[struct{ Sealed bool }](t, "journal", "stat", s.data).Sealed {
		t.Error("the journal is not sealed")
	}
	s.start()
	c.check(t, s.url)
	s.audit()
}

// TestBackupUnderLoad takes a backup while clients trade, and restores it to the
// state that it was taken in.
func TestBackupUnderLoad(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--segment-size=256KiB", "--snapshot-every=300")
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	traded := c.tradeOn(t, s.url, 1)
	within(t, patience, "archived", func() bool { return len(kept(s.data, "archive/*.zst")) > 0 })

	dir := t.TempDir()
	type state struct {
		Seq  uint64
		Hash string `json:"state_hash"`
	}
	taken := tool[state](t, "backup", s.data, filepath.Join(dir, "copy"))
	s.kill()
	<-traded
	restored := tool[state](t, "restore", filepath.Join(dir, "copy"), filepath.Join(dir, "data"))
	if taken != restored || taken.Seq == 0 {
		t.Fatalf("taken %+v, restored %+v", taken, restored)
	}
	replayed := tool[state](t, "journal", "replay", filepath.Join(dir, "data"))
	if replayed != taken {
		t.Errorf("taken %+v, replayed %+v", taken, replayed)
	}
	forgedBackups(t, filepath.Join(dir, "copy"), replayed.Hash)
	again := start(t, filepath.Join(dir, "data"), "--bots=false")
	if a, err := post(http.DefaultClient, again.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0}); err != nil || !a.Success {
		t.Errorf("the key of the backup: %v %s", err, a.Error)
	}
	again.audit()
	_, stderr, code := run(t, "restore", filepath.Join(dir, "copy"), filepath.Join(dir, "data"))
	if code != exitFailed || !strings.Contains(stderr, "is not empty") {
		t.Errorf("restore over data: exit %d: %s", code, stderr)
	}
}

// forgedBackups wants a backup to be refused whose manifest says another state, or none.
func forgedBackups(t *testing.T, backup, hash string) {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(backup, "*.json"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("%v %v", manifests, err)
	}
	whole, err := os.ReadFile(manifests[0])
	must(t, err)
	defer func() { must(t, os.WriteFile(manifests[0], whole, 0o600)) }()
	for forged, says := range map[string]string{
		"": "no state hash", strings.Repeat("0", len(hash)): "does not replay", strings.ToUpper(hash): "does not replay",
	} {
		must(t, os.WriteFile(manifests[0], bytes.Replace(whole, []byte(`"`+hash+`"`), []byte(`"`+forged+`"`), 1), 0o600))
		_, stderr, code := run(t, "restore", backup, filepath.Join(t.TempDir(), "data"))
		if code != exitFailed || !strings.Contains(stderr, says) {
			t.Errorf("with the state %q: exit %d: %s", forged, code, stderr)
		}
	}
}
