package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"filippo.io/age"
)

var signerKills = flag.Int("signer.kills", 5, "how often TestSignerKills kills the signer")

// signerBinary is the signer's program.
var signerBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "bourse-signer")
	cmd := exec.Command("go", "build", "-o", path, "../bourse-signer")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// keeper is a running bourse-signer.
type keeper struct {
	t *testing.T
	// dir is its directory, and args how it is told to listen; under are words before its program, as of a tracer.
	dir         string
	args, under []string
	cmd         *exec.Cmd
	// ended is closed once the process has closed its stderr.
	ended chan struct{}
}

// said returns the logs of all its lives.
func (k *keeper) said() string {
	text, _ := os.ReadFile(k.dir + ".log") // there is none before it starts
	return string(text)
}

// ample lets everything pass on the embedded networks.
const ample = `networks:
  BTC: {params: devnet, max-cost: "1", hour-cost: "10000", coins: {BTC: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}}
  LTC: {params: devnet, max-cost: "1", hour-cost: "10000", coins: {LTC: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}}
  ETH:
    params: devnet
    max-cost: "1"
    hour-cost: "10000"
    coins:
      ETH: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}
      "0xdAC17F958D2ee523a2206206994597C13D831ec7": {payment: "10000", hour: "1000000", day: "1000000", free: "10000"}
  ATOM: {params: devnet, max-cost: "1", hour-cost: "10000", coins: {ATOM: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}}
  TEST: {params: devnet}
`

// signerTool runs a command of the signer's program, which must succeed.
func signerTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := trySigner(t, args...)
	if err != nil {
		t.Fatalf("bourse-signer %v: %v: %s", args, err, out)
	}
	return out
}

func trySigner(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := signerBinary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	return string(out), err
}

// newKeeper makes a signer for a sandbox with these settings.
func newKeeper(t *testing.T, settings string) *keeper {
	t.Helper()
	k, _ := newKeeperOf(t, settings, "--sandbox")
	return k
}

// newKeeperOf makes a signer for an exchange that arguments name, and returns what it printed.
func newKeeperOf(t *testing.T, settings string, exchange ...string) (*keeper, string) {
	t.Helper()
	base := t.TempDir()
	k := &keeper{t: t, dir: filepath.Join(base, "signer")}
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	file := filepath.Join(base, "identity")
	must(t, os.WriteFile(file, []byte(identity.String()+"\n"), 0o600))
	said := signerTool(t, append([]string{"init", k.dir, "--recipient", identity.Recipient().String()}, exchange...)...)
	must(t, os.WriteFile(filepath.Join(k.dir, "signer.yaml"), []byte(settings), 0o600))
	k.args = []string{"run", k.dir, "--identity", file, "--socket", k.socket()}
	t.Cleanup(func() {
		k.kill()
		if t.Failed() {
			t.Logf("log of the signer:\n%s", k.said())
		}
	})
	return k, said
}

// socket is where the exchange reaches the signer. Paths of sockets are short.
func (k *keeper) socket() string { return filepath.Join(k.dir, "s") }

// start runs the signer until it serves.
func (k *keeper) start() {
	k.t.Helper()
	path, err := signerBinary()
	if err != nil {
		k.t.Fatal(err)
	}
	words := append(append(slices.Clip(k.under), path), k.args...)
	k.cmd, k.ended = exec.Command(words[0], words[1:]...), make(chan struct{})
	stderr, err := k.cmd.StderrPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	log, err := os.OpenFile(k.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(k.t, err)
	serving := make(chan struct{})
	go func() {
		defer close(k.ended)
		defer func() { _ = log.Close() }()
		lines := bufio.NewScanner(io.TeeReader(stderr, log))
		for said := false; lines.Scan(); {
			if !said && strings.Contains(lines.Text(), "msg=signing") {
				said = true
				close(serving)
			}
		}
	}()
	select {
	case <-serving:
	case <-k.ended:
		k.t.Fatalf("the signer did not start:\n%s", k.said())
	}
}

// kill ends the signer like a power cut of its machine would.
func (k *keeper) kill() {
	if k.cmd == nil || k.cmd.ProcessState != nil {
		return
	}
	_ = k.cmd.Process.Kill()
	<-k.ended
	_ = k.cmd.Wait()
}

// stop tells the signer to end, which it does.
func (k *keeper) stop() {
	k.t.Helper()
	must(k.t, k.cmd.Process.Signal(syscall.SIGTERM))
	<-k.ended
	must(k.t, k.cmd.Wait())
}

// TestSignerProcess lets a customer withdraw while the signer is there, away and back, and
// shows what its operators see.
func TestSignerProcess(t *testing.T) {
	k := newKeeper(t, ample)
	k.start()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-socket", k.socket())
	h := s.holder("someone", map[string]string{"BTC": "100", "ETH": "100"})
	r := routes[0]
	first := s.address("BTC")
	if _, err := h.withdraw(http.DefaultClient, r, first); err != nil {
		t.Fatal(err)
	}
	h.rest()

	k.kill()
	second := s.address("BTC")
	w, err := h.withdraw(http.DefaultClient, r, second)
	if err != nil {
		t.Fatal(err)
	}
	s.mine("BTC")
	if row := h.transactions()[w.xid]; row.Status == "DONE" || row.Status == "CANCELED" {
		t.Errorf("without a signer the withdrawal is %+v", row)
	}
	k.start()
	h.settle()

	s.kill()
	s.start() // its journal has another term, and the network's keys are kept
	h.url = s.url
	third := s.address("BTC")
	if _, err := h.withdraw(http.DefaultClient, r, third); err != nil {
		t.Fatal(err)
	}
	h.settle()
	status := signerTool(t, "status", k.dir)
	if !strings.Contains(status, `"signed": 3`) || !strings.Contains(status, `"incarnation": 1`) {
		t.Errorf("status is %s", status)
	}
	s.audit()
}

// TestSignerKills kills the signer again and again while a customer withdraws: it may have signed
// and not have answered. Each withdrawal is paid once, and the chains and the customer's money
// agree.
func TestSignerKills(t *testing.T) {
	k := newKeeper(t, ample)
	k.start()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-socket", k.socket())
	h := s.holder("someone", map[string]string{"BTC": "1000", "LTC": "1000", "ETH": "1000", "USDT": "1000000", "ATOM": "100000"})
	rng := rand.New(rand.NewPCG(uint64(*signerKills), 1))
	for n := 1; n <= *signerKills && !t.Failed(); n++ {
		before, sure := k.recorded(), int64(0)
		for range 3 {
			r := routes[rng.IntN(len(routes))]
			w, err := h.withdraw(http.DefaultClient, r, s.address(r.network))
			must(t, err)
			if rng.IntN(4) == 0 {
				must(t, h.cancel(http.DefaultClient, w))
			} else {
				sure++
			}
			s.mine(r.network)
		}
		lines := before + rng.Int64N(sure+1)
		within(t, patience, "signatures", func() bool { return k.recorded() >= lines })
		k.kill()
		k.start()
		if n%20 == 0 || n == *signerKills {
			h.settle()
		}
	}
	s.audit()
	t.Logf("%d kills of the signer, %d withdrawals acknowledged, %d lines on record", *signerKills, h.withdrawals, k.recorded())
}

// recorded counts the withdrawals of the record, and its other lines.
func (k *keeper) recorded() (count int64) {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "signed.log"))
	must(k.t, err)
	for line := range strings.Lines(string(text)) {
		count += max(1, int64(strings.Count(line, `{"id":`))) // a joined transaction has its withdrawals in one line
	}
	return count
}

// TestSignerApprovals lets a withdrawal wait for two approvers, who sign what the signer lists.
func TestSignerApprovals(t *testing.T) {
	base := t.TempDir()
	keys := []string{filepath.Join(base, "one"), filepath.Join(base, "two")}
	var public []string
	for _, key := range keys {
		public = append(public, strings.TrimSpace(signerTool(t, "approver", key)))
	}
	settings := strings.Replace(ample, `free: "1000"}}}`, `free: "0.01"}}}`, 1) +
		fmt.Sprintf("approvers: {need: 2, keys: [%s]}\n", strings.Join(public, ", "))
	k := newKeeper(t, settings)
	k.start()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-socket", k.socket())
	h := s.holder("someone", map[string]string{"BTC": "100"})
	w, err := h.withdraw(http.DefaultClient, routes[0], s.address("BTC"))
	must(t, err)

	var status struct{ Waiting []json.RawMessage }
	within(t, patience, "a payment that waits for approvals", func() bool {
		must(t, json.Unmarshal([]byte(signerTool(t, "status", k.dir)), &status))
		return len(status.Waiting) == 1
	})
	file := filepath.Join(base, "payment.json")
	must(t, os.WriteFile(file, status.Waiting[0], 0o600))
	if out, err := trySigner(t, "approve", file, "--key", keys[0]); err == nil || !strings.Contains(out, "amount      0.02") {
		t.Errorf("without --yes: %v %s", err, out)
	}
	for _, key := range keys {
		if row := h.transactions()[w.xid]; row.Status == "DONE" {
			t.Errorf("before the approvals it is %+v", row)
		}
		signerTool(t, "approve", file, "--key", key, "--yes", "--to", k.dir)
	}
	if row := h.rest()[w.xid]; row.Status != "DONE" {
		t.Errorf("after the approvals it is %+v", row)
	}
	h.settle()
	s.audit()
}

// TestSignerAdoption restores the exchange from a backup: the signer refuses the new incarnation
// until it was adopted, and then tells what was signed since.
func TestSignerAdoption(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	public := strings.TrimSpace(signerTool(t, "approver", key))
	k := newKeeper(t, ample+fmt.Sprintf("approvers: {need: 1, keys: [%s]}\n", public))
	k.start()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-socket", k.socket())
	exchange := exchangeOf(s)
	s.kill()
	k.kill()

	epoch := []string{"--exchange", exchange, "--sandbox", "--epoch", "2.0"}
	if out, err := trySigner(t, "adopt", k.dir, "--epoch", "2.0"); err == nil || !strings.Contains(out, "0 of 1 approvers") {
		t.Errorf("without approvals: %v %s", err, out)
	}
	path, err := signerBinary()
	must(t, err)
	approval, err := exec.Command(path, append([]string{"approve", "--key", key, "--yes"}, epoch...)...).Output()
	must(t, err)
	file := filepath.Join(t.TempDir(), "approval.json")
	must(t, os.WriteFile(file, approval, 0o600))
	signerTool(t, "adopt", k.dir, "--epoch", "2.0", "--approval", file)
	k.start()

	s.start()
	h := s.holder("someone", map[string]string{"BTC": "100"})
	w, err := h.withdraw(http.DefaultClient, routes[0], s.address("BTC"))
	must(t, err)
	s.mine("BTC")
	if row := h.transactions()[w.xid]; row.Status == "DONE" {
		t.Errorf("an old incarnation withdraws: %+v", row)
	}
	within(t, patience, "a refusal of the old incarnation", func() bool {
		return strings.Contains(k.said(), "the signer knows a newer epoch")
	})
}

// exchangeOf returns the id of an exchange.
func exchangeOf(s *server) string {
	s.t.Helper()
	a, err := ask[struct {
		ID string `json:"exchange_id"`
	}](http.DefaultClient, s.url, "/spot/config", map[string]any{})
	if err != nil || len(a.ID) != 32 {
		s.t.Fatalf("%q, %v", a.ID, err)
	}
	return a.ID
}

// TestSignerAddress refuses settings of a signer's address that do not fit.
func TestSignerAddress(t *testing.T) {
	dir := t.TempDir()
	pin := strings.TrimSpace(signerTool(t, "certify", dir))
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for _, r := range []remoteSigner{
		{Socket: "s", URL: "tls://localhost:1"}, {Socket: "s", Pin: pin}, {Cert: cert}, {URL: "localhost:1", Cert: cert, Key: key, Pin: pin},
		{URL: "tls://localhost", Cert: cert, Key: key, Pin: pin}, {URL: "tls://:1", Cert: cert, Key: key, Pin: pin},
		{URL: "tls://localhost:1", Cert: cert, Key: key, Pin: pin[1:]}, {URL: "tls://localhost:1", Cert: key, Key: key, Pin: pin},
	} {
		if a, err := r.address(); err == nil {
			t.Errorf("%+v is %+v", r, a)
		}
	}
	for _, r := range []remoteSigner{{}, {Socket: "s"}, {URL: "tls://localhost:1", Cert: cert, Key: key, Pin: pin}} {
		if a, err := r.address(); err != nil || (a == nil) != (r == remoteSigner{}) {
			t.Errorf("%+v is %+v, %v", r, a, err)
		}
	}
}

// TestSignerByTLS reaches a signer by TCP, each side with the other's pin.
func TestSignerByTLS(t *testing.T) {
	k := newKeeper(t, ample)
	own, theirs := t.TempDir(), t.TempDir()
	pin, pinned := strings.TrimSpace(signerTool(t, "certify", own)), strings.TrimSpace(signerTool(t, "certify", theirs))
	k.args = append(k.args[:len(k.args)-2], "--listen", "127.0.0.1:0",
		"--cert", filepath.Join(own, "cert.pem"), "--key", filepath.Join(own, "key.pem"), "--pin", pinned)
	k.start()
	_, address, _ := strings.Cut(strings.TrimSpace(k.said()), "msg=signing address=")
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-url", "tls://"+address,
		"--signer-cert", filepath.Join(theirs, "cert.pem"), "--signer-key", filepath.Join(theirs, "key.pem"), "--signer-pin", pin)
	h := s.holder("someone", map[string]string{"ATOM": "100"})
	_, err := h.withdraw(http.DefaultClient, routes[4], s.address("ATOM"))
	must(t, err)
	h.settle()
	s.audit()
}
