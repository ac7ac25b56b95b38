package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	sqlhistory "github.com/bourse-exchange/bourse/internal/sqlstore/history"
)

// ErrDeposed ends a node that led and leads no more. What it holds in memory may be old: its process
// starts anew, as a replica.
var ErrDeposed = errors.New("another node leads the exchange now")

// ErrAllEnd is the cause of a context that ends because all nodes of a cluster do: none hands over.
var ErrAllEnd = errors.New("all nodes end")

// answerWithin bounds the time for which a deposed leader waits for the outcomes of commands in flight, and then
// the time for which it answers requests.
const answerWithin = time.Second

// MemberOptions configure a node of a cluster.
type MemberOptions struct {
	// Options are those of the exchange while this node leads it.
	Options
	// Turned is called when the node serves in a role, with the role's name.
	Turned func(role string)
	// Others has the journals of the other nodes; nil to read them over the node ports.
	Others cluster.Others
}

// RunMember runs a node of a cluster until ctx ends: a replica first, then, once it is elected, the
// exchange. After ErrDeposed, as after any other error, the process must end at once.
func RunMember(ctx context.Context, o MemberOptions) (err error) {
	o.defaults()
	d, err := disk.Open(o.Data)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	config, err := cluster.LoadConfig(d)
	if err != nil {
		return fmt.Errorf("%s is no node's: %w", o.Data, err)
	}
	if err := o.checkMember(ctx, config, d); err != nil {
		return err
	}
	o.Gate = &forward.Gate{Refuse: o.notServed}
	parts := &cluster.Parts{
		Data: o.Data, Disk: d, Clock: time.Now, After: time.After, Log: o.Log, Others: o.Others,
		Standing: func() any { return o.standingOf(o.Member) },
	}
	if !config.Sandbox {
		parts.Secrets = func() ([]cluster.Secret, error) { return Secrets(d) }
	}
	member, err := cluster.Open(ctx, parts, config, journal.Options{SegmentSize: o.SegmentSize})
	if err != nil {
		return err
	}
	o.Member = member

	ticks := time.NewTicker(cluster.TickEvery)
	defer ticks.Stop()
	stop := background(context.WithoutCancel(ctx), func(ctx context.Context) { member.Run(ctx, ticks.C) })
	defer stop()
	endRequests := o.takeRequests(ctx)
	defer func() { endRequests(err) }()
	o.Term, err = follow(ctx, &o, d)
	if o.Term == 0 || err != nil {
		return errors.Join(err, member.Log.Close())
	}

	o.OpenLog = func(disk.Disk, journal.Options) (journal.Log, *journal.Recovery, error) {
		r, err := member.Recovery()
		return member.Log, r, err
	}
	o.Serving = func(string, string) { o.Turned("leader") }
	err = Run(ctx, o.Options)
	if err != nil && !errors.Is(err, ErrDeposed) && (replaced(err) || !member.Log.Status().Open) {
		o.Log.Warn("another node leads the exchange now: this one starts anew as a replica", slog.Any("error", err))
		return ErrDeposed // a start may have failed at commands of the new leader, a write at its fence
	}
	return err
}

// replaced reports whether the log or a fence says that a node of a higher term leads.
func replaced(err error) bool {
	return errors.Is(err, ErrDeposed) || errors.Is(err, accounts.ErrDeposed) || errors.Is(err, signer.ErrEpoch)
}

// replica is a node that does not lead. It has the parts of a Node that need no live engine.
type replica struct {
	*Node
	turned func(role string)
	// forwarder sends requests to the leader.
	forwarder *forward.Forwarder
	// reads answers public reads; encoder compresses its answers.
	reads   *reads
	encoder *coding.Encoder
	// had is the history's last command when the node began.
	had bourse.Seq
	// others serves the requests that the node does not answer itself.
	others http.Handler
	// ownStreams serves streams that the node has itself.
	ownStreams http.Handler
}

// follow runs the node as a replica until it leads, or ctx ends. It returns the term in which the node
// leads; zero if it does not.
func follow(ctx context.Context, o *MemberOptions, d *disk.Dir) (term uint64, err error) {
	r := &replica{turned: o.Turned, Node: &Node{Options: o.Options, disk: d, log: o.Member.Log, failed: make(chan error, 1)}}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx); err != nil {
		return 0, err
	}
	return r.run(ctx)
}

// open opens the certificate, the voids, the snapshots and the history.
func (r *replica) open(ctx context.Context) (err error) {
	if r.certificate, err = certificate.Open(r.Certificate, r.Data, r.Log); err != nil {
		return err
	}
	if r.identity, err = r.Member.Config().Identity(); err != nil {
		return err
	}
	r.files, r.snapshots = journal.NewFiles(r.disk, r.identity), r.openSnapshots(r.identity)
	if r.voids, err = journal.LoadVoids(r.disk, r.identity); err != nil {
		return fmt.Errorf("voided commands: %w", err)
	}
	if r.store, err = sqlhistory.Open(ctx, r.at("", HistoryDB)); err != nil {
		return fmt.Errorf("%s: %w", r.historyPlace(), err)
	}
	r.closers = append(r.closers, r.store)
	r.tail = history.NewTail(r.TailRows)

	// The history may be ahead of what this node knows to be committed.
	cursor, err := r.store.Cursor(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", r.historyPlace(), err)
	}
	r.had = cursor.Seq
	cursor.Seq = min(cursor.Seq, r.log.Durable())
	r.openReads()
	return r.openFollower(ctx, cursor, func() bourse.Seq { return r.followable(cursor.Seq) })
}

// run serves as a replica, and returns the term in which the node leads then.
func (r *replica) run(ctx context.Context) (term uint64, err error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		cancel()
		r.running.Wait()
	}()
	line := &Line{Log: r.log, Follower: r.follower, Retrying: r.failing, Unprepared: r.failing}
	servers, err := r.listen(ctx)
	if err != nil {
		return 0, err
	}
	for _, part := range [...]func(context.Context) error{
		line.Follow, line.Prepare, r.reload, r.readBehind, r.keepUp, r.deliver, r.sweep, r.beat, r.tendStreams,
	} {
		r.spawn(func() error { return part(own) })
	}
	r.turned("replica")
	r.Log.Info("serving as a replica", slog.Uint64("node", cluster.Number(r.Member.Config().Node)), slog.String("address", r.Listen))

	term, err = r.await(ctx)
	left := r.leave(context.WithoutCancel(ctx), servers)
	cancel()
	r.running.Wait()
	if err != nil {
		return 0, err
	}
	if term == 0 {
		<-left
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer stop()
	if err := r.follower.Finish(end); err != nil {
		r.Log.Warn("history is behind; it catches up later", slog.Any("error", err))
	}
	if term != 0 {
		r.closeBehind(left)
	}
	return term, nil
}

// closeBehind closes the replica's stores once the last answers have left. A takeover does not wait for their clients.
func (r *replica) closeBehind(left <-chan struct{}) {
	open := &Node{closers: r.closers}
	r.closers = nil
	go func() {
		<-left
		r.failing(open.close())
	}()
}

// await takes notices until this node leads, or ctx ends, and returns the term in which it leads. Commits are read from the
// journal, by the view and by the follower.
func (r *replica) await(ctx context.Context) (term uint64, err error) {
	for {
		for n, ok := r.log.Next(); ok; n, ok = r.log.Next() {
			if n.Kind == journal.Role && n.Leads {
				r.Log.Info("this node leads", slog.Uint64("node", cluster.Number(r.Member.Config().Node)), slog.Uint64("term", n.Term))
				return n.Term, nil
			}
			r.reads.committed()
		}
		select {
		case <-ctx.Done():
			return 0, nil
		case err := <-r.failed:
			return 0, err
		case err := <-r.Member.Failed():
			return 0, err
		case <-r.log.Ready():
		}
	}
}

// reload reads the certificate again on request.
func (r *replica) reload(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.Reload:
			r.certificate.Reload()
		}
	}
}

// failing logs the failure of a part that tries again.
func (r *replica) failing(err error) {
	if err != nil {
		r.Log.Error("something failed that is tried again", slog.Any("error", err))
	}
}

// listen serves clients, whose requests go to the leader, and the status for operators.
func (r *replica) listen(ctx context.Context) ([]*http.Server, error) {
	r.proxies = &edge.Proxies{Trusted: r.TrustedProxies, Clock: time.Now, Log: r.Log}
	r.limits = api.NewLimiter(r.Limits, time.Now)
	r.forwarder = forward.New(forward.Options{
		Leader: r.leader, From: r.proxies.From, Refuse: r.notServed, Clock: time.Now, Log: r.Log,
	})
	r.openStreams()
	// Of a stream that is forwarded, one is to the client, one to the leader.
	files := func() int { return r.streams.Len() + 2*r.forwarder.Streams() }
	admitted, err := edge.NewAdmission(r.Limits.Connections, r.proxies.Trusts, files, r.Log)
	if err != nil {
		return nil, err
	}
	r.others = withRoom(admitted.Room, r.notServed, r.forOthers)
	r.ownStreams = withRoom(admitted.Room, r.notServed, r.openStream)
	r.reads.bound, r.reads.elsewhere = r.forwarder.Bound, r.others
	public, err := r.Node.listen(ctx, r.Listen)
	if err != nil {
		return nil, err
	}
	socket, err := admin.Listen(ctx, r.Data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("admin socket: %w", err), public.Close())
	}

	var watched net.Listener
	if r.MetricsListen != "" {
		if watched, err = new(net.ListenConfig).Listen(ctx, "tcp", r.MetricsListen); err != nil {
			return nil, errors.Join(fmt.Errorf("metrics: %w", err), public.Close(), socket.Close())
		}
	}

	clients := r.serverOf(http.HandlerFunc(r.forClients), admitted.State)
	operators := r.serverOf(
		(&admin.Server{Options: admin.Options{Status: func() any { return r.standing() }, Log: r.Log}}).StatusHandler(r.forOperators), nil)
	r.spawn(func() error { return served(clients.Serve(public)) })
	r.spawn(func() error { return served(operators.Serve(socket)) })
	if r.MetricsListen == "" {
		return []*http.Server{clients, operators}, nil
	}
	return []*http.Server{clients, operators, r.serveMetrics(watched, r.registry())}, nil
}

// forOperators says where a verb is to go that the node does not answer.
func (r *replica) forOperators() string {
	if leader := r.Member.Leader(); leader != nil {
		return fmt.Sprintf("This node is a replica, which answers status alone, and nothing was done; give the command the data directory of "+
			"node %d, which leads", cluster.Number(leader.Node))
	}
	return "No node leads the exchange now, and nothing was done; give the command again in a moment"
}

// standing returns the replica's status for operators.
func (r *replica) standing() any {
	return struct {
		Role    string          `json:"role"`
		Version string          `json:"version"`
		Seq     bourse.Seq      `json:"seq"`
		Cluster *cluster.Status `json:"cluster"`
		Reads   readsStatus     `json:"reads"`
	}{"replica", r.Version, r.log.Durable(), r.place(), r.reads.status()}
}

// place returns the node's place in its cluster; nil for an exchange on one node.
func (n *Node) place() *cluster.Status {
	if n.Member == nil {
		return nil
	}
	return new(n.Member.Status())
}

// members lets operators change the cluster.
type members struct{ *cluster.Node }

// Admit lets a node without data in.
func (m members) Admit(ctx context.Context, n admin.Newcomer) (any, error) {
	return m.Node.Admit(ctx, cluster.Newcomer(n))
}

// Token makes a token with which a node joins.
func (m members) Token() (any, error) { return m.Node.Token() }

// Upgrade lets the journal have what all nodes know.
func (m members) Upgrade(ctx context.Context) (any, error) { return m.Node.Upgrade(ctx) }

// admits refuses commands that may not be in the journal before all nodes know them.
func (n *Node) admits(kind bourse.CommandKind, rules uint32) error {
	if n.Member == nil || n.Member.Config().Allowed().Covers(cluster.Versions{Records: kind, Rules: rules}) {
		return nil
	}
	return bourse.Errorf(bourse.CodeUnavailable,
		"The exchange is being upgraded and does not take this yet: an operator ends that by `bourse cluster upgrade` once all nodes run the new program")
}

// handOver lets another node lead before this one ends, unless all end.
func (n *Node) handOver(ctx context.Context, why error) {
	if n.Member == nil || errors.Is(why, ErrAllEnd) {
		return
	}
	if err := n.Member.HandOver(ctx); err != nil {
		n.Log.Warn("this node ends without another one that leads; the others elect one", slog.Any("error", err))
	}
}

// answerLast lets a deposed leader answer the requests in flight until ctx ends. It acknowledges nothing then: commands
// and changes of accounts are refused, and reads are not confirmed by a majority. An exchange on one node has nobody to
// ask, and must not call it.
func answerLast(ctx context.Context, servers []stoppable) {
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { _ = s.Shutdown(ctx) }) // requests that are open when ctx ends get no answer
	}
	all.Wait()
}

// diskLookEvery is the time between two looks whether the journal's disk answers.
const diskLookEvery = 100 * time.Millisecond

// watchDisk refuses commands and ends the streams of a leader whose disk hangs. The others elect another leader
// meanwhile: clients would wait for an outcome that this one learns once its disk goes on, and streams would be silent
// although the exchange trades.
func (n *Node) watchDisk(ctx context.Context) error {
	if n.Member == nil {
		return nil
	}
	return every(ctx, diskLookEvery, func() {
		stalled, why := n.Member.Log.Stalled(), error(nil)
		if n.hangs.Swap(stalled) == stalled {
			return
		}
		if stalled {
			why = errHangs
			n.streams.Suspend("the disk of this node does not answer, another node leads soon")
		} else {
			n.streams.Resume()
		}
		n.refuse(sequencer.Orders, diskHangs, why)
		n.refuse(sequencer.Cancels, diskHangs, why)
	})
}

// watchLead ends the process once another node leads. Queued commands are refused as not taken;
// commands in flight are answered if their outcome is known within answerWithin.
func (n *Node) watchLead(ctx context.Context) error {
	if n.Member == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-n.Member.Failed():
		return err
	case <-n.Member.Log.Deposed():
	}

	n.ready.Store(false)
	n.Log.Warn("another node leads the exchange now: this one starts anew as a replica")
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := n.settle(ctx); err != nil {
		n.Log.Warn("the process ends before all commands in flight have outcomes; their clients get no answer",
			slog.Any("error", err))
	}
	return ErrDeposed
}
