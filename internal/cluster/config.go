package cluster

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// The files of a node in its data directory.
const (
	configFile = "cluster.json"
	certFile   = "cluster.crt"
	keyFile    = "cluster.key"
)

// Config is a node's knowledge of its cluster, in a file of its data directory.
type Config struct {
	// Exchange is the exchange's id in hexadecimal digits.
	Exchange string   `json:"exchange"`
	Sandbox  bool     `json:"sandbox"`
	Epoch    uint32   `json:"epoch"`
	Node     uint64   `json:"node"`
	Nodes    []Member `json:"nodes"`
}

// Member is a node as the others know it.
type Member struct {
	Node uint64 `json:"node"`
	// Address is the node port, Listen the address of clients; Pin names the node's key.
	Address string `json:"address"`
	Listen  string `json:"listen"`
	Pin     string `json:"pin"`
}

// Identity returns the identity of the journal.
func (c *Config) Identity() (journal.Identity, error) {
	id := journal.Identity{Sandbox: c.Sandbox}
	b, err := hex.DecodeString(c.Exchange)
	if err != nil || len(b) != len(id.Exchange) {
		return id, fmt.Errorf("%s: %q is no exchange's id", configFile, c.Exchange)
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

// LoadConfig reads a node's configuration; fs.ErrNotExist if the directory is no node's.
func LoadConfig(d disk.Disk) (*Config, error) {
	text, err := disk.ReadFile(d, configFile)
	if err != nil {
		return nil, err
	}
	c := new(Config)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	if c.Member(c.Node) == nil {
		return nil, fmt.Errorf("%s: node %d is not one of its nodes", configFile, c.Node)
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
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := write(d, configFile, append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

var errUsed = errors.New("it has run, and another node's directory is not there: bring that back, or begin in another place")

// unused returns errUsed if a node of a directory has taken part in an election.
func unused(d disk.Disk, id journal.Identity) error {
	if _, made, err := journal.Identify(d); err != nil || !made {
		return err
	}
	v, err := journal.LoadVoter(d, id)
	if err == nil && v.Term > raftlog.FirstTerm {
		err = errUsed
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
	for _, m := range c.Nodes {
		if m.Node != c.Node {
			o.Peers = append(o.Peers, Peer{Node: m.Node, Address: m.Address, Pin: m.Pin})
		}
	}
	return o, err
}
