package sim

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"runtime/debug"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

const (
	// size is the number of nodes of a simulated cluster.
	size = 3
	// places is the number of nodes that run at once: those of the cluster, and one that comes or goes.
	places = size + 1
)

// micros is simulated time in microseconds.
type micros uint64

const (
	milliseconds micros = 1000
	seconds             = 1000 * milliseconds
	// tick is the time between two ticks of raft.
	tick = 20 * milliseconds
)

// cluster is the simulated world of three nodes: their disks, the network between them, the
// clients, and the truth.
type cluster struct {
	chance *chance
	shape  clusterShape
	trail  *trail
	counts *ClusterCounts
	truth  *agreed

	now   micros
	nodes [size]*member
	// parting is the node whose place in nodes a newcomer has taken: it is a member until it has left, and runs on for a
	// while. It is nil if there is none.
	parting *member
	wire    links
	// identity and segment are those of every node's journal.
	identity journal.Identity
	segment  int64
	// calm is true once the faults have ended.
	calm bool
	// lost is the disk that was lost last, or the node that comes, until that votes; nil for none. losses is true while a
	// loss waits until the others can bear it: no other fault begins then. lives is the number of lives beyond the first.
	lost   *loss
	losses bool
	lives  uint64
	// starts is the number of starts of all nodes.
	starts uint64
	// raisedBehind is the number of starts before the newer version was asked for last.
	raisedBehind uint64
	// heir is the node that a leader handed over to last.
	heir heir
	// readChance draws reads and lags, which are one in that many rounds; zero is never.
	readChance *chance
	lags       uint64
	// proposed are the batches that clients have sent, by tag minus one.
	proposed []*sent
}

// clusterShape is drawn once per seed. Rates are mean numbers of rounds between two faults;
// zero is never.
type clusterShape struct {
	rounds uint64
	// round bounds the time of a round, flight the usual time of a message.
	round, flight micros
	// lost and twice are percentages of messages.
	lost, twice uint64
	// traffic is the percentage of rounds in which a client sends a batch, burst the most
	// commands in it.
	traffic, burst uint64
	// together bounds the batches that clients send in one round.
	together uint64

	powerCut, kill, inside, failure, stop uint64
	pause, hang, crawl                    uint64
	oneWay, apart, clock                  uint64
	decayed, rot                          uint64 // one in that many starts
	members, transfer, recovery, loss     uint64
	upgrade                               uint64
	// slow is the node that takes one step a round and applies one entry a step; zero is none.
	slow uint64
}

func drawClusterShape(c *chance, rounds int) clusterShape {
	s := clusterShape{
		rounds: uint64(rounds),
		round:  pick(c, milliseconds, 3*milliseconds, 8*milliseconds),
		flight: pick(c, milliseconds/4, milliseconds, 10*milliseconds),
		lost:   pick[uint64](c, 0, 0, 1, 10),
		twice:  pick[uint64](c, 0, 1, 10),

		traffic:  pick[uint64](c, 5, 20, 60),
		burst:    pick[uint64](c, 1, 4, 12),
		together: pick[uint64](c, 1, 2, 4),
		decayed:  4,
		rot:      pick[uint64](c, 2, 6),
	}
	rate := func(most uint64) uint64 {
		if c.percent(30) {
			return 0
		}
		return max(20, s.rounds/c.between(1, most))
	}
	s.powerCut, s.kill, s.inside, s.failure, s.stop = rate(10), rate(6), rate(20), rate(10), rate(4)
	s.pause, s.hang, s.oneWay, s.apart, s.clock = rate(10), rate(20), rate(15), rate(15), rate(8)
	s.members, s.slow = pick(c, rate(30), rate(30), 10), c.Below(size+1)
	s.transfer, s.recovery = rate(20), rate(6)
	s.loss, s.upgrade, s.crawl = rate(12), pick[uint64](c, 0, 5, 50), rate(10)
	return s
}

// RunCluster runs a seed of a cluster twice and compares the runs. Commands are the rounds
// with faults. It replaces crypto/rand.Reader meanwhile, from which raft draws its timeouts,
// so that nothing else may use it.
func RunCluster(o Options) (*ClusterReport, error) {
	first, err := runClusterOnce(o)
	if err != nil {
		return nil, err
	}
	second, err := runClusterOnce(o)
	if err != nil {
		return nil, err
	}
	if first.Hash != second.Hash {
		return nil, &SeedError{Options: o, Cause: errTwoRuns}
	}
	return first, nil
}

// ClusterReport is the result of a simulation of a cluster.
type ClusterReport struct {
	// Commands is the number of committed commands, Acked the number of batches that were
	// acknowledged, Simulated the simulated time in microseconds.
	Commands, Acked, Simulated uint64
	// Hash covers everything observed.
	Hash   [32]byte
	Counts ClusterCounts
}

func runClusterOnce(o Options) (_ *ClusterReport, err error) {
	before := rand.Reader
	rand.Reader = &drawn{newChance(o.Seed, 9)}
	defer func() { rand.Reader = before }()

	w := newCluster(o)
	defer func() {
		if r := recover(); r != nil {
			err = &SeedError{Options: o, Cause: causeOf(r), Trail: w.trail.last(), Stack: debug.Stack()}
		}
	}()
	w.begin()
	for range w.shape.rounds {
		w.round()
	}
	w.settle()
	return &ClusterReport{
		Commands: uint64(w.truth.last()), Acked: w.truth.acked, Simulated: uint64(w.now),
		Hash: w.trail.sum(), Counts: *w.counts,
	}, nil
}

// drawn is a source of random bytes that a seed determines.
type drawn struct{ *chance }

func (d *drawn) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(d.Below(256))
	}
	return len(b), nil
}

var _ io.Reader = (*drawn)(nil)

func newCluster(o Options) *cluster {
	c := newChance(o.Seed, 1)
	w := &cluster{
		chance: c, shape: drawClusterShape(c, o.Commands), trail: newTrail(), counts: new(ClusterCounts),
		identity: journal.Identity{Exchange: [16]byte{7}, Sandbox: true},
		segment:  int64(c.between(10, 40)) * journal.Block,
	}
	binary.LittleEndian.PutUint64(w.identity.Exchange[8:], o.Seed)
	w.readChance = newChance(o.Seed, 4)
	w.lags = pick[uint64](w.readChance, 0, 50, 200)
	pair := enginetest.NewPair()
	w.truth = &agreed{
		pair: pair, workload: enginetest.NewWorkload(newChance(o.Seed, 2), pair.Oracle), leaders: map[uint64]uint64{},
		voters: map[uint64][]uint64{},
	}
	for i := range w.nodes {
		w.nodes[i] = &member{world: w, id: uint64(i + 1), disk: memdisk.New(o.Seed*size + uint64(i))}
	}
	return w
}

// begin makes the three journals and starts the nodes.
func (w *cluster) begin() {
	c := raftlog.Cluster{Identity: w.identity, Nodes: []uint64{1, 2, 3}, SegmentSize: w.segment}
	for _, n := range w.nodes {
		want(raftlog.Init(n.disk, &c, n.id), "making a journal")
		n.start()
	}
}

// round is a stretch of simulated time: messages arrive, each node works, clients send, and
// faults happen.
func (w *cluster) round() {
	w.now += micros(w.chance.between(1, uint64(w.shape.round)))
	changing := false
	if !w.calm && !w.losses {
		w.misfortune()
		changing = w.changing()
		w.transferring()
		w.upgrading()
		w.recovering()
	}
	if !w.calm {
		w.losing(changing)
	}
	w.seating()
	w.part()
	w.wire.deliver(w)

	first := w.chance.Below(size)
	for i := range w.nodes {
		w.nodes[(first+uint64(i))%size].work()
	}
	if w.parting != nil {
		w.parting.work()
	}
	w.readers()
	if w.chance.percent(w.shape.traffic) {
		w.send()
	}
}

// patience bounds the simulated time until a cluster without faults has agreed.
const patience = 30 * seconds

// settle ends the faults, and makes every node a voter. Then every node must come to the same state,
// and the cluster must take commands.
func (w *cluster) settle() {
	w.calm = true
	w.wire.heal()
	for _, n := range w.running() {
		n.recover()
	}

	last := uint64(0)
	for end := w.now + patience; ; {
		w.round()
		switch gathered := w.gather(); {
		case !gathered:
			last = 0 // also if a change that was asked for before the calm is committed only now
		case last == 0:
			w.shape.traffic = 0
			last = w.sendLast()
		}
		if last > 0 && w.proposed[last-1].state != flying && w.proposed[last-1].state != acked {
			last = 0 // the leader changed once more
		}
		if last > 0 && w.settled(last) {
			break
		}
		if w.now > end {
			fail("after %d s without faults the nodes have not agreed: %s", patience/seconds, w.describe())
		}
	}

	want := w.truth.pair.Engine.StateHash()
	for _, n := range w.nodes {
		if n.engine.StateHash() != want {
			fail("node %d has another state at command %d", n.id, n.engine.Seq())
		}
		n.verify()
	}
}

// settled reports whether the last batch is acknowledged and every node has applied all.
func (w *cluster) settled(last uint64) bool {
	for _, n := range w.nodes {
		if n.log == nil || n.engine.Seq() != w.truth.last() {
			return false
		}
	}
	return w.proposed[last-1].state == acked
}

// running returns the nodes whose processes are there, or come back.
func (w *cluster) running() []*member {
	if w.parting == nil {
		return w.nodes[:]
	}
	return append(slices.Clone(w.nodes[:]), w.parting)
}

// leader returns a node that takes proposals, nil if there is none.
func (w *cluster) leader() *member {
	for _, n := range w.running() {
		if n.awake() && n.log.Status().Open {
			return n
		}
	}
	return nil
}

// commandTime is a node's clock.
func (n *member) commandTime() bourse.Time {
	return 1_700_000_000*bourse.Second + bourse.Time(n.world.now) + n.clock
}
