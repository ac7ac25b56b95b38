package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/infov1"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// keepUpEvery is the time between two questions to the leader while the journal grows and no client asks, so that the first
	// one who does finds the view near. It is streamEvery while clients have streams, whose messages wait for the view.
	keepUpEvery = 50 * time.Millisecond
	streamEvery = 5 * time.Millisecond
	// reachWithin bounds the time for which a read waits for the view before it goes to the leader.
	reachWithin = 250 * time.Millisecond
	// mostBehind is the number of commands behind the leader with which a read goes there at once: about as many as the view
	// applies within reachWithin.
	mostBehind = 100_000
)

// reads are a replica's own answers: public market data, from a view of its own.
//
// The view applies no command that the leader does not show yet. So a client that reads here, and then at the leader or at
// another replica, never reads anything older there.
type reads struct {
	// bound asks the leader for a bound.
	bound func(context.Context) (forward.Bound, error)
	clock func() time.Time
	// url returns the exchange's address in answers, make the handler with one. answers is the newest.
	url     func() string
	make    func(url string) *answers
	answers atomic.Pointer[answers]
	// elsewhere serves a request that is not answered here.
	elsewhere http.Handler

	// sequencer applies the journal to the view. Owned by run.
	sequencer *sequencer.Sequencer
	// allowed is the highest bound of the leader. raised receives when it has risen, or the journal may have more below it.
	allowed atomic.Uint64
	raised  chan struct{}

	// Guarded by mu: applied is the view's last command, and moved is closed and replaced when it rises. start is the first bound
	// that may be answered: view and history have all commands up to it since the start.
	mu             sync.Mutex
	applied, start bourse.Seq
	moved          chan struct{}
	// heard is the time of the newest bound, reached of the newest one that the view has reached.
	heard, reached newest
	// served counts this node's own answers, sent the reads that it sent to the leader.
	served, sent atomic.Uint64
}

// openReads makes the view, which is empty before readBehind.
func (r *replica) openReads() {
	r.view = view.New()
	r.reader = history.NewReader(r.store, r.tail, r.view)
	r.encoder = coding.NewEncoder(runtime.GOMAXPROCS(0))
	r.openPublisher()
	r.reads = &reads{
		clock: time.Now, url: r.publicURL, make: r.newAnswers, start: ^bourse.Seq(0), raised: make(chan struct{}, 1),
		moved: make(chan struct{}),
	}
}

// restoreReads restores the view from the newest snapshot.
func (r *replica) restoreReads() error {
	observers := r.observers()
	own := engine.New()
	snapshot, found, err := r.newestSnapshot(r.log.Durable())
	if err != nil {
		return err
	}
	if found {
		if own, err = sequencer.Restore(snapshot.Section, observers); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
	}
	r.reads.sequencer = sequencer.New(sequencer.Options{Engine: own, Observers: observers, Voided: r.voids.Has})
	r.reads.begin(own.Seq(), r.had)
	return nil
}

// localPaths are the endpoints that need the view and the history alone, by the prefix of their paths.
var localPaths = map[string][]string{
	"/info":   {"/spot_fees", "/withdrawal_fees"},
	"/spot":   {"/markets", "/markets_ex", "/orderbook", "/trades", "/candlestick", "/config", "/time"},
	"/wallet": {"/assets"},
}

// isLocal reports whether a replica answers reads of a path by itself.
func isLocal(path string) bool {
	last := max(strings.LastIndexByte(path, '/'), 0)
	return slices.Contains(localPaths[path[:last]], path[last:])
}

// answers is the handler of a replica's own answers. url is the exchange's address in them.
type answers struct {
	http.Handler
	url string
}

// newAnswers returns the handler of the replica's own answers.
func (r *replica) newAnswers(url string) *answers {
	money := teller.Teller{View: r.view, PublicURL: url}
	all := map[string][]api.Endpoint{
		"/info": (&infov1.Info{Teller: money}).Endpoints(),
		"/spot": (&spotv1.Spot{
			View: r.view, History: r.reader, PublicURL: url, DefaultPair: sandbox.DefaultPair,
		}).Endpoints(),
		"/wallet": (&walletv1.Wallet{Teller: money}).Endpoints(),
	}
	rest := &api.Server{
		From: r.proxies.From, Limits: r.limits, Observe: func(string, int, bool, time.Duration) {}, Clock: time.Now, After: time.After,
		Log: r.Log, Patience: patience, Encoder: r.encoder,
	}

	mux := http.NewServeMux()
	for prefix, paths := range localPaths {
		public := slices.DeleteFunc(all[prefix], func(e api.Endpoint) bool { return !slices.Contains(paths, e.Path) })
		rest.Handle(mux, prefix, public)
	}
	return &answers{r.endingBroken(api.Transport(mux, rest.Missing())), url}
}

// publicURL returns the exchange's address in answers: the same one at all nodes.
func (r *replica) publicURL() string {
	if r.PublicURL != "" {
		return r.PublicURL
	}
	if leader := r.Member.Leader(); leader != nil {
		return "http://" + leader.Listen
	}
	return ""
}

// readBehind restores the view, and reads the journal behind it until ctx ends.
func (r *replica) readBehind(ctx context.Context) error {
	if err := r.restoreReads(); err != nil {
		return err
	}
	reader, err := r.files.ReadBehind(r.reads.seq()+1, r.log.Durable)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	err = r.reads.run(ctx, reader)
	return errors.Join(err, reader.Close())
}

// followable is the last command that the follower may apply: the history is never ahead of the view, but for what it had
// at the start.
func (r *replica) followable(cursor bourse.Seq) bourse.Seq { return max(cursor, r.reads.seq()) }

// run applies the journal to the view, up to the bound, until ctx ends.
func (r *reads) run(ctx context.Context, journal journal.Reader) error {
	behind := &behind{Reader: journal, ctx: ctx, allowed: &r.allowed}
	for {
		if err := r.sequencer.Replay(behind, r.reach); err != nil {
			return fmt.Errorf("applying the journal: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.raised:
		}
	}
}

// behind reads a journal up to a bound: the frames behind it are for later.
type behind struct {
	journal.Reader
	ctx     context.Context //nolint:containedctx // it ends a replay in its midst
	allowed *atomic.Uint64
	// held is a frame that was read and not returned.
	held *journal.Batch
}

// Next returns the next frame, or io.EOF while that is beyond the bound.
func (b *behind) Next() (frame *journal.Batch, err error) {
	if b.ctx.Err() != nil {
		return nil, io.EOF
	}
	if b.held == nil {
		if b.held, err = b.Reader.Next(); err != nil {
			return nil, err
		}
	}
	if uint64(b.held.Last()) > b.allowed.Load() {
		return nil, io.EOF
	}
	frame, b.held = b.held, nil
	return frame, nil
}

// begin notes the last command of the restored view, and that of the history.
func (r *reads) begin(restored, had bourse.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied, r.start = restored, max(restored, had)
}

// answerable reports whether the view may answer with a bound, or will soon.
func (r *reads) answerable(bound bourse.Seq) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bound >= r.start && bound <= r.applied+mostBehind
}

// reach notes the last command that the view has applied.
func (r *reads) reach(seq bourse.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied = seq
	close(r.moved)
	r.moved = make(chan struct{})
}

// seq returns the last command that the view has applied.
func (r *reads) seq() bourse.Seq {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.applied
}

// await waits until the view has applied a command.
func (r *reads) await(ctx context.Context, seq bourse.Seq) error {
	for {
		r.mu.Lock()
		applied, moved := r.applied, r.moved
		r.mu.Unlock()
		if applied >= seq {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// committed tells run that the journal has more.
func (r *reads) committed() {
	if r.allowed.Load() > uint64(r.seq()) {
		r.wake()
	}
}

func (r *reads) wake() {
	select {
	case r.raised <- struct{}{}:
	default: // it is known
	}
}

var errBehind = errors.New("the view is too far from the leader's")

// catchUp waits until the view shows all that the leader showed when it was asked.
func (r *reads) catchUp(ctx context.Context) (forward.Bound, error) {
	b, err := r.bound(ctx)
	if err != nil {
		return b, err
	}
	r.heard.note(b.AsOf)
	for at := r.allowed.Load(); at < uint64(b.Seq); at = r.allowed.Load() {
		if r.allowed.CompareAndSwap(at, uint64(b.Seq)) {
			r.wake()
		}
	}
	if !r.answerable(b.Seq) {
		return b, errBehind
	}
	if err := r.await(ctx, b.Seq); err != nil {
		return b, err
	}
	r.reached.note(b.AsOf)
	return b, nil
}

// newest is the newest of the times that were noted. It keeps the monotonic clock's: a step of the machine's time is no age.
type newest struct{ at atomic.Pointer[time.Time] }

func (n *newest) note(t time.Time) {
	for at := n.at.Load(); (at == nil || at.Before(t)) && !n.at.CompareAndSwap(at, &t); at = n.at.Load() {
	}
}

// age returns the time that has passed since; the longest one if none was noted.
func (n *newest) age(now time.Time) time.Duration {
	if at := n.at.Load(); at != nil {
		return now.Sub(*at)
	}
	return math.MaxInt64
}

// keepUp keeps the view near the leader while the journal grows, and learns that there is one while clients have streams.
func (r *replica) keepUp(ctx context.Context) error {
	var asked time.Time
	return every(ctx, streamEvery, func() {
		now, wait := r.reads.clock(), confirmEvery
		grown, streams := r.log.Durable() > r.reads.seq(), r.streams.Len() > 0
		switch {
		case grown && streams:
			wait = 0
		case grown:
			wait = keepUpEvery
		case !streams:
			return
		}
		if now.Sub(asked) < wait {
			return
		}
		asked = now
		late, cancel := context.WithTimeout(ctx, reachWithin)
		defer cancel()
		_, _ = r.reads.catchUp(late) // the next question comes soon
	})
}

// current returns the handler with the exchange's address of now, or for the last one that was known.
func (r *reads) current() *answers {
	a, url := r.answers.Load(), r.url()
	if a == nil || url != "" && a.url != url {
		a = r.make(url)
		r.answers.Store(a)
	}
	return a
}

// ServeHTTP answers a read from the view, or has the leader answer if that cannot be done soon.
func (r *reads) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeout(q.Context(), reachWithin)
	defer cancel()
	b, err := r.catchUp(ctx)
	if err != nil {
		r.sent.Add(1)
		r.elsewhere.ServeHTTP(w, q)
		return
	}

	r.served.Add(1)
	h := w.Header()
	h.Set("Bourse-Seq", strconv.FormatUint(uint64(b.Seq), 10))
	h.Set("Bourse-As-Of", b.AsOf.UTC().Format("2006-01-02T15:04:05.000Z"))
	h.Set("Bourse-Lag", strconv.FormatInt(max(r.clock().Sub(b.AsOf).Milliseconds(), 0), 10))
	r.current().ServeHTTP(w, q)
}

// readsStatus describes the reads to operators.
type readsStatus struct {
	// Seq is the last command that reads show.
	Seq bourse.Seq `json:"seq"`
	// Answered counts this process's own answers to public reads, Forwarded the reads that it sent to the leader.
	Answered  uint64 `json:"answered"`
	Forwarded uint64 `json:"forwarded"`
}

func (r *reads) status() readsStatus { return readsStatus{r.seq(), r.served.Load(), r.sent.Load()} }

// registry returns the metrics of a replica.
func (r *replica) registry() *prometheus.Registry {
	counter := func(name, help string, of *atomic.Uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of.Load()) })
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(ofProcess()...)
	registry.MustRegister(
		gauge("bourse_replica_seq", "Last command that the replica's reads show.", func() float64 { return float64(r.reads.seq()) }),
		gauge("bourse_replica_lag_seconds", "Time since the replica had all that its leader said was committed; -0.001 if it never had.",
			func() float64 { return float64(r.place().LagMS) / 1000 }),
		gauge("bourse_follower_seq", "Last command that the follower has applied.", func() float64 { return float64(r.follower.Seq()) }),
		gauge("bourse_replica_streams", "Connections to which the replica sends streams.", func() float64 { return float64(r.streams.Len()) }),
		gauge("bourse_replica_streams_forwarded", "Connections of clients that the replica carries to the leader.",
			func() float64 { return float64(r.forwarder.Streams()) }),
		counter("bourse_replica_reads_answered_total", "Public reads that the replica answered.", &r.reads.served),
		counter("bourse_replica_reads_forwarded_total", "Public reads that the replica sent to the leader.", &r.reads.sent),
	)
	return registry
}
