package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

// listedOnMachines lists a market that no network moves the assets of.
const listedOnMachines = `
assets:
  - {symbol: BTC, name: Bitcoin, scale: 12, enabled: true}
  - {symbol: USDT, name: Tether, scale: 12, enabled: true}
markets:
  - {base: BTC, quote: USDT, base_precision: 6, quote_precision: 2, min_order: "5", initial_price: "60000", maker_fee: "0.001", taker_fee: "0.002", enabled: true}
`

// machines are those of a cluster, each with a directory and settings of its own, which reach each other at their node ports alone.
type machines struct {
	t        *testing.T
	accounts string
	all      []*host
}

// host is a machine with a node.
type host struct {
	*machines
	number                       uint64
	base, dir, listen, port, url string
	// program is the one to run, if not the one that is built.
	program string
	cmd     *exec.Cmd
	log     *saidLog
	ended   chan struct{}
}

// saidLog is the log of processes that may still write it.
type saidLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *saidLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns what was written.
func (l *saidLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	url, err := newDatabase(t).Database(t.Context())
	must(t, err)
	return &machines{t: t, accounts: url}
}

// add makes a machine, without a node.
func (m *machines) add(number uint64) *host {
	m.t.Helper()
	h := &host{
		machines: m, number: number, base: m.t.TempDir(), listen: freeAddress(m.t), port: freeAddress(m.t), log: new(saidLog),
	}
	h.dir, h.url = filepath.Join(h.base, "data"), "http://"+h.listen
	h.settings("accounts: " + m.accounts + "\n")
	m.all = append(m.all, h)
	m.t.Cleanup(func() {
		h.kill()
		if m.t.Failed() {
			m.t.Logf("log of node %d:\n%s", h.number, h.log.String())
		}
	})
	return h
}

// found makes the first node of a cluster, which serves, and returns the exchange's id.
func (h *host) found() string {
	h.t.Helper()
	id := tool[made](h.t, "cluster", "init", "--data", h.dir, "--listen", h.listen, "--address", h.port).Exchange
	h.start()
	h.awaits(h.number)
	return id
}

// joins lets the machine join a cluster that one of another machine leads, with the numbers up to its own.
func (h *host) joins(one *host) {
	h.t.Helper()
	tool[joined](h.t, h.join(one.token())...)
	h.start()
	var all []uint64
	for n := uint64(1); n <= h.number; n++ {
		all = append(all, n)
	}
	h.awaits(all...)
}

// settings writes the machine's file of settings.
func (h *host) settings(more string) {
	h.t.Helper()
	write(h.t, filepath.Join(h.base, "bourse.yaml"), fmt.Sprintf(`data: %s
listen: %s
public-url: https://exchange.example.org
min-free: 0
segment-size: 16MiB
limits: {account: {reads: 0}, source: {requests: 0}}
webhook: {private: true}
%s`, h.dir, h.listen, more))
}

// start starts the machine's process.
func (h *host) start() {
	h.t.Helper()
	path, err := h.program, error(nil)
	if path == "" {
		path, err = binary()
	}
	must(h.t, err)
	h.cmd = exec.Command(path, "serve", "--config", filepath.Join(h.base, "bourse.yaml"))
	h.cmd.Stderr = h.log
	must(h.t, h.cmd.Start())
	h.ended = make(chan struct{})
	go func() {
		defer close(h.ended)
		_ = h.cmd.Wait()
	}()
}

// stop lets the machine's process end.
func (h *host) stop() {
	h.t.Helper()
	must(h.t, h.cmd.Process.Signal(syscall.SIGTERM))
	<-h.ended
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		h.t.Errorf("node %d ends with %d", h.number, code)
	}
}

// kill ends the machine's process like a power cut would.
func (h *host) kill() {
	if h.cmd != nil {
		_ = h.cmd.Process.Kill()
		<-h.ended
	}
}

// refused runs the machine's process, which must end and say why.
func (h *host) refused(says string) {
	h.t.Helper()
	if _, stderr, code := run(h.t, "serve", "--config", filepath.Join(h.base, "bourse.yaml")); code == 0 || !strings.Contains(stderr, says) {
		h.t.Errorf("exit %d, and it does not say %q: %s", code, says, stderr)
	}
}

// token asks the leader for a token. On a busy machine the leader changes.
func (h *host) token() (o offered) {
	h.t.Helper()
	within(h.t, patience, "a token", func() bool {
		leader := h.leader()
		if leader == nil {
			return false
		}
		said, _, code := run(h.t, "cluster", "token", "--data", leader.dir)
		return code == 0 && json.Unmarshal([]byte(said), &o) == nil
	})
	return o
}

// leader returns the machine that leads as this one sees it; nil if none does. An exchange on one machine leads.
func (h *host) leader() *host {
	h.t.Helper()
	if !isNode(h.dir) {
		return h
	}
	at := h.view().Leader
	i := slices.IndexFunc(h.all, func(other *host) bool { return other.number == at && at != 0 })
	if i < 0 {
		return nil
	}
	return h.all[i]
}

// join returns the command with which a machine joins.
func (h *host) join(o offered, more ...string) []string {
	words := []string{"cluster", "join", o.Address, h.dir, "--token", o.Token, "--node", fmt.Sprint(h.number)}
	return append(append(words, "--listen", h.listen, "--address", h.port), more...)
}

// view returns the cluster as a machine sees it.
func (h *host) view() clusterView {
	h.t.Helper()
	return tool[clusterView](h.t, "cluster", "status", "--data", h.dir)
}

// awaits waits until a machine sees the nodes of the given numbers vote, and one of them lead and serve, and returns that.
func (h *host) awaits(numbers ...uint64) (leader *host) {
	h.t.Helper()
	within(h.t, patience, fmt.Sprintf("the nodes %d, one of which leads", numbers), func() bool {
		v := h.view()
		var vote []uint64
		for _, n := range v.Nodes {
			if n.Role == "leader" || n.Role == "replica" {
				vote = append(vote, n.Node)
			}
		}
		if leader = h.leader(); leader == nil || !slices.Equal(vote, numbers) {
			return false
		}
		s := (&program{ctx: h.t.Context()}).stateOf(leader.dir)
		return s != nil && s.Ready
	})
	return leader
}

// serves reports whether an exchange on one machine serves.
func (h *host) serves() bool {
	_, _, code := run(h.t, "admin", "--data", h.dir, "status")
	return code == 0
}

// transfers lets another machine lead. On a slow disk the old leader may be elected again, and is asked again.
func (h *host) transfers(to *host) {
	h.t.Helper()
	within(h.t, patience, fmt.Sprintf("node %d leads", to.number), func() bool {
		if v := h.view(); v.Leader == to.number {
			return true
		}
		_, _, _ = run(h.t, "cluster", "transfer", "--data", h.dir, "--to", fmt.Sprint(to.number))
		return false
	})
}

// opens lists a market, and makes an account with a key and a webhook at the leader.
func (h *host) opens() (key string) {
	h.t.Helper()
	s := &server{t: h.t, data: h.dir}
	catalogue := filepath.Join(h.base, "catalogue.yaml")
	write(h.t, catalogue, listedOnMachines)
	operate[any](s, "catalogue", "apply", catalogue)
	operate[any](s, "account", "create", "trader@example.org")
	operate[any](s, "webhook", "add", "https://127.0.0.1:1/")
	return operate[struct {
		Secret string `json:"api_key"`
	}](s, "key", "create", "1", "--name", "test", "--scopes", "read,trade").Secret
}

// goesOn wants each of some machines to take an order, and the leader to open the secrets that an earlier one has sealed.
func (h *host) goesOn(key, id string, machines ...*host) {
	h.t.Helper()
	for _, other := range machines {
		within(h.t, patience, fmt.Sprintf("an order %s at node %d", id, other.number), func() bool {
			return other.orders(key, fmt.Sprint(id, other.number))
		})
	}
	within(h.t, patience, "a leader that opens the secret of a webhook", func() bool {
		leader := h.leader()
		if leader == nil {
			return false
		}
		list, _, code := run(h.t, "admin", "--data", leader.dir, "webhook", "list")
		return code == 0 && strings.Contains(list, "127.0.0.1:1") && !strings.Contains(list, "does not open")
	})
}

// orders places an order that the engine refuses.
func (h *host) orders(key, id string) bool {
	api, err := client.New(h.url, client.Options{Key: key, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		return false
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Second)
	defer cancel()
	return poor(ctx, api, id) == nil
}

// poor places an order that the engine refuses for want of money: its outcome is decided in the journal. The error is that of
// another outcome.
func poor(ctx context.Context, api *client.Client, id string) error {
	_, err := api.Place(ctx, &client.NewOrder{
		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.IOC, ClientID: id, Price: "60000", Amount: "0.001",
	})
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == "INSUF_FUNDS" {
		return nil
	}
	return fmt.Errorf("order %s of a customer without money: %w", id, err)
}

// TestThreeMachines makes a cluster of machines that share no files, as an operator does: init, tokens, joins. The leader is killed,
// and another one has what was acknowledged and goes on; a fourth machine takes the place of the lost one, and one whose disk is lost comes
// back. Clients reach the fourth one by TLS.
func TestThreeMachines(t *testing.T) {
	m := newMachines(t)
	one, two, three, four := m.add(1), m.add(2), m.add(3), m.add(4)
	tool[made](t, "cluster", "init", "--data", one.dir, "--listen", one.listen, "--address", one.port)
	if _, stderr, code := run(t, "cluster", "init", "--data", one.dir, "--listen", one.listen, "--address", one.port); code == 0 {
		t.Errorf("a node is made for the second time: %s", stderr)
	}
	one.settings("")
	one.refused("share their accounts")
	one.settings("accounts: " + m.accounts + "\nhistory: " + m.accounts + "\n")
	one.refused("leave `history` out")
	one.settings("accounts: " + m.accounts + "\n")
	one.start()
	one.awaits(1)

	for _, h := range []*host{two, three} {
		o := one.token()
		tool[joined](t, h.join(o)...)
		other := four.join(o)
		if _, stderr, code := run(t, other...); code == 0 || !strings.Contains(stderr, "spent") {
			t.Errorf("a token let two nodes in: exit %d: %s", code, stderr)
		}
		h.start()
		h.awaits([]uint64{1, 2, 3}[:h.number]...)
	}

	leader := two.awaits(1, 2, 3)
	key := leader.opens()
	leader.goesOn(key, "first-", m.all[:3]...)
	left := slices.DeleteFunc(slices.Clone(m.all[:3]), func(h *host) bool { return h == leader })
	if _, stderr, code := run(t, "cluster", "token", "--data", left[0].dir); code == 0 || !strings.Contains(stderr, "leads") {
		t.Errorf("a replica makes a token: exit %d: %s", code, stderr)
	}

	unspent := leader.token()
	leader.kill()
	next := left[0].awaits(left[0].number, left[1].number)
	next.goesOn(key, "second-", left...)
	unspent.Address = next.port
	if _, stderr, code := run(t, four.join(unspent)...); code == 0 {
		t.Errorf("a token of an earlier leader lets a node in: %s", stderr)
	}
	if files, err := os.ReadDir(four.dir); err == nil && len(files) > 0 {
		t.Errorf("a refused node leaves %v", files)
	}

	keys := t.TempDir()
	certify(t, keys, 1)
	four.url = "https://" + four.listen
	four.settings(fmt.Sprintf("accounts: %s\ntls: {cert: %s, key: %s}\n", m.accounts, filepath.Join(keys, "cert.pem"), filepath.Join(keys, "key.pem")))
	tool[joined](t, four.join(next.token(), "--replaces", fmt.Sprint(leader.number))...)
	four.start()
	after := []uint64{left[0].number, left[1].number, four.number}
	to := four.awaits(after...).other(left)
	four.transfers(to)
	to.goesOn(key, "third-", left[0], left[1], four)

	certify(t, keys, 2)
	must(t, four.cmd.Process.Signal(syscall.SIGHUP))
	within(t, patience, "a replica with another certificate", func() bool { return serial(t, four.listen) == 2 })

	leader.start() // the lost machine is back, and has no vote
	within(t, patience, "a machine that knows it was replaced", func() bool {
		s := (&program{ctx: t.Context()}).stateOf(leader.dir)
		return s != nil && s.Role == "removed"
	})
	if c, err := readConfig(four.dir); err != nil || !slices.Equal(c.Numbers(), after) {
		t.Errorf("the nodes are %+v, %v", c, err)
	}
	leader.kill()

	empty := to.other(left) // its disk is replaced
	early := to.token()
	_, stderr, code := run(t, "cluster", "join", early.Address, filepath.Join(empty.base, "early"), "--token", early.Token,
		"--node", fmt.Sprint(empty.number))
	if code == 0 || !strings.Contains(stderr, fmt.Sprintf("node %d still answers", empty.number)) {
		t.Errorf("a node that answers comes back: exit %d: %s", code, stderr)
	}
	empty.kill()
	must(t, os.RemoveAll(empty.dir))
	o := to.token()
	tool[joined](t, "cluster", "join", o.Address, empty.dir, "--token", o.Token, "--node", fmt.Sprint(empty.number))
	empty.start()
	to.awaits(after...)
	to.goesOn(key, "fourth-", left[0], left[1], four)

	tool[struct{ Left uint64 }](t, "cluster", "leave", "--data", to.dir, "--node", fmt.Sprint(four.number))
	to.awaits(left[0].number, left[1].number)
}

// other returns the first of some machines that is another one.
func (h *host) other(list []*host) *host {
	return list[slices.IndexFunc(list, func(other *host) bool { return other != h })]
}

// TestNodePortsOfNoMachine refuses addresses that name no machine: each of the others would look for the node on itself.
func TestNodePortsOfNoMachine(t *testing.T) {
	for _, address := range []string{":8444", "0.0.0.0:8444", "[::]:8444", "[::ffff:0.0.0.0]:8444", ":0"} {
		dir := filepath.Join(t.TempDir(), "data")
		token := strings.Repeat("00", 16) + "." + strings.Repeat("00", 32)
		for _, words := range [][]string{
			{"cluster", "init", "--data", dir}, {"cluster", "join", "127.0.0.1:1", dir, "--token", token, "--node", "2"},
		} {
			_, stderr, code := run(t, append(words, "--listen", "127.0.0.1:8080", "--address", address)...)
			if code == 0 || !strings.Contains(stderr, "names no machine") {
				t.Errorf("%s: %v: exit %d: %s", address, words[:2], code, stderr)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s: %v makes a directory", address, words[:2])
			}
		}
	}
}

// TestOneMachineBecomesThree makes an exchange on one machine the first node of a cluster, and another machine join it, which has
// the journal from the first command on and leads then. Accounts in a file are refused. A node whose journal is damaged gets the
// entries from the other machine; when that is gone for good, it goes on alone.
func TestOneMachineBecomesThree(t *testing.T) {
	m := newMachines(t)
	one, two := m.add(1), m.add(2)
	one.start()
	within(t, patience, "an exchange that serves", func() bool { return one.serves() })
	key := one.opens()
	one.goesOn(key, "alone-", one)
	from := []string{"cluster", "init", "--from", one.dir, "--listen", one.listen, "--address", one.port}
	if _, stderr, code := run(t, from...); code == 0 || !strings.Contains(stderr, "busy") && !strings.Contains(stderr, "use") {
		t.Errorf("a running exchange is made a node: exit %d: %s", code, stderr)
	}
	one.kill()

	there := filepath.Join(one.dir, "accounts.elsewhere")
	must(t, os.Rename(there, there+".kept"))
	if _, stderr, code := run(t, from...); code == 0 || !strings.Contains(stderr, "bourse store move") {
		t.Errorf("accounts in a file: exit %d: %s", code, stderr)
	}
	must(t, os.Rename(there+".kept", there))
	tool[made](t, from...)
	one.start()
	one.awaits(1).goesOn(key, "first-", one)

	tool[joined](t, two.join(one.token())...)
	two.start()
	two.awaits(1, 2)
	two.transfers(two)
	two.goesOn(key, "second-", one, two)
	type verified struct {
		First uint64 `json:"first_seq"`
	}
	if v := tool[verified](t, "journal", "verify", two.dir); v.First != 1 {
		t.Errorf("node 2 has commands from %d on", v.First)
	}
	(&server{t: t, data: two.dir}).audited()

	one.kill()
	segments, err := filepath.Glob(filepath.Join(one.dir, "journal", "*.seg"))
	must(t, err)
	flipUnder(t, segments[0])
	before, err := readConfig(one.dir)
	must(t, err)
	one.start()
	two.awaits(1, 2)
	if now, err := readConfig(one.dir); err != nil || now.Node != before.Node {
		t.Errorf("a damaged node comes back as %d, %v", now.Node, err)
	}
	if _, err := os.Stat(filepath.Join(one.dir, "torn", "damaged-"+filepath.Base(segments[0]))); err != nil {
		t.Errorf("its damaged segment is not kept: %v", err)
	}

	one.kill()
	two.kill()
	alone := []string{"cluster", "recover", "--data", one.dir, "--accept-loss"}
	if _, stderr, code := run(t, alone...); code == 0 || !strings.Contains(stderr, "--accounts") {
		t.Errorf("a recovery without the accounts: exit %d: %s", code, stderr)
	}
	if r := tool[recovery](t, append(alone, "--accounts", m.accounts)...); r.Node != 1 || !slices.Equal(r.Lost, []uint64{2}) {
		t.Errorf("the recovery: %+v", r)
	}
	one.start()
	one.awaits(1).goesOn(key, "recovered-", one)
}
