package cluster

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// ConfigFile is the file of a node's configuration in its data directory.
const ConfigFile = "cluster.json"

// The other files of a node in its data directory.
const (
	certFile = "cluster.crt"
	keyFile  = "cluster.key"
)

// Config is a node's knowledge of its cluster, in a file of its data directory.
type Config struct {
	// Exchange is the exchange's id in hexadecimal digits.
	Exchange string `json:"exchange"`
	Sandbox  bool   `json:"sandbox"`
	// Epoch rises with each recovery. Nodes of different epochs do not speak to each other.
	Epoch uint32   `json:"epoch"`
	Node  uint64   `json:"node"`
	Nodes []Member `json:"nodes"`
	// Changed is the index of the newest change of Nodes; zero for the first nodes.
	Changed uint64 `json:"changed,omitempty"`
	// Lives is the highest life that a node of the cluster ever had.
	Lives uint64 `json:"lives,omitempty"`
	// Versions may be in the log. They are zero in the file of a node that was made by a program which did not write them.
	Versions Versions `json:"versions,omitzero"`
	// Recovering, if not nil, is a recovery that was begun and not ended: the node does not start.
	Recovering *Recovering `json:"recovering,omitempty"`
}

// Member is a node as the others know it.
type Member struct {
	// Node is the node's id: its number, and its life above that.
	Node uint64 `json:"node"`
	// Address is the node port, Listen the address of clients; Pin names the node's key.
	Address string `json:"address"`
	Listen  string `json:"listen"`
	Pin     string `json:"pin"`
	// Since is the index of the change that the member came with; zero for the first nodes.
	Since uint64 `json:"since,omitempty"`
	// Replaces is the id of the node whose vote the member gets once it has caught up; zero for none.
	Replaces uint64 `json:"replaces,omitempty"`
}

// lifeShift is the bit at which the life begins in a node's id.
const lifeShift = 32

// Number returns the number of a node, which people use. A node that comes back with an empty disk keeps
// its number and gets another id.
func Number(node uint64) uint64 { return node & (1<<lifeShift - 1) }

// succeeds reports whether a member takes the place of another one, given by its id: of an earlier life of its number,
// or of the node that it replaces. Lives of that node's number that come later are other nodes.
func (m *Member) succeeds(id uint64) bool {
	return id < m.Node && Number(id) == Number(m.Node) || id <= m.Replaces && Number(id) == Number(m.Replaces)
}

// lives returns the highest life that a node of the cluster ever had.
func (c *Config) lives() uint64 {
	highest := c.Lives
	for i := range c.Nodes {
		highest = max(highest, c.Nodes[i].Node>>lifeShift)
	}
	return highest
}

// Identity returns the identity of the journal.
func (c *Config) Identity() (journal.Identity, error) {
	id := journal.Identity{Sandbox: c.Sandbox}
	b, err := hex.DecodeString(c.Exchange)
	if err != nil || len(b) != len(id.Exchange) {
		return id, fmt.Errorf("%s: %q is no exchange's id", ConfigFile, c.Exchange)
	}
	copy(id.Exchange[:], b)
	return id, nil
}

// Member returns a node of the cluster; nil if it has none of that id.
func (c *Config) Member(node uint64) *Member {
	for i := range c.Nodes {
		if c.Nodes[i].Node == node {
			return &c.Nodes[i]
		}
	}
	return nil
}

// Newer reports whether a configuration is newer than another one of the same exchange.
func (c *Config) Newer(than *Config) bool {
	return c.Epoch > than.Epoch || c.Epoch == than.Epoch && c.Changed > than.Changed
}

// Newest returns the newest life of a number; nil if the cluster has none.
func (c *Config) Newest(number uint64) (newest *Member) {
	for i := range c.Nodes {
		m := &c.Nodes[i]
		if Number(m.Node) == number && (newest == nil || m.Node > newest.Node) {
			newest = m
		}
	}
	return newest
}

// Numbers returns the numbers of the nodes, ascending.
func (c *Config) Numbers() (list []uint64) {
	for i := range c.Nodes {
		list = append(list, Number(c.Nodes[i].Node))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Adopt takes over the members of another node's configuration that has applied a later change of them, and makes
// them durable. It is for a node that was away while members were replaced: it may know the keys of too few others to
// learn of the change from the log.
func (c *Config) Adopt(d disk.Disk, other *Config) error {
	if other.Epoch != c.Epoch || other.Changed <= c.Changed || other.Member(c.Node) == nil {
		return nil
	}
	c.Nodes, c.Changed, c.Lives = other.Nodes, other.Changed, max(c.lives(), other.lives())
	c.Versions = c.Versions.or(other.Versions)
	return c.Save(d)
}

// Save makes the configuration durable.
func (c *Config) Save(d disk.Disk) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return write(d, ConfigFile, append(text, '\n'))
}

// LoadConfig reads a node's configuration; fs.ErrNotExist if the directory is no node's.
func LoadConfig(d disk.Disk) (*Config, error) {
	text, err := disk.ReadFile(d, ConfigFile)
	if err != nil {
		return nil, err
	}
	c := new(Config)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	if c.Member(c.Node) == nil {
		return nil, fmt.Errorf("%s: node %d is not one of its nodes", ConfigFile, c.Node)
	}
	return c, nil
}

// Found makes the nodes of a new cluster in empty data directories, one for each of c.Nodes, and gives
// each a key. The last file that it writes in each is the configuration, without which a directory is
// no node's; after a crash it can be called again. It is an error once a node has taken part in an
// election: a node whose directory was lost may have acknowledged commands that a new one would lack.
func Found(c Config, dirs []disk.Disk, now time.Time, segment int64) error {
	id, err := c.Identity()
	if err != nil {
		return err
	}
	if len(dirs) != len(c.Nodes) {
		return errors.New("each node has a directory of its own")
	}
	for i, d := range dirs {
		if err := unused(d, id); err != nil {
			return fmt.Errorf("node %d: %w", c.Nodes[i].Node, err)
		}
	}

	c.Versions = Known()
	first := raftlog.Cluster{Identity: id, SegmentSize: segment}
	for i := range c.Nodes {
		m := &c.Nodes[i]
		first.Nodes = append(first.Nodes, m.Node)
		cert, key, pin, err := pinned.Certify(now)
		if err != nil {
			return err
		}
		m.Pin = pin
		if err := errors.Join(write(dirs[i], certFile, cert), write(dirs[i], keyFile, key)); err != nil {
			return err
		}
	}

	for i, d := range dirs {
		c.Node = c.Nodes[i].Node
		if _, made, err := journal.Identify(d); err != nil {
			return err
		} else if !made {
			if err := raftlog.Init(d, &first, c.Node); err != nil {
				return fmt.Errorf("node %d: %w", c.Node, err)
			}
		}
		if err := c.Save(d); err != nil {
			return err
		}
	}
	return nil
}

// Continue makes the first node of a cluster of the exchange of a single node, in its data directory: c.Nodes has that node
// alone. As with Found, the configuration comes last, and after a crash Continue can be called again.
func Continue(c Config, d disk.Disk, now time.Time, segment int64) error {
	id, err := c.Identity()
	if err != nil {
		return err
	}
	c.Versions, c.Node = Known(), c.Nodes[0].Node
	cert, key, pin, err := pinned.Certify(now)
	if err != nil {
		return err
	}
	c.Nodes[0].Pin = pin
	if err := errors.Join(write(d, certFile, cert), write(d, keyFile, key)); err != nil {
		return err
	}
	if err := raftlog.Continue(d, id, c.Node, segment); err != nil {
		return err
	}
	return c.Save(d)
}

// ErrUsed means that a node has run, and that a missing one must join the cluster under a new id.
var ErrUsed = errors.New("it has run, and a node whose directory is missing joins it anew")

// unused returns ErrUsed if a node of a directory has taken part in an election.
func unused(d disk.Disk, id journal.Identity) error {
	if _, made, err := journal.Identify(d); err != nil || !made {
		return err
	}
	v, err := journal.LoadVoter(d, id)
	if err == nil && v.Term > raftlog.FirstTerm {
		err = ErrUsed
	}
	return err
}

func write(d disk.Disk, name string, text []byte) error {
	return disk.Replace(d, name, name+".tmp", text)
}

// options returns the options of the node's transport.
func (c *Config) options(data string) (Options, error) {
	id, err := c.Identity()
	o := Options{
		Identity: id, Epoch: c.Epoch, Node: c.Node,
		Cert: filepath.Join(data, certFile), Key: filepath.Join(data, keyFile),
	}
	o.Peers = c.peers()
	return o, err
}

// peers returns the other nodes.
func (c *Config) peers() (list []Peer) {
	for _, m := range c.Nodes {
		if m.Node != c.Node {
			list = append(list, Peer{Node: m.Node, Address: m.Address, Pin: m.Pin})
		}
	}
	return list
}
