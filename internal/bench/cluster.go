package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ClusterReport is the result of `bench cluster`: orders to a sandbox of three nodes, and to one of one node.
// All are processes of this machine, and share its processors and its disk.
type ClusterReport struct {
	Connections int `json:"connections"`
	// Rate is the rate at which three nodes acknowledge orders with all connections, per second.
	Rate float64 `json:"rate"`
	// OneRate is the same rate of one node.
	OneRate float64 `json:"one_rate"`
	// P50 is the median time from an order to its acknowledgement by three nodes, with one connection.
	P50 float64 `json:"p50_us"`
	// OneP50 is the same time of one node.
	OneP50 float64 `json:"one_p50_us"`
	// ReplicaP50 is the same time of three nodes whose leader gets the order from a replica.
	ReplicaP50 float64 `json:"replica_p50_us"`
	// OneReads is the rate at which one node answers reads of a book with all connections, per second. Reads1 to Reads3 are the
	// rates of three nodes of which so many are asked, the leader among them.
	OneReads float64 `json:"one_reads"`
	Reads1   float64 `json:"reads_1"`
	Reads2   float64 `json:"reads_2"`
	Reads3   float64 `json:"reads_3"`
	// ReadsBeside is the rate of the two nodes that do not lead, of which alone reads are asked.
	ReadsBeside float64 `json:"reads_beside"`
	// LeaderRead is the leader's CPU time for a read that it is asked, LeaderBeside for one that another node is asked.
	LeaderRead   float64 `json:"leader_read_us"`
	LeaderBeside float64 `json:"leader_beside_us"`
	// StreamLeader is the rate of messages of a book to clusterFollowers clients of the leader's stream, StreamBeside that to clients of
	// another node's. LeaderFollower and LeaderFollowerBeside are the leader's CPU time for each message, with a part of the orders'.
	StreamLeader         float64 `json:"stream_leader"`
	StreamBeside         float64 `json:"stream_beside"`
	LeaderFollower       float64 `json:"leader_follower_us"`
	LeaderFollowerBeside float64 `json:"leader_follower_beside_us"`
	// LagRate is the scheduled rate of orders while a replica's lag is read, Reached the acknowledged one, per second.
	LagRate float64 `json:"lag_rate"`
	Reached float64 `json:"reached"`
	// LagP50, LagP99 and LagMost are the median, the 99th percentile and the highest of the lags that were read.
	LagP50  float64 `json:"lag_p50_ms"`
	LagP99  float64 `json:"lag_p99_ms"`
	LagMost float64 `json:"lag_most_ms"`
}

// ClusterPlan is the load of a measurement, each part of which lasts For.
type ClusterPlan struct {
	Connections int
	// Rate is that of the orders while the lag is read, a second.
	Rate int
	For  time.Duration
}

// clusterFollowers is the number of clients that follow a book, and clusterPlacers that of the clients whose orders make its
// messages.
const (
	clusterFollowers = 400
	clusterPlacers   = 8
)

// clusterNodes is the number of nodes that are measured.
const clusterNodes = 3

// Cluster measures sandboxes in directories below dir, one after the other.
func Cluster(ctx context.Context, dir string, plan ClusterPlan) (_ *ClusterReport, err error) {
	r := &ClusterReport{Connections: plan.Connections, LagRate: float64(plan.Rate)}
	if err := r.one(ctx, dir, plan); err != nil {
		return nil, err
	}

	c, err := startCluster(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	if r.Rate, r.P50, err = c.leader.acknowledge(ctx, plan); err != nil {
		return nil, err
	}
	if err := r.anyNode(ctx, c, plan); err != nil {
		return nil, err
	}
	clients, err := c.leader.dialAll(loadConnections, loadBatch)
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	reached, lags, err := keepRate(clients, plan.Rate, plan.For, func() (int64, error) { return nodeLag(ctx, c.replica) })
	if err != nil {
		return nil, err
	}
	r.Reached = reached
	r.LagP50, r.LagP99, r.LagMost = spread(lags)
	return r, nil
}

// one measures a sandbox of one node.
func (r *ClusterReport) one(ctx context.Context, dir string, plan ClusterPlan) (err error) {
	x, err := launch(ctx, dir, sandboxWords...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	if r.OneRate, r.OneP50, err = x.acknowledge(ctx, plan); err != nil {
		return err
	}
	r.OneReads, _, err = x.reads([]string{x.Address}, plan)
	return err
}

// anyNode measures what nodes answer that do not lead.
func (r *ClusterReport) anyNode(ctx context.Context, c *nodes, plan ClusterPlan) error {
	replica := c.leader.Target
	replica.Address = c.addresses[1]
	single, err := replica.loaded(ctx, RESTPlan{Connections: 1, Batch: 1, For: plan.For})
	if err != nil {
		return err
	}
	r.ReplicaP50 = single.P50
	var mixed float64
	for _, m := range []struct {
		nodes     []string
		rate, cpu *float64
	}{
		{c.addresses[:1], &r.Reads1, &r.LeaderRead}, {c.addresses[:2], &r.Reads2, &mixed}, {c.addresses, &r.Reads3, &mixed},
		{c.addresses[1:], &r.ReadsBeside, &r.LeaderBeside},
	} {
		if *m.rate, *m.cpu, err = c.leader.reads(m.nodes, plan); err != nil {
			return err
		}
	}
	if r.StreamLeader, r.LeaderFollower, err = c.leader.followed(c.addresses[0], plan); err != nil {
		return err
	}
	r.StreamBeside, r.LeaderFollowerBeside, err = c.leader.followed(c.addresses[1], plan)
	return err
}

// followed measures the rate of messages of a book to clients of a node, and the leader's CPU time for each in microseconds.
func (x *exchange) followed(node string, plan ClusterPlan) (rate, cpu float64, err error) {
	placers, err := x.dialAll(clusterPlacers, 1)
	if err != nil {
		return 0, 0, err
	}
	defer closeAll(placers)
	a := newAudience()
	defer a.leave()
	if err := errors.Join(a.join(&Target{Address: node}, clusterFollowers), a.subscribe()); err != nil {
		return 0, 0, err
	}
	if err := a.round(placers, clusterFollowers); err != nil { // warm up
		return 0, 0, err
	}

	before, err := cpuOf(x.PID)
	if err != nil {
		return 0, 0, err
	}
	began, sent := time.Now(), 0
	for time.Since(began) < plan.For {
		if err := a.round(placers, clusterFollowers); err != nil {
			return 0, 0, err
		}
		sent += clusterPlacers * clusterFollowers
	}
	rate = float64(sent) / time.Since(began).Seconds()
	after, err := cpuOf(x.PID)
	return rate, micros(after-before) / float64(sent), err
}

// reads measures the rate of reads of a book, of which each connection asks one of the nodes, and the leader's CPU time for
// each in microseconds.
func (x *exchange) reads(nodes []string, plan ClusterPlan) (rate, cpu float64, err error) {
	var clients []*client
	defer func() { closeAll(clients) }()
	for i := range plan.Connections {
		c, err := (&Target{Address: nodes[i%len(nodes)]}).dial(i, 1)
		if err != nil {
			return 0, 0, err
		}
		read := []byte("GET /spot/orderbook?pair=BTC/USDT&depth=20 HTTP/1.1\r\nHost: bench\r\n\r\n")
		c.requests = [2][]byte{read, read}
		clients = append(clients, c)
	}
	if _, err := load(clients, plan.For/10); err != nil { // warm up
		return 0, 0, err
	}
	before, err := cpuOf(x.PID)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	took, err := load(clients, plan.For)
	if err != nil {
		return 0, 0, err
	}
	rate = float64(len(took)) / time.Since(began).Seconds()
	after, err := cpuOf(x.PID)
	return rate, micros(after-before) / float64(len(took)), err
}

// sandboxWords start a sandbox without anything that trades by itself.
var sandboxWords = []string{"dev", "--listen", "127.0.0.1:0", "--bots=false", "--block-time=0"}

// acknowledge measures the rate of orders with all connections, and the time to an acknowledgement with one.
func (x *exchange) acknowledge(ctx context.Context, plan ClusterPlan) (rate, p50 float64, err error) {
	if err := x.open(ctx, min(plan.Connections, mostCustomers)); err != nil {
		return 0, 0, err
	}
	many, err := x.loaded(ctx, RESTPlan{Connections: plan.Connections, Batch: 1, For: plan.For})
	if err != nil {
		return 0, 0, err
	}
	single, err := x.loaded(ctx, RESTPlan{Connections: 1, Batch: 1, For: plan.For})
	if err != nil {
		return 0, 0, err
	}
	return many.Rate, single.P50, nil
}

// nodes are the processes of a sandbox's cluster.
type nodes struct {
	process *exec.Cmd
	data    string
	leader  *exchange
	// addresses are those of all nodes, the leader's first.
	addresses []string
	// replica is the directory of a node that does not lead.
	replica string
}

// nodeLine is the line that a sandbox of several nodes prints for each.
type nodeLine struct {
	Node   uint64 `json:"node"`
	PID    int    `json:"pid"`
	Listen string `json:"listen"`
	Role   string `json:"role"`
}

// startCluster starts a sandbox of several nodes in a temporary directory below dir.
func startCluster(ctx context.Context, dir string) (*nodes, error) {
	words := append(slices.Clip(sandboxWords), "--nodes", strconv.Itoa(clusterNodes), "--data")
	process, data, out, err := begin(ctx, dir, (*exec.Cmd).StdoutPipe, words...)
	if err != nil {
		return nil, err
	}
	c := &nodes{data: data, process: process}
	if err := c.serving(out); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// serving reads the line of each node.
func (c *nodes) serving(out io.Reader) error {
	text := bufio.NewScanner(out)
	for range clusterNodes {
		var l nodeLine
		if !text.Scan() {
			return fmt.Errorf("the nodes do not serve: %w", errors.Join(text.Err(), io.ErrUnexpectedEOF))
		}
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			return fmt.Errorf("%w: %s", err, text.Bytes())
		}
		of := filepath.Join(c.data, strconv.FormatUint(l.Node, 10))
		if l.Role != "leader" {
			c.replica, c.addresses = of, append(c.addresses, l.Listen)
			continue
		}
		c.addresses = slices.Insert(c.addresses, 0, l.Listen)
		c.leader = &exchange{Target: Target{Address: l.Listen, PID: l.PID, data: of}}
	}
	if c.leader == nil {
		return errors.New("no node leads")
	}
	return nil
}

// stop ends the processes and removes their files. The parent ends its nodes before itself.
func (c *nodes) stop() error {
	_ = c.process.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = c.process.Wait()                          // an error tells how it ended
	return os.RemoveAll(c.data)
}

// nodeLag returns the lag that a node shows in milliseconds, -1 if it is unknown.
func nodeLag(ctx context.Context, data string) (int64, error) {
	var status struct {
		Cluster struct {
			Lag int64 `json:"lag_ms"`
		} `json:"cluster"`
	}
	return status.Cluster.Lag, operate(ctx, data, "status", nil, &status)
}
