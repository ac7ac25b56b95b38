package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// slow lets every sync of the server's files take longer than a request may, from
// when it returns until mend is called.
func (s *server) slow() (mend func()) {
	s.t.Helper()
	return meddle(s.t, s.cmd.Process.Pid, "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=12000000")
}

// meddle has strace change what the system answers a process, from when it returns until mend is called.
func meddle(t *testing.T, pid int, how ...string) (mend func()) {
	t.Helper()
	needs.Program(t, "strace")
	cmd := exec.Command("strace", append([]string{"-f", "-o", "/dev/null", "-p", fmt.Sprint(pid)}, how...)...)
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	lines, heard := bufio.NewScanner(said), ""
	for !strings.Contains(heard, "attached") {
		if !lines.Scan() {
			t.Fatalf("strace: %s", heard)
		}
		heard += lines.Text()
	}
	return func() {
		_ = cmd.Process.Kill() // what it held goes on
		for lines.Scan() {
		}
		_ = cmd.Wait()
	}
}

// TestOutcomeUnknown has a disk that does not sync in time: a transfer that was taken
// is answered with 504. When the disk goes on it happens, once, and the same request
// under the same key says so.
func TestOutcomeUnknown(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	from, to := s.holder("ada", map[string]string{"BTC": "5"}), s.holder("bea", nil)
	body := map[string]any{"type": "TRANSFER_OUT", "asset": "BTC", "address": "bea@example.org", "amount": "1"}
	const transactions = "/wallet/v2/io/transactions"
	mend := s.slow()
	began := time.Now()
	a := s.rest(http.MethodPost, transactions, from.key, body, "Idempotency-Key", "lunch")
	if a.Status != http.StatusGatewayTimeout || a.Error.Code != "TIMEOUT" {
		t.Errorf("after %s: %d %s", time.Since(began), a.Status, a.Error)
	}
	mend()
	for range 2 {
		if a = s.rest(http.MethodPost, transactions, from.key, body, "Idempotency-Key", "lunch"); a.Status != http.StatusOK {
			t.Errorf("again: %d %s", a.Status, a.Error)
		}
	}
	list := s.rest(http.MethodGet, transactions, to.key, nil).Transactions
	if len(list) != 1 || list[0].Amount != "1" {
		t.Errorf("received: %v", list)
	}
	s.audit()
}
