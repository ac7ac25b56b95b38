package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The drills of docs/runbook.md that no other test carries out.

// patience is how long anything may take that the exchange does by itself.
const patience = time.Minute

// within asks until an answer is as wanted.
func within(t *testing.T, d time.Duration, what string, wanted func() bool) {
	t.Helper()
	end, every := time.NewTimer(d), time.NewTicker(20*time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for !wanted() {
		select {
		case <-end.C:
			t.Fatalf("after %s: not %s", d, what)
		case <-every.C:
		}
	}
}

// TestSecondSignal ends the process at once, and loses nothing by it. A stream
// whose client is silent holds up the first signal's stop for seconds.
func TestSecondSignal(t *testing.T) {
	s := start(t, t.TempDir(), short...)
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.wary = true
	traded := c.tradeOn(t, s.url, 20)
	s.silentStream()

	within(t, patience, "ended", func() bool {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // an error if it has ended already
		select {
		case <-s.logged:
			return true
		default:
			return false
		}
	})
	_ = s.cmd.Wait()
	<-traded
	if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
		t.Errorf("it ended by itself: %s", s.cmd.ProcessState)
	}

	s.start()
	c.check(t, s.url)
	s.audit()
}

// silentStream opens a stream whose client never says anything.
func (s *server) silentStream() {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.url+"/stream", http.NoBody)
	must(s.t, err)
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatalf("a stream: %s", res.Status)
	}
}

// TestForeignHistory starts beside the history of another journal, whether or not a
// frame of this one ends where it does: it is named, and made again once it is deleted.
func TestForeignHistory(t *testing.T) {
	dirs := make([]string, 2)
	for i := range dirs {
		s := start(t, t.TempDir(), short...)
		_, key := s.customer("someone")
		c := newTrader(key, rand.New(rand.NewPCG(uint64(i), 1)))
		c.most = 40 * (i + 1) // the foreign history ends before the journal, which has commands of time, too
		c.trade(s.url)
		if code, _ := s.stop(); code != 0 {
			t.Fatalf("exit %d", code)
		}
		dirs[i] = s.data
	}
	b, err := os.ReadFile(filepath.Join(dirs[0], "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dirs[1], "history.db")
	if err := os.WriteFile(foreign, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, end := range append([]string{"seq", "1", "1000000"}, inFrames(t, dirs[1])...) {
		db, err := sql.Open("sqlite", foreign)
		must(t, err)
		_, err = db.Exec("UPDATE cursor SET seq = " + end)
		must(t, errors.Join(err, db.Close()))
		want, says := exitFailed, "history.db is not of this journal"
		if end == "1000000" {
			want, says = exitDamaged, "history.db has command 1000000"
		}
		if _, stderr, code := run(t, "dev", "--data", dirs[1], "--listen", "127.0.0.1:0"); code != want || !strings.Contains(stderr, says) {
			t.Fatalf("at %s: exit %d: %s", end, code, stderr)
		}
	}
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	start(t, dirs[1], short...).audit()
}

// inFrames returns commands of a journal that are not the last of their frame: those
// behind them have the same microsecond. The commands that found an exchange share
// one as well, and have frames of their own.
func inFrames(t *testing.T, data string) (list []string) {
	t.Helper()
	commands := commandsOf(t, data)
	for i, c := range commands[1:] {
		if before := commands[i]; c.Time == before.Time && c.Time != commands[0].Time {
			list = append(list, fmt.Sprint(before.Seq))
		}
	}
	return list[:min(len(list), 3)]
}

// TestPrune deletes what the archive has of old commands, of which there is a
// copy: from then on tools say since when they know, and the exchange goes on.
func TestPrune(t *testing.T) {
	template, key := exemplar(t)
	data := copied(t, template)
	archive := newest(t, data, "archive/*.zst")
	var first uint64
	if _, err := fmt.Sscanf(filepath.Base(archive), "%d.seg.zst", &first); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "journal", "prune", data, "--before", fmt.Sprint(first)); code == 0 || !strings.Contains(stderr, "i-have-a-copy") {
		t.Errorf("without a copy: exit %d: %s", code, stderr)
	}
	tool[any](t, "journal", "prune", data, "--before", fmt.Sprint(first), "--i-have-a-copy")
	if got := tool[struct {
		First uint64 `json:"first_seq"`
	}](t, "journal", "verify", data).First; got != first {
		t.Errorf("the journal begins at %d, not %d", got, first)
	}
	s := start(t, data, short...)
	c := newTrader(key, rand.New(rand.NewPCG(7, 7)))
	c.n, c.most = 5000, 20
	c.trade(s.url)
	s.kill()
	s.start()
	c.check(t, s.url)
	tool[any](t, "journal", "verify", data)
	if _, stderr, code := run(t, "admin", "--data", data, "audit"); code != exitFailed || !strings.Contains(stderr, fmt.Sprintf("kept since %d", first)) {
		t.Errorf("an audit of what is not all: exit %d: %s", code, stderr)
	}
}

// TestWithdrawalsWait pauses a network: what is asked for waits, an operator lets
// one go and denies another, and what is resumed is paid.
func TestWithdrawalsWait(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	h := s.holder("someone", map[string]string{"ATOM": "100"})
	r := route{network: "ATOM", asset: "ATOM", withdrawal: "7"}
	operate[any](s, "withdrawals", "pause", "ATOM")
	var asked []*payout
	for range 3 {
		w, err := h.withdraw(http.DefaultClient, r, s.address("ATOM"))
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, w)
	}
	listed := func() int {
		return len(operate[struct{ Withdrawals []any }](s, "withdrawal", "list").Withdrawals)
	}
	s.mine("ATOM")
	if n := listed(); n != 3 {
		t.Errorf("%d withdrawals wait", n)
	}
	operate[any](s, "withdrawal", "deny", fmt.Sprint(asked[0].xid))
	asked[0].canceled = true
	operate[any](s, "withdrawal", "approve", fmt.Sprint(asked[1].xid))
	if err := h.cancel(http.DefaultClient, asked[2]); err != nil || !asked[2].canceled {
		t.Errorf("a cancel while the network is paused: %v", err)
	}
	if n := listed(); n != 1 {
		t.Errorf("%d withdrawals wait", n)
	}
	operate[any](s, "withdrawals", "resume", "ATOM")
	h.settle()
	if n := listed(); n != 0 {
		t.Errorf("%d withdrawals wait at the end", n)
	}
	s.audit()
}

// TestDepositWithoutMemo parks a deposit that names nobody, until an operator
// gives it to somebody.
func TestDepositWithoutMemo(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	h := s.holder("someone", nil)
	to := h.must("/deposit", map[string]any{"asset": "ATOM", "network": "ATOM"})
	mustControl[any](s, "devnet/send", map[string]any{"network": "ATOM", "address": to.Address, "asset": "ATOM", "amount": "5", "memo": ""})
	type parked struct {
		Deposits []struct{ Deposit uint64 }
	}
	var list parked
	within(t, patience, "parked", func() bool {
		s.mine("ATOM")
		list = operate[parked](s, "deposits", "parked")
		return len(list.Deposits) == 1
	})
	if total := h.must("/balances", map[string]any{}).Balances["ATOM"].Total; number(total).Sign() != 0 {
		t.Errorf("the customer has %s already", total)
	}
	operate[any](s, "deposit", "assign", fmt.Sprint(list.Deposits[0].Deposit), fmt.Sprint(h.account))
	if total := h.must("/balances", map[string]any{}).Balances["ATOM"].Total; total != "5" {
		t.Errorf("the customer has %q", total)
	}
	if list = operate[parked](s, "deposits", "parked"); len(list.Deposits) != 0 {
		t.Errorf("still parked: %+v", list)
	}
	s.audit()
}

// TestNetworkHaltsItself takes a credited deposit off the chain: the network
// stops by itself and says why, and goes on when an operator has looked.
func TestNetworkHaltsItself(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	h := s.holder("someone", map[string]string{"BTC": "10", "LTC": "10"})
	operate[any](s, "devnet", "mine", "BTC", "6")
	if err := h.deposit(http.DefaultClient, route{"BTC", "BTC", "0.5", "0.02"}); err != nil {
		t.Fatal(err)
	}
	within(t, patience, "credited", func() bool {
		s.mine("BTC")
		return h.must("/balances", map[string]any{}).Balances["BTC"].Total == "10.5"
	})
	operate[any](s, "devnet", "reorg", "BTC", "5", "--drop")
	within(t, patience, "halted", func() bool { s.mine("BTC"); return s.halted("BTC") == "reorganisation" })
	if why := s.halted("LTC"); why != "" {
		t.Errorf("another network is halted: %s", why)
	}
	w, err := h.withdraw(http.DefaultClient, route{network: "BTC", asset: "BTC", withdrawal: "0.02"}, s.address("BTC"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.withdraw(http.DefaultClient, route{network: "LTC", asset: "LTC", withdrawal: "0.02"}, s.address("LTC"))
	if err != nil {
		t.Fatal(err)
	}
	within(t, patience, "sent on the other network", func() bool {
		s.mine("BTC")
		s.mine("LTC")
		return h.transactions()[other.xid].Status == "DONE"
	})
	if row := h.transactions()[w.xid]; row.Status != "PENDING" {
		t.Errorf("while the network is halted: %+v", row)
	}
	operate[any](s, "withdrawals", "resume", "BTC")
	within(t, patience, "sent", func() bool {
		s.mine("BTC")
		return h.transactions()[w.xid].Status == "DONE"
	})
}

// halted returns why the exchange stopped a network's withdrawals by itself, as an audit
// of its journal says; empty if it did not.
func (s *server) halted(network string) string {
	s.t.Helper()
	stdout, _, _ := run(s.t, "admin", "--data", s.data, "audit")
	var report struct {
		Networks []struct{ Network, Halted string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		s.t.Fatalf("%v: %s", err, stdout)
	}
	for _, n := range report.Networks {
		if n.Network == network {
			return n.Halted
		}
	}
	return ""
}

// TestExplain prints every change of one balance; the last is what the customer has.
func TestExplain(t *testing.T) {
	s := start(t, t.TempDir(), short...)
	account, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 30
	c.trade(s.url)
	has := operate[map[string]json.RawMessage](s, "balances", fmt.Sprint(account))
	stdout, stderr, code := run(t, "journal", "explain", s.data, fmt.Sprint(account), "USDT")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var last struct{ Avbl, Locked string }
	if code != 0 || len(lines) < 2 || json.Unmarshal([]byte(lines[len(lines)-1]), &last) != nil {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if text := fmt.Sprintf("%s", has); last.Avbl == "" || !strings.Contains(text, fmt.Sprintf(`"locked":%q,"avbl":%q`, last.Locked, last.Avbl)) {
		t.Errorf("explained is %s, and there is %s", lines[len(lines)-1], text)
	}
}
