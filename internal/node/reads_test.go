package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/record"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// readsRig is a replica that answers reads from a journal. The leader's bound is the test's.
type readsRig struct {
	*replica
	t   *testing.T
	log *filelog.Log
	// bound is the leader's, and asked is called when the leader is asked for it.
	bound forward.Bound
	err   error
	asked func()
	ended chan error
}

// newReadsRig returns a replica whose history had all up to a cursor at its start.
func newReadsRig(t *testing.T, cursor bourse.Seq) *readsRig {
	t.Helper()
	data := t.TempDir()
	d, err := disk.Open(data)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	id := journal.Identity{Exchange: [16]byte{1}, Sandbox: true}
	log, _, err := filelog.Open(d, journal.Options{Identity: id, SegmentSize: 256 << 10})
	must(err)
	o := Options{Data: data, Listen: "127.0.0.1:1", Log: slog.New(slog.DiscardHandler)}
	o.defaults()
	n := &Node{Options: o, disk: d, log: log, files: journal.NewFiles(d, id), failed: make(chan error, 1)}
	n.snapshots, n.tail = n.openSnapshots(id), history.NewTail(o.TailRows)
	n.voids, err = journal.LoadVoids(d, id)
	must(err)
	n.store, err = sqlhistory.Open(t.Context(), filepath.Join(data, HistoryDB))
	must(err)
	n.proxies = &edge.Proxies{Clock: time.Now, Log: n.Log}

	r := &readsRig{t: t, log: log, replica: &replica{Node: n}, asked: func() {}, ended: make(chan error, 1)}
	r.had = cursor
	r.openReads()
	r.reads.url = func() string { return "" }
	r.reads.elsewhere = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r.reads.bound = func(context.Context) (forward.Bound, error) {
		r.asked()
		return r.bound, r.err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.ended <- r.readBehind(ctx) }()
	for begun := false; !begun; runtime.Gosched() { // before, the leader answers
		r.reads.mu.Lock()
		begun = r.reads.start != ^bourse.Seq(0)
		r.reads.mu.Unlock()
	}
	t.Cleanup(func() {
		cancel()
		must(<-r.ended)
		must(errors.Join(n.store.Close(), log.Close(), d.Close()))
	})
	return r
}

// tick commits a frame at a second of the engine's time.
func (r *readsRig) tick(second bourse.Time) {
	r.t.Helper()
	err := r.log.Propose(journal.Proposal{
		ID: uint64(second), Count: 1, Time: second * bourse.Second, Commands: record.Append(nil, &bourse.Command{Kind: bourse.CommandTick}),
	})
	for more := err == nil; more; {
		more, err = r.log.Step()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if n, ok := r.log.Next(); !ok || n.Kind != journal.Committed {
		r.t.Fatalf("the frame was not committed: %+v", n)
	}
	r.reads.committed()
}

// time returns the second of the engine's time that a client reads; zero if the leader was to answer.
func (r *readsRig) time() (second bourse.Time, header http.Header) {
	r.t.Helper()
	q := httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, "/spot/time", nil)
	q.RemoteAddr = netip.AddrPortFrom(netip.IPv6Loopback(), 1).String()
	w := httptest.NewRecorder()
	if !isLocal(q.URL.Path) {
		r.t.Fatal("the time is not read here")
	}
	r.reads.ServeHTTP(w, q)
	if w.Code == http.StatusTeapot {
		return 0, w.Header()
	}
	var answer struct{ Time string }
	text, err := io.ReadAll(w.Body)
	if err = errors.Join(err, json.Unmarshal(text, &answer)); err == nil {
		_, err = fmt.Sscan(answer.Time, &second)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return second, w.Header()
}

// TestReadsAreOfTheBound has a replica answer with the state that the leader shows: it waits for that, and is never ahead of
// it, so that no client reads something older at the leader afterwards.
func TestReadsAreOfTheBound(t *testing.T) {
	r := newReadsRig(t, 0)
	for second := range bourse.Time(3) {
		r.tick(second + 1)
	}
	asOf := time.Now()
	for _, bound := range []bourse.Seq{1, 2} {
		r.bound = forward.Bound{Seq: bound, AsOf: asOf}
		second, header := r.time()
		if second != bourse.Time(bound) {
			t.Errorf("bound %d: second %d of the exchange is read", bound, second)
		}
		if got := header.Get("Bourse-Seq"); got != fmt.Sprint(bound) {
			t.Errorf("bound %d: Bourse-Seq %q", bound, got)
		}
		at, err := time.Parse(time.RFC3339, header.Get("Bourse-As-Of"))
		if err != nil || at.Sub(asOf).Abs() > time.Millisecond || header.Get("Bourse-Lag") == "" {
			t.Errorf("bound %d: %v, %v", bound, header, err)
		}
	}

	// The bound is beyond the journal's end, and the missing entries come while a client waits.
	r.bound.Seq = 5
	r.asked = func() {
		r.tick(4)
		r.tick(5)
		r.tick(6)
	}
	if second, _ := r.time(); second != 5 {
		t.Errorf("second %d of the exchange is read, not 5", second)
	}
	if served, sent := r.reads.served.Load(), r.reads.sent.Load(); served != 3 || sent != 0 {
		t.Errorf("%d reads were answered here, %d sent to the leader", served, sent)
	}
}

// TestReadsThatTheLeaderAnswers has the leader answer reads that a replica cannot answer soon: no leader names a bound, or the journal does not
// reach it, or the history is ahead of it.
func TestReadsThatTheLeaderAnswers(t *testing.T) {
	r := newReadsRig(t, 2)
	r.tick(1)
	r.tick(2)
	for _, c := range []struct {
		why   string
		bound bourse.Seq
		err   error
		here  bool
	}{
		{"no leader", 2, errors.New("no leader"), false},
		{"the history is ahead", 1, nil, false},
		{"all is here", 2, nil, true},
		{"a command is missing", 3, nil, false},
		{"all are missing", 1 << 40, nil, false},
	} {
		r.bound, r.err = forward.Bound{Seq: c.bound, AsOf: time.Now()}, c.err
		if second, header := r.time(); (second != 0) != c.here || (header.Get("Bourse-Seq") != "") != c.here {
			t.Errorf("%s: answered here with second %d, %v", c.why, second, header)
		}
	}
	if served, sent := r.reads.served.Load(), r.reads.sent.Load(); served != 1 || sent != 4 {
		t.Errorf("%d reads were answered here, %d sent to the leader", served, sent)
	}
}

// TestBoundsThatTheViewReaches tells a leader that answers from a view that has what it answers: streams that the leader sends need
// the former alone.
func TestBoundsThatTheViewReaches(t *testing.T) {
	r := newReadsRig(t, 0)
	r.tick(1)
	ended, end := context.WithCancel(t.Context())
	end()
	at := time.Now()
	for i, c := range []struct {
		seq            bourse.Seq
		err            error
		heard, reached time.Duration
	}{{1, nil, 0, 0}, {2, nil, 0, time.Second}, {2, errors.New("no leader"), time.Second, 2 * time.Second}, {1, nil, 0, 0}} {
		now := at.Add(time.Duration(i) * time.Second)
		r.bound, r.err = forward.Bound{Seq: c.seq, AsOf: now}, c.err
		ctx := t.Context()
		if c.seq > 1 {
			ctx = ended // the view does not reach it
		}
		_, _ = r.reads.catchUp(ctx)
		if heard, reached := r.reads.heard.age(now), r.reads.reached.age(now); heard.Round(time.Millisecond) != c.heard ||
			reached.Round(time.Millisecond) != c.reached {
			t.Errorf("question %d: a bound was heard %v and reached %v ago, want %v and %v", i, heard, reached, c.heard, c.reached)
		}
	}
}

// TestJournalEndsAtTheBound reads the journal up to the bound, frame by frame, although it has more.
func TestJournalEndsAtTheBound(t *testing.T) {
	r := newReadsRig(t, 0)
	for second := range bourse.Time(3) {
		r.tick(second + 1)
	}
	reader, err := r.files.ReadBehind(1, r.log.Durable)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	var allowed atomic.Uint64
	behind := &behind{Reader: reader, ctx: t.Context(), allowed: &allowed}
	for _, c := range []struct{ allowed, next uint64 }{{0, 0}, {1, 1}, {1, 0}, {3, 2}, {3, 3}, {9, 0}} {
		allowed.Store(c.allowed)
		switch b, err := behind.Next(); {
		case c.next == 0 && !errors.Is(err, io.EOF):
			t.Errorf("bound %d: %+v, %v", c.allowed, b, err)
		case c.next != 0 && (err != nil || uint64(b.Last()) != c.next):
			t.Errorf("bound %d: %+v, %v in place of frame %d", c.allowed, b, err, c.next)
		}
	}
}

// TestHistoryStaysBehindTheView lets the follower of a replica go up to the view, or to the history's last command at the start.
func TestHistoryStaysBehindTheView(t *testing.T) {
	r := newReadsRig(t, 1)
	for second := range bourse.Time(3) {
		r.tick(second + 1)
	}
	if at := r.followable(1); at != 1 {
		t.Errorf("the follower may apply %d, although the leader has shown nothing yet", at)
	}
	r.bound = forward.Bound{Seq: 2, AsOf: time.Now()}
	if second, _ := r.time(); second != 2 || r.followable(1) != 2 {
		t.Errorf("the follower may apply %d, the view is of second %d", r.followable(1), second)
	}
}

// TestHistoryStaysBehindTheLeadersView commits a frame that a leader's view does not have yet. The bound of replicas lacks it, and so
// must the history, which the leader's clients read.
func TestHistoryStaysBehindTheLeadersView(t *testing.T) {
	n := assembled(t, Options{})
	n.stopLine()
	n.running.Wait()
	shown := n.view.Seq()
	err := n.log.Propose(journal.Proposal{
		ID: 1 << 60, Count: 1, Time: n.engine.Now() + 60*bourse.Second, Commands: record.Append(nil, &bourse.Command{Kind: bourse.CommandTick}),
	})
	for more := err == nil; more; {
		more, err = n.log.Step()
	}
	for more := err == nil; more; {
		more, err = n.follower.Step(t.Context())
	}
	if err != nil || n.log.Durable() <= shown {
		t.Fatalf("the journal ends at %d, the view shows %d: %v", n.log.Durable(), shown, err)
	}
	if at := n.follower.Seq(); at != shown {
		t.Errorf("the history has all up to %d, the view up to %d", at, shown)
	}
}

// TestPrivateReadsAreTheLeaders leaves requests with keys, and other paths, to the leader.
func TestPrivateReadsAreTheLeaders(t *testing.T) {
	for path, here := range map[string]bool{
		"/spot/markets": true, "/spot/markets_ex": true, "/spot/orderbook": true, "/spot/trades": true, "/spot/candlestick": true,
		"/spot/config": true, "/spot/time": true, "/info/spot_fees": true, "/info/withdrawal_fees": true,
		"/spot/open_orders": false, "/spot/open_orders/new": false, "/spot/order": false, "/spot/limits": false,
		"/info/banner": false, "/wallet/assets": true, "/wallet/networks": false, "/wallet/balances": false, "/stream": false, "/spot//time": false, "/": false, "": false, "/bound": false,
	} {
		if got := isLocal(path); got != here {
			t.Errorf("%s: %t, want %t", path, got, here)
		}
	}
}
