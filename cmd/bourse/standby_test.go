package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var standbyKills = flag.Int("standby.kills", 3, "how often TestStandbyKill kills the source of a standby")

// standbyStatus is what the tests read of a standby's status.
type standbyStatus struct {
	Role        string
	Incarnation int
	Source      string
	Connected   bool
	Seq         uint64
	SourceSeq   uint64    `json:"source_seq"`
	AsOf        time.Time `json:"as_of"`
	LagMS       int64     `json:"lag_ms"`
	HistoryLag  uint64    `json:"history_lag"`
	Compared    uint64    `json:"compared_seq"`
	Retries     uint64
	Accounts    struct {
		LagMS int64 `json:"lag_ms"`
	}
	Secrets struct {
		LagMS int64 `json:"lag_ms"`
	}
}

// copyOf is a running standby.
type copyOf struct {
	t    *testing.T
	dir  string
	args []string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{}
}

// followFrom runs a standby of the exchange at an address.
func followFrom(t *testing.T, address, dir string, args ...string) *copyOf {
	t.Helper()
	c := &copyOf{t: t, dir: dir, args: append([]string{"follow", address, dir}, args...)}
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("log of the standby:\n%s", c.log)
		}
	})
	c.start()
	return c
}

func (c *copyOf) start() {
	c.t.Helper()
	path, err := binary()
	must(c.t, err)
	c.cmd = exec.Command(path, c.args...)
	stderr, err := c.cmd.StderrPipe()
	must(c.t, err)
	must(c.t, c.cmd.Start())
	c.log, c.done = new(bytes.Buffer), make(chan struct{})
	following := make(chan struct{}, 1)
	go func() {
		defer close(c.done)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			_, _ = fmt.Fprintln(c.log, lines.Text())
			if strings.Contains(lines.Text(), "msg=following") {
				following <- struct{}{}
			}
		}
		_ = c.cmd.Wait()
	}()
	select {
	case <-following:
	case <-c.done:
		c.t.Fatalf("the standby did not start:\n%s", c.log)
	}
}

// kill ends the standby like a power cut would.
func (c *copyOf) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

func (c *copyOf) status() standbyStatus {
	c.t.Helper()
	return tool[standbyStatus](c.t, "admin", "--data", c.dir, "status")
}

// reaches waits until the copy has all that the source has, accounts and secrets included.
func (c *copyOf) reaches() standbyStatus {
	c.t.Helper()
	var s standbyStatus
	within(c.t, patience, "a copy of everything", func() bool {
		s = c.status()
		return s.Connected && s.Seq > 0 && s.Seq >= s.SourceSeq && s.Accounts.LagMS >= 0 && s.Secrets.LagMS >= 0
	})
	return s
}

// nodes returns the address of the server's node port.
func (s *server) nodes() string {
	for _, arg := range s.args {
		if address, ok := strings.CutPrefix(arg, "--cluster-listen="); ok {
			return address
		}
	}
	s.t.Fatal("there is no node port")
	return ""
}

// asHost asks for a URL as a browser does whose page is of a host, and returns the status.
func asHost(t *testing.T, url, host string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	must(t, err)
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, answer.Body.Close())
	return answer.StatusCode
}

// TestStandbyDrill carries out the runbook: a standby, a planned change, the old machine back, and
// a standby of the new one.
func TestStandbyDrill(t *testing.T) {
	first, second := freeAddress(t), freeAddress(t)
	s := start(t, t.TempDir(), append(slices.Clone(short), "--cluster-listen="+first, "--cluster-peers="+second,
		"--cluster-compare-every=100ms")...)
	_, key := s.customer("someone")
	c := newTrader(key, mrand.New(mrand.NewPCG(1, 1)))
	c.most = 100
	c.trade(s.url)
	dir := filepath.Join(t.TempDir(), "standby")
	standby := followFrom(t, first, dir)
	standby.reaches()
	within(t, patience, "states compared", func() bool { return standby.status().Compared > 0 })
	if got := operate[struct{ Followers int }](s, "status").Followers; got != 1 {
		t.Errorf("%d followers", got)
	}

	for host, want := range map[string]int{first: http.StatusOK, "localhost": http.StatusOK, "rebound.example": http.StatusMisdirectedRequest} {
		if got := asHost(t, "http://"+first+"/hello", host); got != want {
			t.Errorf("a question for %s: %d", host, got)
		}
	}

	refused := func(wants string, words ...string) {
		t.Helper()
		if _, stderr, code := run(t, words...); code != exitFailed || !strings.Contains(stderr, wants) {
			t.Errorf("%v: exit %d: %s", words, code, stderr)
		}
	}
	refused("the source answers", "promote", dir, "--source-is-gone")
	refused("is a standby of", "dev", "--data", dir, "--listen", "127.0.0.1:0")
	refused("is no standby", "promote", s.data, "--source-is-gone")
	refused("it answers status alone", "admin", "--data", dir, "fees", "collect")
	refused("is an exchange, no standby", "follow", first, s.data)

	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	refused("say --source-is-gone", "promote", dir)
	refused("stop `bourse follow` first", "promote", dir, "--source-is-gone")
	standby.kill()
	tool[any](t, "promote", dir, "--source-is-gone")
	next := start(t, dir, append(slices.Clone(short), "--cluster-listen="+second, "--cluster-peers="+first,
		"--cluster-compare-every=100ms")...)
	c.check(t, next.url)
	next.audit()
	if got := operate[struct{ Incarnation int }](next, "status").Incarnation; got != 2 {
		t.Errorf("incarnation %d", got)
	}

	_, stderr, code := run(t, append([]string{"dev", "--data", s.data, "--listen", "127.0.0.1:0"}, s.args...)...)
	if code != exitFailed || !strings.Contains(stderr, "another machine is the exchange") {
		t.Errorf("the old exchange: exit %d: %s", code, stderr)
	}
	must(t, os.RemoveAll(s.data))
	back := followFrom(t, second, s.data)
	if got := back.reaches(); got.Incarnation != 2 {
		within(t, patience, "the second incarnation", func() bool { return back.status().Incarnation == 2 })
	}
}

// TestStandbyPeerRises starts the copy while the old exchange is stopped in its tracks: once that
// goes on, it finds the new one, and ends.
func TestStandbyPeerRises(t *testing.T) {
	first, second := freeAddress(t), freeAddress(t)
	s := start(t, t.TempDir(), append(slices.Clone(short), "--cluster-listen="+first, "--cluster-peers="+second)...)
	dir := filepath.Join(t.TempDir(), "standby")
	standby := followFrom(t, first, dir)
	standby.reaches()
	must(t, s.cmd.Process.Signal(stopSignal))
	standby.kill()
	tool[any](t, "promote", dir, "--source-is-gone")
	start(t, dir, append(slices.Clone(short), "--cluster-listen="+second)...)
	must(t, s.cmd.Process.Signal(continueSignal))
	<-s.logged
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(s.log.String(), "another machine is the exchange") {
		t.Errorf("exit %d", code)
	}
}

// TestStandbyStrangers follows another exchange with a copy, follows without a certificate, with one
// of another authority, and over the network without any, and promotes beside a source that refuses
// the certificate.
func TestStandbyStrangers(t *testing.T) {
	ca, other := newNodeAuthority(t), newNodeAuthority(t)
	s := start(t, t.TempDir(), slices.Concat(short, ca.node("node-0"), []string{"--cluster-listen=" + freeAddress(t)})...)
	foreign := start(t, t.TempDir(), slices.Concat(short, ca.node("node-0"), []string{"--cluster-listen=" + freeAddress(t)})...)
	proof := ca.node("node-1")
	dir := filepath.Join(t.TempDir(), "standby")
	standby := followFrom(t, s.nodes(), dir, proof...)
	standby.reaches()
	standby.kill()

	refused := func(wants string, words ...string) {
		t.Helper()
		if _, stderr, code := run(t, words...); code != exitFailed || !strings.Contains(stderr, wants) {
			t.Errorf("%v: exit %d: %s", words, code, stderr)
		}
	}
	refused("the source answers", append([]string{"promote", dir, "--source-is-gone"}, other.node("node-1")...)...)
	refused("the source answers", "promote", dir, "--source-is-gone")
	empty := filepath.Join(t.TempDir(), "empty")
	refused("belongs to another exchange", append([]string{"follow", foreign.nodes(), dir}, proof...)...)
	refused("", append([]string{"follow", s.nodes(), empty}, other.node("node-1")...)...)
	refused("the source:", "follow", s.nodes(), empty)
	refused("nodes need certificates", "follow", "10.0.0.1:1", empty)
	refused("nodes need certificates", "dev", "--data", filepath.Join(t.TempDir(), "x"), "--listen=127.0.0.1:0", "--bots=false", "--cluster-listen=:0")
	refused("go together", append([]string{"follow", s.nodes(), empty}, proof[:2]...)...)
}

// TestStandbyHostile lets followers take nothing, as many as may and more: the exchange trades on,
// and an honest follower is served.
func TestStandbyHostile(t *testing.T) {
	ca := newNodeAuthority(t)
	s := start(t, t.TempDir(), slices.Concat(short, ca.node("node-0"), []string{"--cluster-listen=" + freeAddress(t)})...)
	_, key := s.customer("someone")
	c := newTrader(key, mrand.New(mrand.NewPCG(1, 1)))
	c.most = 300
	c.trade(s.url)

	honest := ca.node("honest")
	hostile := func(name string) int {
		ca.node(name)
		r, err := ca.client(name).Get("https://" + s.nodes() + "/frames?after=0&chain=" + strings.Repeat("0", 64))
		must(t, err)
		t.Cleanup(func() { _ = r.Body.Close() })
		return r.StatusCode
	}
	if got := hostile("silent"); got != http.StatusOK {
		t.Fatalf("the first follower: %d", got)
	}
	for range 20 { // the same one again, which ends its own streams
		if got := hostile("silent"); got != http.StatusOK {
			t.Fatalf("a follower again: %d", got)
		}
	}
	standby := followFrom(t, s.nodes(), filepath.Join(t.TempDir(), "standby"), honest...)
	standby.reaches()
	if got := hostile("third"); got != http.StatusServiceUnavailable {
		t.Errorf("a third follower: %d", got)
	}
	elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 30 { // strangers hold connections and prove nothing
		conn, err := elsewhere.Dial("tcp", s.nodes())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
	}

	c.trade(s.url)
	seq := standby.reaches().Seq
	if seq < 600 {
		t.Errorf("the copy ends at %d", seq)
	}
	for _, path := range []string{"/frames", "/frames?after=x&chain=", "/frames?after=1&chain=00", "/nothing"} {
		r, err := ca.client("third").Get("https://" + s.nodes() + path)
		must(t, err)
		if _ = r.Body.Close(); r.StatusCode != http.StatusBadRequest && r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	s.audit()
}

// flipping is a wire that flips bits of what comes from the source: one of each stream of frames,
// ever later, and seldom one of the larger copies of accounts and secrets, so that all get through.
type flipping struct {
	frames, others   int64
	streams, flipped atomic.Int64
}

func (f *flipping) serve(l net.Listener, to string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			_ = in.Close()
			continue
		}
		go f.join(in, out)
	}
}

// join passes bytes on both ways. The first request says what the connection is for.
func (f *flipping) join(in, out net.Conn) {
	first := make([]byte, 4096)
	n, err := in.Read(first)
	if err != nil {
		_, _ = in.Close(), out.Close()
		return
	}
	every := f.others
	if bytes.HasPrefix(first, []byte("GET /frames")) {
		every = f.frames * f.streams.Add(1)
	}
	go func() {
		_, _ = io.Copy(out, io.MultiReader(bytes.NewReader(first[:n]), in))
		_ = out.Close()
	}()
	f.pipe(in, out, every)
	_ = in.Close()
}

func (f *flipping) pipe(to io.Writer, from io.Reader, every int64) {
	b, passed := make([]byte, 4096), int64(0)
	for {
		n, err := from.Read(b)
		if before := passed / every; (passed+int64(n))/every != before && n > 0 {
			b[n/2] ^= 4
			f.flipped.Add(1)
		}
		passed += int64(n)
		if _, bad := to.Write(b[:n]); bad != nil || err != nil {
			return
		}
	}
}

// TestStandbyFlips flips bits on the way and on the standby's disk: neither gets into the copy.
func TestStandbyFlips(t *testing.T) {
	s := start(t, t.TempDir(), append(slices.Clone(short), "--cluster-listen="+freeAddress(t), "--cluster-compare-every=100ms")...)
	_, key := s.customer("someone")
	c := newTrader(key, mrand.New(mrand.NewPCG(1, 1)))
	c.most = 500
	c.trade(s.url)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	wire := &flipping{frames: 40_000, others: 2_000_000}
	go wire.serve(l, s.nodes())
	dir := filepath.Join(t.TempDir(), "standby")
	standby := followFrom(t, l.Addr().String(), dir, "--segment-size=256KiB", "--snapshot-every=300")
	standby.reaches()
	within(t, patience, "flips, and states compared", func() bool {
		got := standby.status()
		return wire.flipped.Load() > 0 && got.Retries > 0 && got.Compared > 0
	})
	standby.kill()
	tool[any](t, "journal", "verify", dir)

	segments, err := filepath.Glob(filepath.Join(dir, "journal", "*.seg"))
	must(t, err)
	b, err := os.ReadFile(segments[0])
	must(t, err)
	b[5000] ^= 1
	must(t, os.WriteFile(segments[0], b, 0o600))
	if _, stderr, code := run(t, "follow", s.nodes(), dir); code != exitDamaged || !strings.Contains(stderr, "is damaged") {
		t.Errorf("with a damaged copy: exit %d: %s", code, stderr)
	}
}

// TestStandbyOnServer has the accounts on a server that both machines reach: the one that was
// promoted opens them although they know more than its journal, and the old one is refused its
// next write there, without a wire between the two.
func TestStandbyOnServer(t *testing.T) {
	database := newDatabase(t)
	accounts := "--accounts=" + database.URL("postgres")
	s := start(t, t.TempDir(), append(slices.Clone(short), "--cluster-listen="+freeAddress(t), accounts)...)
	account, key := s.customer("someone")
	dir := filepath.Join(t.TempDir(), "standby")
	if _, stderr, code := run(t, "follow", s.nodes(), dir); code != exitFailed || !strings.Contains(stderr, "name it with --accounts") {
		t.Errorf("without the server: exit %d: %s", code, stderr)
	}
	standby := followFrom(t, s.nodes(), dir, accounts)
	standby.reaches()
	standby.kill()
	s.customer("later")
	must(t, s.cmd.Process.Signal(stopSignal))

	tool[any](t, "promote", dir, "--source-is-gone", accounts)
	next := start(t, dir, append(slices.Clone(short), accounts)...)
	if a, err := post(http.DefaultClient, next.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0}); err != nil || !a.Success {
		t.Errorf("the key of before: %v %s", err, a.Error)
	}
	if again, _ := next.customer("later"); again != account+1 {
		t.Errorf("the lost account's address gets account %d", again)
	}

	must(t, s.cmd.Process.Signal(continueSignal))
	_, stderr, _ := run(t, "admin", "--data", s.data, "key", "create", fmt.Sprint(account), "--name", "old")
	<-s.logged
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(s.log.String(), "another machine has become the exchange") {
		t.Errorf("the old exchange: exit %d: %s", code, stderr)
	}
	next.audit()
}
