package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
)

var unrestFlag = flag.Bool("unrest", false, "with -nodes=3: let another node lead every 5 seconds, and kill the leader every 30")

const (
	handoverEvery = 5 * time.Second
	// killEach is how many changes have one that is a kill: one each 30 seconds.
	killEach = 6
	// leadWithin bounds the time in which a node leads again.
	leadWithin = 30 * time.Second
	// mostRuns bounds the runs of a check whose exchange changed its leader meanwhile. Its next run is undisturbed.
	mostRuns = 12
	// mostUndisturbed bounds the checks with an undisturbed run: on a machine under load, long computations need one.
	mostUndisturbed = 5
)

// cluster is the nodes of an exchange. With unrest it changes their leader and stands between them and the
// checks: it forwards to the leader, and sends again what was not taken.
type cluster struct {
	binary, data string
	parent       *exec.Cmd
	nodes        []outside.Node
	sockets      []*http.Client
	transport    http.Transport
	// at is the index of the node that is thought to lead.
	at atomic.Int64
	// checks is the number of checks that run now. Without one no leader changes.
	checks atomic.Int64
	// changing is held while the leader changes; turns counts the changes begun.
	changing         sync.Mutex
	turns            atomic.Uint64
	repeats          atomic.Int64
	undisturbed      atomic.Int64
	handovers, kills int
}

// launchNodes starts an exchange of several nodes on a data directory.
func launchNodes(parent *exec.Cmd, data string) (*cluster, error) {
	u := &cluster{binary: parent.Path, data: data, parent: parent, transport: http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}
	parent.Args = append(parent.Args, fmt.Sprint("--nodes=", *nodesFlag), "--restart")
	var err error
	if u.nodes, err = outside.Nodes(parent, *nodesFlag); err != nil {
		return nil, err
	}
	for i, n := range u.nodes {
		u.sockets = append(u.sockets, outside.Socket(u.dir(i), 0))
		if n.Role == "leader" {
			u.at.Store(int64(i))
		}
	}
	return u, nil
}

// dir returns the data directory of the node of an index.
func (u *cluster) dir(at int) string {
	return filepath.Join(u.data, strconv.FormatUint(u.nodes[at].Node, 10))
}

// port returns the port of the leader, at which pages are.
func (u *cluster) port() string {
	_, port, _ := net.SplitHostPort(u.nodes[u.at.Load()].Listen) // it was dialed
	return port
}

// url returns the leader's address, or that of a replica; with unrest, that of a proxy that knows which node leads.
func (u *cluster) url() string {
	if !*unrestFlag {
		at := u.at.Load()
		if *replicaFlag {
			at = (at + 1) % int64(len(u.nodes))
		}
		return "http://" + u.nodes[at].Listen
	}
	return httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "leader", r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it is, also if it is malformed
		},
		Transport: u,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { // the outcome is unknown
			w.WriteHeader(http.StatusBadGateway)
		},
	}).URL
}

// taken calls send with the index of a node until it is taken there, and returns its error. While it is not,
// another node is asked.
func (u *cluster) taken(send func(at int) (taken bool, err error)) error {
	end, every := time.NewTimer(leadWithin), time.NewTicker(20*time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for {
		at := u.at.Load()
		taken, err := send(int(at))
		if taken {
			return err
		}
		u.at.CompareAndSwap(at, (at+1)%int64(len(u.nodes)))
		select {
		case <-end.C:
			return errors.Join(errors.New("no node leads"), err)
		case <-every.C:
		}
	}
}

// RoundTrip sends a request to the leader.
func (u *cluster) RoundTrip(r *http.Request) (res *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	err = u.taken(func(at int) (bool, error) {
		again := r.Clone(r.Context())
		again.URL.Host, again.Body = u.nodes[at].Listen, io.NopCloser(bytes.NewReader(body))
		if res, err = u.transport.RoundTrip(again); err != nil { //nolint:bodyclose // RoundTrip's caller does
			return !undialed(err), err
		}
		return !refused(res), nil
	})
	return res, err
}

// undialed reports whether a request failed because nobody listens.
func undialed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// notTaken is in each answer to a request that was not taken.
const notTaken = "was not taken"

// longestRefusal is more than such an answer has, in bytes.
const longestRefusal = 4 << 10

// refused reports whether an answer says that its request was not taken. The body can be read again.
func refused(res *http.Response) bool {
	if res.StatusCode == http.StatusSwitchingProtocols || res.ContentLength < 0 || res.ContentLength > longestRefusal {
		return false
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(notTaken))
}

// disturb changes the leader until calm ends it.
func (u *cluster) disturb(name string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- u.unrest(ctx) }()
	unrests.mu.Lock()
	defer unrests.mu.Unlock()
	unrests.ends = append(unrests.ends, func() error {
		cancel()
		err := <-done
		fmt.Printf("%s: another node led %d times, %d of them after a kill; %d runs of checks were repeated, "+
			"%d checks were undisturbed at last\n", name, u.handovers+u.kills, u.kills, u.repeats.Load(), u.undisturbed.Load())
		return err
	})
}

// unrests are the clusters whose leaders change, each with a function that ends that and returns why it failed.
var unrests struct {
	mu   sync.Mutex
	ends []func() error
}

// calm ends all unrest.
func calm() (err error) {
	unrests.mu.Lock()
	defer unrests.mu.Unlock()
	for _, end := range unrests.ends {
		err = errors.Join(err, end())
	}
	return err
}

// unrest changes the leader until ctx ends, while checks run: the first time once the first one has begun.
func (u *cluster) unrest(ctx context.Context) error {
	last := time.Time{}
	for look := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return nil
		case now := <-look.C:
			if u.checks.Load() == 0 || now.Sub(last) < handoverEvery {
				continue
			}
			last = now
		}
		if err := u.change(); err != nil {
			return err
		}
	}
}

// change lets another node lead.
func (u *cluster) change() (err error) {
	u.changing.Lock()
	defer u.changing.Unlock()
	if u.turns.Add(1)%killEach == 0 {
		u.kills++
		err = u.kill()
	} else {
		u.handovers++
		err = u.handOver()
	}
	if err != nil {
		return err
	}
	return u.lead()
}

// settled waits until no change is under way, and returns how many there were.
func (u *cluster) settled() (turns uint64) {
	u.changing.Lock()
	defer u.changing.Unlock()
	return u.turns.Load()
}

// handOver asks the leader to let another node lead.
func (u *cluster) handOver() error {
	return u.taken(func(at int) (bool, error) {
		out, err := exec.Command(u.binary, "cluster", "transfer", "--data", u.dir(at)).CombinedOutput()
		if err != nil {
			return false, fmt.Errorf("%w: %s", err, out)
		}
		return true, nil
	})
}

// kill ends the leader's process without a warning. Its parent starts it again.
func (u *cluster) kill() error {
	return u.taken(func(at int) (bool, error) {
		if leads, err := u.leads(at); !leads {
			return false, err
		}
		for _, word := range u.children() {
			line, err := os.ReadFile("/proc/" + word + "/cmdline")
			if err != nil || !strings.Contains(string(line), fmt.Sprintf("\x00--node=%d\x00", u.nodes[at].Node)) {
				continue
			}
			pid, err := strconv.Atoi(word)
			return true, errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
		}
		return true, fmt.Errorf("no process is node %d", u.nodes[at].Node)
	})
}

// children returns the ids of the processes that the parent's threads started.
func (u *cluster) children() (ids []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", u.parent.Process.Pid)) // the pattern is right
	for _, list := range lists {
		words, _ := os.ReadFile(list) // the thread may have ended
		ids = append(ids, strings.Fields(string(words))...)
	}
	return ids
}

// lead waits until a node leads.
func (u *cluster) lead() error {
	return u.taken(u.leads)
}

// leads reports whether the node of an index leads.
func (u *cluster) leads(at int) (bool, error) {
	res, err := http.Get("http://" + u.nodes[at].Listen + "/readyz")
	if err != nil {
		return false, err
	}
	var is struct {
		Cluster struct{ Role string } // it describes a replica
	}
	err = json.NewDecoder(res.Body).Decode(&is)
	return res.StatusCode == http.StatusOK && is.Cluster.Role == "", errors.Join(err, res.Body.Close())
}

// examine runs a check. One that fails is run again if the leader changed meanwhile: its connections may have
// ended, and answers may be lost. No check is exempt but [TestMutations], which examines checks.
func (u *cluster) examine(t *testing.T, e *exchange, c check) {
	u.checks.Add(1)
	defer u.checks.Add(-1)
	for range mostRuns {
		before := u.settled()
		r := observe(c, &exam{exchange: e, url: e.url, patience: patience})
		if len(r.failures) == 0 {
			return
		}
		if u.turns.Load() == before {
			t.Errorf("no leader changed meanwhile:\n%s", strings.Join(r.failures, "\n"))
			return
		}
		u.repeats.Add(1)
		t.Logf("again, because the leader changed:\n%s", strings.Join(r.failures, "\n"))
	}

	u.changing.Lock()
	defer u.changing.Unlock()
	if u.undisturbed.Add(1) > mostUndisturbed {
		t.Errorf("the leader changed in each of %d runs, and %d other checks were undisturbed", mostRuns, mostUndisturbed)
		return
	}
	t.Logf("the leader changed in each of %d runs: the next one is undisturbed", mostRuns)
	c(&exam{T: t, exchange: e, url: e.url, patience: patience})
}
