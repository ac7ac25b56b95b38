package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
	"github.com/bourse-exchange/bourse/internal/standby"
)

const (
	// probeEvery is the time between two probes, and so about the least lag that is shown.
	probeEvery = 20 * time.Millisecond
	// partsEvery is the time between two looks at accounts and secrets, statesEvery that between
	// two comparisons of states.
	partsEvery  = 250 * time.Millisecond
	statesEvery = time.Second
	// firstAgain and lastAgain bound the wait before a stream is opened again.
	firstAgain = 50 * time.Millisecond
	lastAgain  = 2 * time.Second
	// appliedWithin is the number of commands behind the source within which states are compared:
	// a copy that catches up spends its time on that.
	appliedWithin = 100_000
)

// FollowOptions configure a standby.
type FollowOptions struct {
	// Source is the node port of the exchange. Of a cluster it lists those of all nodes, separated by commas.
	Source      string
	Data        string
	Credentials standby.Credentials
	// OpenLog opens the copy of the journal, and begins one if there is none.
	OpenLog func(disk.Disk, journal.Options) (standby.CopyLog, *journal.Recovery, error)
	// Accounts is the URL of the server with the accounts; empty to copy them.
	Accounts string
	// MetricsListen is the address of metrics; none are served if it is empty.
	MetricsListen string
	// SegmentSize and SnapshotEvery are as in Options.
	SegmentSize   int64
	SnapshotEvery uint64
	Version       string
	Log           *slog.Logger
	// Following is called once the copy goes on.
	Following func()
}

// copying keeps a copy of an exchange. It has the parts of a Node that need no live engine.
type copying struct {
	*Node
	o     FollowOptions
	peer  *standby.Peer
	copy  standby.CopyLog
	lag   standby.Lag
	parts []*standby.Copied
	// reached is when the server with the accounts answered last.
	reached atomic.Int64

	// raised is the incarnation that the copy's engine has reached.
	raised atomic.Uint32

	// states are those of the copy, at the source's interval. compared is the last command after which
	// both were equal.
	states   *standby.States
	compared atomic.Uint64

	connected atomic.Bool
	// cut ends the stream; nil before the first one.
	cut atomic.Pointer[context.CancelFunc]
	// streams counts the streams that ended; problemMu guards the last one's problem.
	streams   atomic.Uint64
	problemMu sync.Mutex
	problem   error
}

// Follow keeps a copy of an exchange until ctx ends. An error says why the copy cannot go on.
func Follow(ctx context.Context, o FollowOptions) (err error) {
	c := &copying{o: o, Node: &Node{
		Options: Options{
			Data: o.Data, Accounts: o.Accounts, SegmentSize: o.SegmentSize, SnapshotEvery: o.SnapshotEvery, Version: o.Version,
			Log: o.Log,
		},
		failed: make(chan error, 1),
	}}
	c.states = standby.NewStates(c.nearly, engine.StateVersion)
	c.defaults()
	defer func() { err = errors.Join(err, c.close()) }()
	if c.peer, err = standby.NewPeer(o.Source, &o.Credentials); err != nil {
		return err
	}
	defer c.peer.Close()

	if err := c.open(ctx); err != nil {
		return err
	}
	return c.run(ctx)
}

// open opens the copy, or begins one.
func (c *copying) open(ctx context.Context) (err error) {
	if c.disk, err = disk.Open(c.Data); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	c.closers = append(c.closers, c.disk)
	theirs, unreached, err := c.identify(ctx)
	if err != nil {
		return err
	}

	log, recovered, err := c.o.OpenLog(c.disk, journal.Options{
		Identity: c.identity, SegmentSize: c.SegmentSize, Reserve: c.reserved.Load,
		Progress: c.progress("verifying the copy of the journal"),
	})
	if err != nil {
		return fmt.Errorf("copy of the journal in %s: %w", c.Data, err)
	}
	c.copy, c.log = log, log
	c.closers = append(c.closers, log)
	c.reportRecovery(recovered)
	return c.openCopy(ctx, &theirs, unreached)
}

// identify reads or sets the identity of the copy, and asks the source. That must have answered the first time.
func (c *copying) identify(ctx context.Context) (theirs standby.Hello, unreached, err error) {
	role, err := standby.ReadRole(c.disk)
	if err != nil {
		return theirs, nil, err
	}
	identity, exists, err := journal.Identify(c.disk)
	switch {
	case err != nil:
		return theirs, nil, fmt.Errorf("journal in %s: %w", c.Data, err)
	case exists && role.Follows == "":
		return theirs, nil, fmt.Errorf("%s is an exchange, no standby: follow into an empty directory", c.Data)
	case role.Differs != "":
		return theirs, nil, fmt.Errorf("%s cannot go on: %s", c.Data, role.Differs)
	}

	c.identity = identity
	theirs, unreached = c.peer.Find(ctx, func(theirs *standby.Hello) (err error) {
		id := identity
		if !exists {
			if id, err = theirs.Identity(); err != nil {
				return err
			}
		}
		own := c.helloOf(id)
		return own.Source(theirs)
	})
	switch {
	case standby.Final(unreached):
		return theirs, nil, unreached
	case !exists && unreached != nil:
		return theirs, nil, fmt.Errorf("the source: %w", unreached)
	case !exists:
		if c.identity, err = theirs.Identity(); err != nil {
			return theirs, nil, err
		}
	}
	if c.o.Credentials.Plain() && !c.identity.Sandbox {
		return theirs, nil, standby.ErrPlain
	}
	role.Follows = c.o.Source
	return theirs, unreached, role.Write(c.disk)
}

// own returns the copy's own greeting.
func (c *copying) own() standby.Hello { return c.helloOf(c.identity) }

// helloOf is own for an identity.
func (c *copying) helloOf(id journal.Identity) standby.Hello {
	h := standby.NewHello(id, c.Version)
	h.Standby = true
	if c.voids != nil {
		h.Incarnation, h.Voids = bourse.Incarnation(c.raised.Load()), len(c.voids.All())
	}
	return h
}

// openCopy opens the journal's companions: voids, snapshots and history.
func (c *copying) openCopy(ctx context.Context, theirs *standby.Hello, unreached error) (err error) {
	c.files, c.snapshots = journal.NewFiles(c.disk, c.identity), c.openSnapshots(c.identity)
	if c.voids, err = journal.LoadVoids(c.disk, c.identity); err != nil {
		return fmt.Errorf("voided commands: %w", err)
	}
	if unreached == nil {
		if err := c.copyVoids(ctx); err != nil {
			return err
		}
		c.states.SetInterval(theirs.CompareEvery)
	}
	if err := c.checkAccounts(theirs, unreached); err != nil {
		return err
	}

	if c.store, err = sqlhistory.Open(ctx, c.at("", HistoryDB)); err != nil {
		return fmt.Errorf("%s: %w", c.historyPlace(), err)
	}
	c.closers = append(c.closers, c.store)
	c.tail = history.NewTail(c.TailRows)
	cursor, err := c.cursor(ctx)
	if err != nil {
		return err
	}
	return c.openFollower(ctx, cursor, c.log.Durable)
}

// hook follows the engine of the copy.
func (c *copying) hook() {
	c.raised.Store(uint32(c.follower.Engine.Incarnation()))
	c.follower.Frame = func(tip *journal.Tip, hash func() [32]byte) {
		c.raised.Store(uint32(c.follower.Engine.Incarnation()))
		c.states.Frame(tip, hash)
	}
}

// nearly reports whether the copy is near its source.
func (c *copying) nearly() bool {
	_, source := c.lag.At(c.log.Durable())
	return source > 0 && c.follower.Seq()+appliedWithin > source
}

// copyVoids takes the commands out of effect that the source's operators did. The engine of the
// copy cannot have applied them: no engine can.
func (c *copying) copyVoids(ctx context.Context) error {
	list, err := c.peer.Voids(ctx)
	if err != nil {
		return err
	}
	for _, v := range list {
		if c.voids.Has(v.Seq) {
			continue
		}
		if err := c.voids.Append(v); err != nil {
			return err
		}
	}
	return nil
}

// checkAccounts refuses to copy accounts that are on a server, and the other way round.
func (c *copying) checkAccounts(theirs *standby.Hello, unreached error) error {
	switch remote := c.Accounts != ""; {
	case unreached == nil && theirs.Remote && !remote:
		return errors.New("the source's accounts are on a server: name it with --accounts")
	case unreached == nil && !theirs.Remote && remote:
		return errors.New("the source's accounts are in a file, which is copied: leave --accounts out")
	case remote:
		return sqlstore.Bind(c.Data, c.Accounts)
	default:
		c.parts = append(c.parts, standby.CopyAccounts(c.peer, c.disk))
		return nil
	}
}

// run copies until ctx ends.
func (c *copying) run(ctx context.Context) error {
	c.hook()
	c.parts = append(c.parts, standby.CopySecrets(c.peer, c.disk))
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		c.running.Wait()
	}()
	line := &Line{Log: c.log, Follower: c.follower, Retrying: c.failing, Unprepared: c.failing}
	for _, part := range [...]func(context.Context) error{
		line.Follow, line.Prepare, c.stream, c.probe, c.compare, c.watchRoom, c.reachAccounts,
	} {
		c.spawn(func() error { return part(ctx) })
	}
	for _, part := range c.parts {
		c.spawn(func() error { return c.keep(ctx, part) })
	}
	if err := c.listenToOperators(ctx); err != nil {
		return err
	}

	c.o.Following()
	c.Log.Info("following", slog.String("source", c.o.Source), slog.Uint64("seq", uint64(c.log.Durable())))
	select {
	case err := <-c.failed:
		return err
	case <-ctx.Done():
	}
	cancel()
	c.running.Wait()
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := c.follower.Finish(ctx); err != nil {
		c.Log.Warn("history is behind; it catches up at the next start", slog.Any("error", err))
	}
	return nil
}

// failing logs an error after which the copy tries again.
func (c *copying) failing(err error) {
	if err != nil {
		c.Log.Error("something failed that is tried again", slog.Any("error", err))
	}
}

// watchRoom keeps room for snapshots.
func (c *copying) watchRoom(ctx context.Context) error { return every(ctx, time.Second, c.leaveRoom) }

// stream copies frames, from one connection after the other.
func (c *copying) stream(ctx context.Context) error {
	copier := &standby.Copier{
		Peer: c.peer, Log: c.copy, After: time.After, Full: c.failing,
		Opened: func() { c.connected.Store(true); c.note(nil) },
	}
	pause := firstAgain
	for {
		began := time.Now()
		err := c.agree(ctx)
		if err == nil {
			one, cut := context.WithCancel(ctx)
			c.cut.Store(&cut)
			err = copier.Stream(one)
			cut()
		}
		c.connected.Store(false)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a stop ends the stream
		}
		c.streams.Add(1)
		c.note(err)
		if standby.Final(err) {
			return fmt.Errorf("following %s: %w", c.o.Source, err)
		}

		if pause = min(2*pause, lastAgain); time.Since(began) > lastAgain {
			pause = firstAgain
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// errVoided ends a copy whose source has taken more commands out of effect.
var errVoided = errors.New("the source's operators took a command out of effect: start again")

// agree compares the copy with its source before a stream.
func (c *copying) agree(ctx context.Context) error {
	own := c.own()
	theirs, err := c.peer.Find(ctx, own.Source)
	if err != nil {
		return err
	}
	if theirs.Voids > own.Voids {
		c.fail(errVoided)
	}
	c.states.SetInterval(theirs.CompareEvery)
	return nil
}

// note keeps the last problem of the stream.
func (c *copying) note(err error) {
	c.problemMu.Lock()
	news := (c.problem == nil) != (err == nil)
	c.problem = err
	c.problemMu.Unlock()
	switch {
	case news && err != nil:
		c.Log.Warn("the stream of the source ended; trying again", slog.Any("error", err))
	case news:
		c.Log.Info("the stream of the source goes on")
	}
}

// probe asks how far the source is. A leader of a cluster that does not answer may have been replaced while its stream lives on: the
// stream ends, so that the next one is looked for at the other addresses.
func (c *copying) probe(ctx context.Context) error {
	return every(ctx, probeEvery, func() {
		sent := time.Now()
		theirs, err := c.peer.Hello(ctx)
		if err == nil {
			c.lag.Answered(sent, theirs.Seq, c.log.Durable())
			return
		}
		if cut := c.cut.Load(); cut != nil && c.peer.Several() {
			(*cut)()
		}
	})
}

// compare compares the states of copy and source.
func (c *copying) compare(ctx context.Context) error {
	var differs error
	err := every(ctx, statesEvery, func() {
		theirs, unreached := c.peer.States(ctx)
		if unreached != nil || differs != nil {
			return
		}

		var last bourse.Seq
		if last, differs = c.states.Compare(theirs); differs != nil {
			c.fail(errors.Join(differs, standby.Role{Follows: c.o.Source, Differs: differs.Error()}.Write(c.disk)))
			return
		}
		c.compared.Store(max(c.compared.Load(), uint64(last)))
	})
	return err
}

// keep keeps the copy of a part. A failure of the copy's own disk ends the process.
func (c *copying) keep(ctx context.Context, part *standby.Copied) error {
	return every(ctx, partsEvery, func() {
		err := part.Ask(ctx, time.Now(), c.log.Durable())
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, standby.ErrDisk):
			c.fail(err)
		default:
			c.Log.Debug("a part is not copied now", slog.Any("error", err))
		}
	})
}

// reachAccounts looks whether the server with the accounts is there.
func (c *copying) reachAccounts(ctx context.Context) error {
	if c.Accounts == "" {
		return nil
	}
	keep, err := accounts.OpenReader(ctx, c.Accounts)
	if err != nil {
		return fmt.Errorf("%s: %w", c.accountsPlace(), err)
	}
	err = every(ctx, time.Second, func() {
		asked := time.Now()
		if err := keep.Reach(ctx); err == nil {
			c.reached.Store(asked.UnixNano())
		}
	})
	return errors.Join(err, keep.Close())
}

// listenToOperators serves the status on the operators' socket, and metrics.
func (c *copying) listenToOperators(ctx context.Context) error {
	socket, err := admin.Listen(ctx, c.Data)
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	operators := &admin.Server{Options: admin.Options{Status: func() any { return c.status() }, Log: c.Log}}
	c.serveUntil(ctx, socket, operators.StatusHandler(func() string { return "This is a standby; it answers status alone" }))
	if c.o.MetricsListen == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.o.MetricsListen)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	c.serveUntil(ctx, l, c.gauges())
	c.Log.Info("serving metrics", slog.String("address", l.Addr().String()))
	return nil
}

// serveUntil serves a listener until ctx ends.
func (c *copying) serveUntil(ctx context.Context, l net.Listener, h http.Handler) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderWithin, WriteTimeout: writeWithin, MaxHeaderBytes: maxHeader,
		ErrorLog: c.serverLog(),
	}
	c.spawn(func() error { return served(server.Serve(l)) })
	context.AfterFunc(ctx, func() { _ = server.Close() })
}

// status tells of the copy.
func (c *copying) status() standby.Status {
	now, seq := time.Now(), c.log.Durable()
	asOf, source := c.lag.At(seq)
	c.problemMu.Lock()
	problem := c.problem
	c.problemMu.Unlock()
	own := c.own()
	s := standby.Status{
		Role: "standby", Exchange: own.Exchange, Sandbox: own.Sandbox, Incarnation: own.Incarnation, Source: c.peer.Address(),
		Connected: c.connected.Load(), Seq: seq, SourceSeq: source, HistoryLag: uint64(seq - min(seq, c.follower.Seq())),
		Compared: bourse.Seq(c.compared.Load()), Retries: c.streams.Load(),
	}
	s.AsOf, s.LagMS = since(asOf, now)
	if c.Accounts != "" {
		s.Accounts.AsOf, s.Accounts.LagMS = since(unixOrZero(c.reached.Load()), now)
	}
	for _, part := range c.parts {
		to := &s.Secrets
		if part.OfAccounts() {
			to = &s.Accounts
		}
		to.AsOf, to.LagMS = since(part.AsOf(), now)
	}
	if problem != nil {
		s.Problem = problem.Error()
	}
	return s
}

func unixOrZero(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// since returns a time as text, and the milliseconds since then; nil and -1 for the zero time.
func since(asOf, now time.Time) (text *string, ms int64) {
	if asOf.IsZero() {
		return nil, -1
	}
	return new(asOf.UTC().Format(time.RFC3339Nano)), now.Sub(asOf).Milliseconds()
}

// gauges returns the handler of metrics.
func (c *copying) gauges() http.Handler {
	registry := prometheus.NewRegistry()
	for _, g := range []struct {
		name, help string
		value      func(*standby.Status) float64
	}{
		{"bourse_standby_connected", "1 while frames of the source stream in.",
			func(s *standby.Status) float64 { return flag(s.Connected) }},
		{"bourse_standby_lag_seconds", "Time for which acknowledged commands may be missing; -1 if it is unknown.",
			func(s *standby.Status) float64 { return float64(s.LagMS) / 1e3 }},
		{"bourse_standby_lag_commands", "Commands of the source that are missing.",
			func(s *standby.Status) float64 { return float64(s.SourceSeq - min(s.SourceSeq, s.Seq)) }},
		{"bourse_standby_accounts_lag_seconds", "Time for which changes of accounts may be missing; -1 if it is unknown.",
			func(s *standby.Status) float64 { return float64(s.Accounts.LagMS) / 1e3 }},
		{"bourse_standby_secrets_lag_seconds", "Time for which changes of secrets may be missing; -1 if it is unknown.",
			func(s *standby.Status) float64 { return float64(s.Secrets.LagMS) / 1e3 }},
		{"bourse_history_lag_commands", "Commands whose rows are not in the history store yet.",
			func(s *standby.Status) float64 { return float64(s.HistoryLag) }},
		{"bourse_standby_compared_seq", "Last command after which the states were compared.",
			func(s *standby.Status) float64 { return float64(s.Compared) }},
		{"bourse_standby_retries_total", "Streams that ended.",
			func(s *standby.Status) float64 { return float64(s.Retries) }},
		{"bourse_incarnation", "Incarnation of the exchange.",
			func(s *standby.Status) float64 { return float64(s.Incarnation) }},
	} {
		registry.MustRegister(gauge(g.name, g.help, func() float64 {
			s := c.status()
			return g.value(&s)
		}))
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	configured, _, _ := net.SplitHostPort(c.o.MetricsListen)
	return edge.KnownHost(configured, mux)
}
