package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// machine describes a new machine to a cluster.
type machine struct {
	Listen  string `help:"Address of its clients." placeholder:"HOST:PORT"`
	Address string `help:"Address of its node port, which the other nodes dial; port 0 takes a free one. A sandbox's node takes 127.0.0.1 without it." placeholder:"HOST:PORT"`
}

// resolve replaces port 0 of the node port by a free one. It refuses a node port that other machines would look for on themselves.
func (m *machine) resolve() error {
	if _, _, err := net.SplitHostPort(m.Listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	host, port, err := net.SplitHostPort(m.Address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	if ip, bad := netip.ParseAddr(host); host == "" || bad == nil && ip.Unmap().IsUnspecified() {
		return fmt.Errorf("--address: %q names no machine: name the address at which the other nodes reach this one", m.Address)
	}
	if port != anyPort {
		return nil
	}
	l, err := listenAt(host, port)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	m.Address = l.Addr().String()
	return l.Close()
}

// clusterJoin adds a node to a cluster: that of this machine, with a token of the leader, or one of a sandbox.
type clusterJoin struct {
	Leader string `arg:"" optional:"" help:"Node port of the leader, HOST:PORT. With a token, on the new machine."`
	Dir    string `arg:"" optional:"" type:"path" help:"Data directory of the new node; empty or missing."`

	Token    string  `help:"Token that bourse cluster token printed; it lets one node join." placeholder:"TOKEN"`
	Data     place   `help:"Data directory of a sandbox's node, in place of leader and token. The new node's is beside it." placeholder:"DIR"`
	Node     uint64  `help:"Number of the new node, 1 to 7. A node that has lost its data joins again under its number." required:"" placeholder:"N"`
	Replaces uint64  `help:"Number of the node that the new one replaces, with a token." placeholder:"N"`
	Running  bool    `help:"Replace a node whose process still answers; end it afterwards."`
	Machine  machine `embed:""`
}

// joined is the answer to cluster join.
type joined struct {
	Joined uint64 `json:"joined"`
	// Nodes are the numbers of all nodes.
	Nodes   []uint64 `json:"nodes"`
	Listen  string   `json:"listen"`
	Address string   `json:"address"`
	// Start is the command that starts the node.
	Start string `json:"start"`
}

// Run lets the leader admit the node, and makes its data directory.
func (c *clusterJoin) Run(p *program) error {
	switch {
	case c.Leader != "" && c.Dir != "" && c.Token != "":
		return c.arrive(p)
	case c.Leader != "" || c.Token != "" || c.Data == "":
		return errors.New("a new machine joins by `bourse cluster join LEADER DIR --token TOKEN`, a node of a sandbox by --data")
	case c.Replaces != 0 || c.Running:
		return errors.New("a node of a sandbox takes the place of another one by `bourse cluster replace`")
	}
	leader, err := p.leaderOfSandbox(c.Data)
	if err != nil {
		return err
	}
	now, err := p.join(c.Data, leader, cluster.Newcomer{Number: c.Node}, c.Machine)
	if err != nil {
		return err
	}
	return p.print(now)
}

// leaderOfSandbox returns the leader of a sandbox's nodes, whose directories are side by side.
func (p *program) leaderOfSandbox(data place) (*standing, error) {
	m, err := p.membersOf(data)
	if err != nil {
		return nil, err
	}
	if !m.config.Sandbox {
		return nil, errors.New("the nodes are on machines of their own: `bourse cluster token` on the leader's prints the command for the new " +
			"one, which takes the place of another node with --replaces")
	}
	return m.leader()
}

// checkNumber refuses a number that no node has.
func checkNumber(node uint64) error {
	if node == 0 || node > mostNodes {
		return fmt.Errorf("nodes have the numbers 1 to %d", mostNodes)
	}
	return nil
}

// join lets the leader admit a node of a new machine, and makes its data directory. The node has no vote before it has
// caught up.
func (p *program) join(data place, leader *standing, n cluster.Newcomer, m machine) (*joined, error) {
	if err := checkNumber(n.Number); err != nil {
		return nil, err
	}
	m.Address = cmp.Or(m.Address, "127.0.0.1:"+anyPort)
	if err := m.resolve(); err != nil {
		return nil, err
	}
	dir := data.beside(n.Number)
	if err := vacant(dir); err != nil {
		return nil, err
	}

	made, cert, key, err := cluster.Prepare(n.Number, time.Now())
	if err != nil {
		return nil, err
	}
	n.Pin, n.Records, n.Rules, n.Listen, n.Address = made.Pin, made.Records, made.Rules, m.Listen, m.Address
	r := &returning{program: p, data: filepath.Dir(dir), number: n.Number}
	a, err := r.askAt(data.beside(leader.Node), &n)
	if err != nil {
		return nil, err
	}
	d, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.settle(d, a, cert, key), d.Close()); err != nil {
		return nil, fmt.Errorf("node %d is a member, and is made when it starts: %s: %w", n.Number, r.start(), err)
	}
	return &joined{Joined: n.Number, Nodes: a.Config.Numbers(), Listen: m.Listen, Address: m.Address, Start: r.start()}, nil
}

// start returns the command that starts the node.
func (r *returning) start() string {
	return r.line("dev", "--node", fmt.Sprint(r.number), "--data", r.data)
}

// vacant refuses a directory that has files.
func vacant(dir string) error {
	switch files, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(files) > 0:
		return fmt.Errorf("%s is not empty: a node that was there before does not come back as a new one. Move its files away", dir)
	default:
		return nil
	}
}

// clusterReplace puts a new node in the place of another one.
type clusterReplace struct {
	Data    place   `help:"Data directory of a node that stays." required:""`
	Node    uint64  `help:"Number of the node to replace." required:"" placeholder:"N"`
	With    uint64  `help:"Number of the new node, up to 7; its data directory is beside the others." required:"" placeholder:"N"`
	Running bool    `help:"Replace a node whose process still answers; end it afterwards."`
	Machine machine `embed:""`
}

// replaced is the answer to cluster replace.
type replaced struct {
	Replaced uint64 `json:"replaced"`
	By       uint64 `json:"by"`
	// Nodes are the numbers of all nodes.
	Nodes []uint64 `json:"nodes"`
}

// Run lets the new node join, unless an earlier call has, and waits until it votes in the place of the old one. The
// leader sees to that, also if this process ends.
func (c *clusterReplace) Run(p *program) error {
	if filepath.Clean(string(c.Data)) == c.Data.beside(c.Node) {
		return fmt.Errorf("--data takes the directory of a node that stays, not that of node %d", c.Node)
	}
	leader, err := p.leaderOfSandbox(c.Data)
	if err != nil {
		return err
	}
	if leader.Node == c.Node && c.Running {
		if _, err := p.transfer(c.Data, 0); err != nil {
			return err
		}
		if leader, err = p.leaderOf(c.Data); err != nil {
			return err
		}
	}
	config, err := readConfig(c.Data.beside(leader.Node))
	if err != nil {
		return err
	}

	newcomer := &returning{program: p, data: filepath.Dir(c.Data.beside(c.With)), number: c.With}
	if joined, err := c.hasJoined(config); err != nil {
		return err
	} else if !joined {
		n := cluster.Newcomer{Number: c.With, Replaces: c.Node, Running: c.Running}
		if _, err := p.join(c.Data, leader, n, c.Machine); err != nil {
			return err
		}
	}

	nodes, err := c.done(newcomer)
	if err != nil {
		return err
	}
	return p.print(replaced{c.Node, c.With, nodes})
}

// hasJoined reports whether an earlier call has let the new node join. A member that replaces another node, as one of the
// old node's number that was replaced before, is an error.
func (c *clusterReplace) hasJoined(config *cluster.Config) (bool, error) {
	m, old := config.Newest(c.With), config.Newest(c.Node)
	switch {
	case m == nil:
		return false, nil
	case cluster.Number(m.Replaces) != c.Node || old != nil && old.Node > m.Replaces:
		return true, fmt.Errorf("node %d is a member, and does not replace node %d, which can go by `bourse cluster leave`", c.With, c.Node)
	default:
		return true, nil
	}
}

// done waits until a majority knows that the old node is no member any more, and returns the numbers of all nodes. It says
// why it waits.
func (c *clusterReplace) done(newcomer *returning) ([]uint64, error) {
	p, said := newcomer.program, ""
	for {
		m, err := p.membersOf(c.Data)
		if err != nil {
			return nil, err
		}
		leader, err := m.leader()
		if err == nil {
			config, err := readConfig(c.Data.beside(leader.Node))
			switch {
			case err != nil:
				return nil, err
			case config.Newest(c.With) == nil:
				return nil, fmt.Errorf("node %d has left before it voted, and node %d stays", c.With, c.Node)
			case m.knowGone(c.Node, config.Numbers()):
				return config.Numbers(), nil
			}
		}

		if why := newcomer.needs(leader, p.stateOf(newcomer.dir())); why != said {
			said = why
			_, _ = fmt.Fprintf(p.stderr, "bourse: %s\n", why)
		}
		if err := p.pause(); err != nil {
			return nil, err
		}
	}
}

// needs returns what keeps a node that has joined from its vote, by its own state and that of the leader. Both are nil
// for nodes that do not answer. Progress is told in tens of percent.
func (r *returning) needs(leader, own *standing) string {
	switch {
	case own == nil:
		return fmt.Sprintf("node %d has joined, and does not run; start it: %s", r.number, r.start())
	case leader == nil:
		return fmt.Sprintf("node %d waits for a leader; `bourse cluster status` shows the nodes", r.number)
	case own.Applied < leader.Commit:
		return fmt.Sprintf("node %d catches up, and has %d %% of the journal", r.number, own.Applied*10/leader.Commit*10)
	default:
		return fmt.Sprintf("node %d has caught up, and waits for its vote", r.number)
	}
}
