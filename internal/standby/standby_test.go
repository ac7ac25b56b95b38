package standby_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/standby"
)

var identity = journal.Identity{Exchange: [16]byte{1, 2, 3}, Sandbox: true}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// source is an exchange's journal with its node port.
type source struct {
	t   *testing.T
	log *filelog.Log
	*standby.Source
	address string
	clock   atomic.Int64
	// handling are the requests whose handler has not returned, though the answer may be there.
	handling sync.WaitGroup
}

func newSource(t *testing.T, frames int, change func(*standby.SourceOptions)) *source {
	t.Helper()
	d := memdisk.New(1)
	log, _, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: 64 << 10})
	must(t, err)
	voids, err := journal.LoadVoids(d, identity)
	must(t, err)
	s := &source{t: t, log: log}
	began := time.Now()
	hello := standby.NewHello(identity, "test")
	hello.Incarnation = 1
	o := standby.SourceOptions{
		Hello: func(context.Context) (standby.Hello, error) { hello.Seq = log.Durable(); return hello, nil },
		Files: journal.NewFiles(d, identity), Durable: log.Durable, Voids: voids, CompareEvery: 10,
		Clock: func() time.Time { return began.Add(time.Duration(s.clock.Load())) }, After: time.After,
		Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	s.Source = standby.NewSource(o)
	handler := s.Handler()
	port := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handling.Add(1)
		defer s.handling.Done()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(port.Close)
	s.address = port.Listener.Addr().String()
	s.write(frames)
	return s
}

// write commits so many frames.
func (s *source) write(frames int) {
	s.t.Helper()
	for range frames {
		next := uint64(s.log.Durable()) + 1
		must(s.t, s.log.Propose(journal.Proposal{ID: next, Count: 1, Time: bourse.Time(next), Commands: fmt.Appendf(nil, "command %d", next)}))
		_, err := s.log.Step()
		must(s.t, err)
		if _, ok := s.log.Next(); !ok {
			s.t.Fatal("a step without its notice")
		}
	}
}

func (s *source) peer() *standby.Peer {
	s.t.Helper()
	p, err := standby.NewPeer(s.address, &standby.Credentials{})
	must(s.t, err)
	s.t.Cleanup(p.Close)
	return p
}

func openCopy(t *testing.T, d disk.Disk) *filelog.Log {
	t.Helper()
	log, _, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: 64 << 10})
	must(t, err)
	return log
}

// streams copies until the copy has a command or the stream ends, and returns its error.
func streams(t *testing.T, p *standby.Peer, log *filelog.Log, to bourse.Seq) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &standby.Copier{Peer: p, Log: log, After: time.After, Full: func(error) {}, Opened: func() {}}
	ended := make(chan error, 1)
	go func() { ended <- c.Stream(ctx) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if log.Durable() >= to {
			cancel()
			if err := <-ended; standby.Final(err) {
				return err
			}
			return nil
		}
	}
}

// TestStream copies a journal from nothing, goes on where it was, and follows as it grows.
func TestStream(t *testing.T) {
	s := newSource(t, 300, nil)
	d := memdisk.New(2)
	log := openCopy(t, d)
	must(t, streams(t, s.peer(), log, 300))
	s.write(200)
	must(t, streams(t, s.peer(), log, 500))
	must(t, log.Close())

	log = openCopy(t, d)
	s.write(100)
	must(t, streams(t, s.peer(), log, 600))
	if tip := log.Tip(); tip.Last != 600 {
		t.Errorf("the copy ends at %d", tip.Last)
	}
	s.write(1)
	if err := streams(t, s.peer(), log, 601); err != nil {
		t.Errorf("the copy does not continue the source's: %v", err)
	}
}

// TestParted refuses copies that are not of the source's journal, or ahead of it, or pruned away.
func TestParted(t *testing.T) {
	s, shorter := newSource(t, 20, nil), newSource(t, 10, nil)
	log := openCopy(t, memdisk.New(2))
	must(t, streams(t, s.peer(), log, 20))
	if err := streams(t, shorter.peer(), log, 21); !errors.Is(err, standby.ErrAhead) || !standby.Final(err) {
		t.Errorf("ahead: %v", err)
	}
	must(t, shorter.log.Propose(journal.Proposal{ID: 99, Count: 11, Time: 99, Commands: []byte("eleven other commands")}))
	_, err := shorter.log.Step()
	must(t, err)
	if err := streams(t, shorter.peer(), log, 30); !errors.Is(err, standby.ErrDiverged) || !standby.Final(err) {
		t.Errorf("another journal: %v", err)
	}
}

// TestOwnDiskFails ends the copy when its disk fails, with the disk's error, and waits while the disk
// is full.
func TestOwnDiskFails(t *testing.T) {
	s := newSource(t, 300, nil)
	soon := func(d time.Duration) <-chan time.Time {
		if d == time.Second { // a full disk is tried again
			d = 0
		}
		return time.After(d)
	}
	ended, waited := 0, 0
	for n := 1; n <= 20; n++ {
		for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
			d := memdisk.New(uint64(n))
			log := openCopy(t, d)
			ctx, cancel := context.WithCancel(t.Context())
			c := &standby.Copier{Peer: s.peer(), Log: log, After: soon, Opened: func() {}, Full: func(err error) {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("full for %v", err)
				}
				waited++
				cancel()
			}}
			d.FailAt(n, cause)
			err := c.Stream(ctx)
			full := ctx.Err() != nil
			cancel()
			switch failed := errors.Is(err, standby.ErrDisk); {
			case full:
			case !failed || !standby.Final(err) || !errors.Is(err, cause):
				t.Errorf("operation %d fails with %v: %v", n, cause, err)
			default:
				ended++
			}
		}
	}
	if ended == 0 || waited == 0 {
		t.Errorf("%d copies ended, %d waited", ended, waited)
	}
}

// TestHostileSources says of each wrong byte in a stream that it is none of a frame.
func TestHostileSources(t *testing.T) {
	s := newSource(t, 3, nil)
	r, err := http.Get("http://" + s.address + "/frames?after=0&chain=" + strings.Repeat("0", 64))
	must(t, err)
	whole := make([]byte, 200)
	_, err = io.ReadFull(r.Body, whole)
	must(t, err)
	must(t, r.Body.Close())

	for name, text := range map[string]func() []byte{
		"an endless frame": func() []byte { return []byte{255, 255, 255, 127, 1, 2, 3} },
		"a short frame":    func() []byte { return []byte{5, 0, 0, 0, 1, 2, 3, 4, 5} },
		"a flipped bit":    func() []byte { b := slices.Clone(whole); b[80] ^= 1; return b },
		"a frame again":    func() []byte { return slices.Concat(whole[:85], whole[:85]) },
		"a cut frame":      func() []byte { return whole[:50] },
		"nothing":          func() []byte { return nil },
	} {
		port := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text()) }))
		p, err := standby.NewPeer(port.Listener.Addr().String(), &standby.Credentials{})
		must(t, err)
		log := openCopy(t, memdisk.New(1))
		err = streams(t, p, log, 4)
		if err == nil || standby.Final(err) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, log.Close())
		p.Close()
		port.Close()
	}
}

// TestHello names what keeps a copy from following, and a node from serving.
func TestHello(t *testing.T) {
	own := standby.NewHello(identity, "this")
	own.Incarnation = 2
	for name, c := range map[string]struct {
		change func(*standby.Hello)
		want   error
	}{
		"the same":              {func(*standby.Hello) {}, nil},
		"a later incarnation":   {func(h *standby.Hello) { h.Incarnation = 3 }, nil},
		"an older program":      {func(h *standby.Hello) { h.LastKind-- }, nil},
		"an older incarnation":  {func(h *standby.Hello) { h.Incarnation = 1 }, standby.ErrRaised},
		"another exchange":      {func(h *standby.Hello) { h.Exchange = strings.Repeat("00", 16) }, journal.ErrOtherExchange},
		"production":            {func(h *standby.Hello) { h.Sandbox = false }, journal.ErrSandbox},
		"another protocol":      {func(h *standby.Hello) { h.Protocol++ }, standby.ErrProtocol},
		"newer commands":        {func(h *standby.Hello) { h.LastKind++ }, standby.ErrProtocol},
		"newer rules":           {func(h *standby.Hello) { h.Rules++ }, standby.ErrProtocol},
		"a standby":             {func(h *standby.Hello) { h.Standby = true }, standby.ErrStandby},
		"no interval":           {func(h *standby.Hello) { h.CompareEvery = 0 }, standby.ErrProtocol},
		"a negative interval":   {func(h *standby.Hello) { h.CompareEvery = -1 }, standby.ErrProtocol},
		"no id of any exchange": {func(h *standby.Hello) { h.Exchange = "zz" }, standby.ErrProtocol},
	} {
		theirs := standby.NewHello(identity, "other")
		theirs.Incarnation, theirs.CompareEvery = 2, 1
		c.change(&theirs)
		if err := own.Source(&theirs); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}

	peer := own
	for _, c := range []struct {
		incarnation       bourse.Incarnation
		standby, serving  bool
		foreign, mustStop bool
	}{
		{incarnation: 3, mustStop: true}, {incarnation: 3, serving: true, mustStop: true}, {incarnation: 2, mustStop: true},
		{incarnation: 2, serving: true}, {incarnation: 1}, {incarnation: 3, standby: true}, {incarnation: 3, foreign: true},
	} {
		peer.Incarnation, peer.Standby, peer.Exchange = c.incarnation, c.standby, own.Exchange
		if c.foreign {
			peer.Exchange = strings.Repeat("00", 16)
		}
		if err := own.Peer(&peer, c.serving); errors.Is(err, standby.ErrRaised) != c.mustStop {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestStates compares the states after the first frames of intervals, on nodes that started at
// different commands.
func TestStates(t *testing.T) {
	run := func(from, to int, wrongAt int) *standby.States {
		s := standby.NewStates(func() bool { return true }, 6)
		s.SetInterval(10)
		for n := from; n <= to; n++ {
			s.Frame(&journal.Tip{Last: bourse.Seq(n), Time: bourse.Time(n * 3)}, func() [32]byte {
				return [32]byte{byte(n), byte(wrongAt / n)}
			})
		}
		return s
	}
	source := run(1, 60, 0)
	if last, err := run(13, 50, 0).Compare(source.List()); err != nil || last != 50 {
		t.Errorf("compared up to %d: %v", last, err)
	}
	if _, err := run(13, 50, 40).Compare(source.List()); !errors.Is(err, standby.ErrState) {
		t.Errorf("another state: %v", err)
	}
	newer := source.List()
	for i := range newer {
		newer[i].Form, newer[i].Hash = 7, "other"
	}
	if last, err := run(13, 50, 0).Compare(newer); err != nil || last != 0 {
		t.Errorf("states of another form: compared up to %d: %v", last, err)
	}
	if got := len(run(1, 1000, 0).List()); got != 16 {
		t.Errorf("%d states are kept", got)
	}
	if last, err := run(1, 3, 0).Compare(nil); last != 0 || err != nil {
		t.Errorf("nothing to compare: %d, %v", last, err)
	}
}

// TestIntervals lets a source come back with another interval: its follower takes that over, and
// both have states to compare again.
func TestIntervals(t *testing.T) {
	var own *standby.States
	at := func(n int) (*journal.Tip, func() [32]byte) {
		return &journal.Tip{Last: bourse.Seq(n), Time: bourse.Time(n)}, func() [32]byte { return [32]byte{byte(n)} }
	}
	own = standby.NewStates(func() bool { return true }, 0)
	own.Frame(at(1)) // before the source told its interval
	n := 1
	for _, every := range []bourse.Time{7, 7, 12} {
		s := newSource(t, 1, func(o *standby.SourceOptions) { o.CompareEvery = every })
		log := openCopy(t, memdisk.New(1))
		stop := follows(t, s.peer(), log)
		hello, err := s.peer().Hello(t.Context())
		must(t, err)
		if hello.CompareEvery != every {
			t.Errorf("the source tells %d of %d", hello.CompareEvery, every)
		}
		own.SetInterval(hello.CompareEvery)
		for end := n + 50; n < end; n++ {
			s.Frame(at(n))
			own.Frame(at(n))
		}
		theirs, err := s.peer().States(t.Context())
		must(t, err)
		if last, err := own.Compare(theirs); err != nil || int(last) <= n-2*int(every) {
			t.Errorf("interval %d: compared up to %d of %d: %v", every, last, n, err)
		}
		stop()
	}
}

// follows runs a stream until stop, and returns once it has begun.
func follows(t *testing.T, p *standby.Peer, log *filelog.Log) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	opened, ended := make(chan struct{}), make(chan struct{})
	c := &standby.Copier{Peer: p, Log: log, After: time.After, Full: func(error) {}, Opened: func() { close(opened) }}
	go func() {
		defer close(ended)
		_ = c.Stream(ctx)
	}()
	<-opened
	return func() { cancel(); <-ended }
}

// TestRoles keeps a standby, an exchange in a new incarnation and an exchange apart.
func TestRoles(t *testing.T) {
	d := memdisk.New(1)
	if r, err := standby.ReadRole(d); err != nil || r != (standby.Role{}) {
		t.Fatalf("an exchange: %+v %v", r, err)
	}
	for _, want := range []standby.Role{{Follows: "a:1"}, {Follows: "a:1", Differs: "state"}, {Raise: 2, Why: "promote"}} {
		must(t, want.Write(d))
		if got, err := standby.ReadRole(d.Crash()); err != nil || got != want {
			t.Errorf("%+v is read as %+v: %v", want, got, err)
		}
	}
	must(t, standby.EndRole(d))
	must(t, standby.EndRole(d))
	for _, text := range []string{"{}", `{"follows":"a","raise":2}`, "x"} {
		must(t, disk.Replace(d, "role.json", "role.json.tmp", []byte(text)))
		if r, err := standby.ReadRole(d); err == nil {
			t.Errorf("%s is taken as %+v", text, r)
		}
	}
}

// TestPartsRest makes a copy after a change alone, and not as often as it is asked for.
func TestPartsRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "part")
	made, stamp, took := 0, "one", time.Duration(0)
	var s *source
	part := &standby.Part{
		Temporary: file, Stamp: func() (string, error) { return stamp, nil },
		Make: func(_ context.Context, to string) error {
			made++
			s.clock.Add(int64(took))
			return os.WriteFile(to, []byte("content"), 0o600)
		},
	}
	s = newSource(t, 1, func(o *standby.SourceOptions) { o.Secrets = part })
	get := func(have string) int {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.address+"/secrets", http.NoBody)
		must(t, err)
		r.Header.Set("If-None-Match", have)
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		must(t, answer.Body.Close())
		s.handling.Wait()
		return answer.StatusCode
	}

	took = time.Second
	for _, step := range []struct {
		have  string
		later time.Duration
		want  int
		made  int
	}{
		{"", 0, http.StatusOK, 1}, {"one", 0, http.StatusNotModified, 1}, {"", 0, http.StatusServiceUnavailable, 1},
		{"", 8 * time.Second, http.StatusServiceUnavailable, 1}, {"", 2 * time.Second, http.StatusOK, 2},
	} {
		s.clock.Add(int64(step.later))
		if got := get(step.have); got != step.want || made != step.made {
			t.Errorf("with %q, %s later: %d, made %d times", step.have, step.later, got, made)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
	if r, err := http.Get("http://" + s.address + "/accounts"); err != nil || r.StatusCode != http.StatusNotFound || r.Body.Close() != nil {
		t.Errorf("accounts on a server: %v %v", r.Status, err)
	}
}

// TestAccountsWait puts a copy of the accounts in place only once the copy of the journal has what
// the accounts may refer to, and one that changed on the way never.
func TestAccountsWait(t *testing.T) {
	content, stamp := "first", "one"
	part := &standby.Part{
		Temporary: filepath.Join(t.TempDir(), "outgoing"), Stamp: func() (string, error) { return stamp, nil },
		Make: func(_ context.Context, to string) error { return os.WriteFile(to, []byte(content), 0o600) },
	}
	s := newSource(t, 10, func(o *standby.SourceOptions) { o.Accounts = part })
	dir := t.TempDir()
	d, err := disk.OpenExisting(dir)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	c := standby.CopyAccounts(s.peer(), d)
	at := time.UnixMilli(5000)
	ask := func(copied bourse.Seq) string {
		t.Helper()
		must(t, c.Ask(t.Context(), at, copied))
		b, err := os.ReadFile(filepath.Join(dir, "accounts.db"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}

	if got := ask(9); got != "" || !c.AsOf().IsZero() {
		t.Errorf("before the journal: %q as of %s", got, c.AsOf())
	}
	asked := at
	at = at.Add(time.Second)
	if got := ask(10); got != "first" || !c.AsOf().Equal(asked) {
		t.Errorf("with the journal: %q as of %s", got, c.AsOf())
	}
	if got := ask(10); got != "first" || !c.AsOf().Equal(at) {
		t.Errorf("unchanged: %q as of %s", got, c.AsOf())
	}
	content, stamp = "second", "two"
	s.clock.Add(int64(time.Minute))
	if got := ask(10); got != "second" {
		t.Errorf("changed: %q", got)
	}
}

// TestPartsOwnDisk tells a failure of the copy's disk from one of the source: each operation fails
// once.
func TestPartsOwnDisk(t *testing.T) {
	from := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(from, "signer"), 0o700))
	must(t, os.WriteFile(filepath.Join(from, "signer/record"), []byte("signed"), 0o600))
	part := func(name string, do func(context.Context, string) error) *standby.Part {
		return &standby.Part{
			Temporary: filepath.Join(t.TempDir(), name), Stamp: func() (string, error) { return "one", nil }, Make: do,
		}
	}
	parts := func(o *standby.SourceOptions) {
		o.Accounts = part("accounts", func(_ context.Context, to string) error { return os.WriteFile(to, []byte("rows"), 0o600) })
		o.Secrets = part("secrets", func(_ context.Context, to string) error { return standby.Pack(from, to, "signer") })
	}
	for name, of := range map[string]func(*standby.Peer, disk.Disk) *standby.Copied{
		"accounts": standby.CopyAccounts, "secrets": standby.CopySecrets,
	} {
		whole := memdisk.New(1)
		must(t, of(newSource(t, 1, parts).peer(), whole).Ask(t.Context(), time.UnixMilli(1), 1))
		for n := 1; n <= whole.Ops(); n++ {
			for cause, final := range map[error]bool{syscall.EIO: true, syscall.ENOSPC: false} {
				d := memdisk.New(1)
				d.FailAt(n, cause)
				err := of(newSource(t, 1, parts).peer(), d).Ask(t.Context(), time.UnixMilli(1), 1)
				synced := errors.Is(err, disk.ErrSync)
				if !errors.Is(err, cause) || errors.Is(err, standby.ErrDisk) != (final || synced) {
					t.Errorf("%s, operation %d of %d fails with %v: %v", name, n, whole.Ops(), cause, err)
				}
			}
		}
	}

	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Bourse-Seq", "1")
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	}))
	t.Cleanup(gone.Close)
	p, err := standby.NewPeer(gone.Listener.Addr().String(), &standby.Credentials{})
	must(t, err)
	if err := standby.CopyAccounts(p, memdisk.New(1)).Ask(t.Context(), time.UnixMilli(1), 1); err == nil || standby.Final(err) {
		t.Errorf("half a part: %v", err)
	}
}

// TestSecrets copies the directories of secrets, and takes no file elsewhere.
func TestSecrets(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"signer/record": "signed", "accounts/seed": "key", "devnet/BTC/blocks": "b", "other/x": "no"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(from, name), []byte(text), 0o600))
	}
	dirs := standby.Secrets()
	stamp := func() (string, error) {
		return standby.StampFiles(filepath.Join(from, "signer"), filepath.Join(from, "missing"))
	}
	before, err := stamp()
	must(t, err)
	part := &standby.Part{
		Temporary: filepath.Join(t.TempDir(), "outgoing"), Stamp: stamp,
		Make: func(_ context.Context, to string) error { return standby.Pack(from, to, dirs...) },
	}
	s := newSource(t, 1, func(o *standby.SourceOptions) { o.Secrets = part })
	d, err := disk.OpenExisting(dir)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	c := standby.CopySecrets(s.peer(), d)
	must(t, c.Ask(t.Context(), time.UnixMilli(1), 1))
	for name, want := range map[string]string{"signer/record": "signed", "accounts/seed": "key", "devnet/BTC/blocks": "b", "other/x": ""} {
		if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != want {
			t.Errorf("%s has %q", name, b)
		}
	}
	must(t, os.WriteFile(filepath.Join(from, "signer/record"), []byte("signed twice"), 0o600))
	if after, err := stamp(); err != nil || after == before {
		t.Errorf("a change is not seen: %v", err)
	}

	part.Stamp = func() (string, error) { return "forged", nil }
	part.Make = func(_ context.Context, to string) error { return standby.Pack(from, to, "other") }
	s.clock.Add(int64(time.Minute))
	if err := c.Ask(t.Context(), time.UnixMilli(2), 1); err == nil || !strings.Contains(err.Error(), "none of the secrets") {
		t.Errorf("a file elsewhere: %v", err)
	}
}
