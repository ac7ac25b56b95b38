package node

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/view"
)

// archived is a log whose live segments begin behind what is read.
type archived struct{ journal.Log }

func (archived) Read(bourse.Seq) (journal.Reader, error) { return nil, journal.ErrCompacted }

// TestTakeoverReadsToTheCommit reads the journal of a node that has just begun to lead. No entry of its
// files proves the last one to be committed yet; its log knows. A takeover finds the history's last
// command there, and replays up to it.
func TestTakeoverReadsToTheCommit(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	data := t.TempDir()
	d, err := disk.Open(data)
	must(err)
	t.Cleanup(func() { _ = d.Close() })
	c := cluster.Config{
		Exchange: "000102030405060708090a0b0c0d0e0f", Sandbox: true, Epoch: 1,
		Nodes: []cluster.Member{{Node: 1, Address: "127.0.0.1:0"}},
	}
	must(cluster.Found(c, []disk.Disk{d}, time.Now(), 0))
	config, err := cluster.LoadConfig(d)
	must(err)
	member, err := cluster.Open(t.Context(), &cluster.Parts{
		Data: data, Disk: d, Clock: time.Now, After: time.After, Log: slog.New(slog.DiscardHandler),
	}, config, journal.Options{})
	must(err)
	t.Cleanup(func() { _ = member.Log.Close() })
	ticks := make(chan time.Time)
	t.Cleanup(background(context.Background(), func(ctx context.Context) { member.Run(ctx, ticks) }))

	next := func(kind journal.NoticeKind) journal.Notice {
		for {
			if n, ok := member.Log.Next(); ok && n.Kind == kind {
				return *n
			}
			select {
			case ticks <- time.Time{}:
			case <-member.Log.Ready():
			case err := <-member.Failed():
				t.Fatal(err)
			}
		}
	}
	identity, err := config.Identity()
	must(err)
	voids, err := journal.LoadVoids(d, identity)
	must(err)
	leading := &Node{Options: Options{Member: member}, identity: identity, log: member.Log, voids: voids, view: view.New()}
	if _, err := leading.shown(t.Context()); err == nil {
		t.Error("a node that does not lead names a bound for others' reads")
	}
	if h, err := leading.helloNow(t.Context()); err == nil {
		t.Errorf("a node that does not lead tells a standby that nothing is missing: %+v", h)
	}
	next(journal.Role)
	if _, err := leading.shown(t.Context()); err != nil {
		t.Errorf("the leader names no bound: %v", err)
	}
	if _, err := leading.helloNow(t.Context()); err != nil {
		t.Errorf("the leader tells a standby nothing: %v", err)
	}
	must(member.Log.Propose(journal.Proposal{ID: 1, Count: 2, Time: 1, Commands: []byte("ab")}))
	batch := next(journal.Committed).Batch

	n := &Node{Options: Options{Log: slog.New(slog.DiscardHandler)}, log: archived{member.Log}, files: journal.NewFiles(d, identity)}
	if ours, err := n.holds(batch.Last(), batch.Chain); err != nil || !ours {
		t.Errorf("the journal holds its last command: %v, %v", ours, err)
	}
	must(n.read(0, func(r journal.Reader, _ func(bourse.Seq)) error {
		b, err := r.Next()
		if err == nil && b.Last() != 2 {
			t.Errorf("the journal is read to %d, not 2", b.Last())
		}
		return err
	}))
}

// TestLastAnswers wants a request in flight to be answered by a leader that was replaced, which takes no more, and
// not to keep it for longer than it waits.
func TestLastAnswers(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		w.WriteHeader(http.StatusTeapot)
	}))
	ask := func() <-chan int {
		status := make(chan int, 1)
		go func() {
			res, err := http.Get(server.URL)
			if err != nil {
				status <- 0
				return
			}
			_ = res.Body.Close()
			status <- res.StatusCode
		}()
		<-arrived
		return status
	}

	status := ask()
	late, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	answerLast(late, []stoppable{server.Config}) // does not wait for the request
	go func() {
		defer close(done)
		answerLast(t.Context(), []stoppable{server.Config})
	}()
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("it takes another connection")
	}
	select {
	case <-done:
		t.Error("it did not wait for the request in flight")
	default:
	}
	close(release)
	if got := <-status; got != http.StatusTeapot {
		t.Errorf("the request in flight is answered with %d", got)
	}
	<-done
}
